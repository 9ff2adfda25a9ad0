"""A listener of every broker beside PLAINTEXT, outside the world."""

from __future__ import annotations

import socket
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from attrs import define, field

from scenarios.wire.apis.base import Address
from scenarios.wire.gateway.sockets import KAFKA, SASL, SocketConnection, Sockets
from scenarios.wire.security.listener_options import WITH_SASL

if TYPE_CHECKING:
    from ssl import SSLContext

    from scenarios.wire.gateway.tls_connection import TlsConnection

HANDSHAKE_S = 30.0
"""The longest time for TLS's handshake. A connection that takes longer is closed when the next client comes."""


@define(eq=False)
class SecuredListener:
    """One listener.

    Attributes:
        protocol: its security protocol, which is its name, too.
        wanted: the port of each broker that is asked for; 0: any free one.
        tls: the context of its connections; None: they are without TLS.
        ports, listens: the port, and the whole address, at which each broker listens; ``addresses``: the address that
            clients are given.
    """

    protocol: str
    wanted: Mapping[int, int]
    tls: SSLContext | None = None
    ports: dict[int, int] = field(factory=dict)
    addresses: dict[int, Address] = field(factory=dict)
    listens: dict[int, Address] = field(factory=dict)
    _shaking: dict[TlsConnection, float] = field(factory=dict)
    """The connections whose handshake is not complete, and when each began, oldest first."""

    def accept(
        self, sockets: Sockets, broker: int, number: int, client: socket.socket, address: str
    ) -> SocketConnection:
        """A connection for a client that was accepted."""
        protocol = SASL if self.protocol in WITH_SASL else KAFKA
        if self.tls is None:
            connection = SocketConnection(sockets, protocol, broker, number, client, address)
            sockets.accepted(connection, self.protocol)
            return connection
        from scenarios.wire.gateway.tls_connection import TlsConnection

        shaking = TlsConnection(sockets, protocol, broker, number, client, address, listener=self, context=self.tls)
        self._shaking[shaking] = time.monotonic()
        return shaking

    def shaken(self, connection: TlsConnection) -> None:
        """Take note that a handshake has ended."""
        self._shaking.pop(connection, None)

    def give_up_late(self) -> None:
        """Close the connections whose handshake takes too long."""
        late = time.monotonic() - HANDSHAKE_S
        for connection in [each for each, began in self._shaking.items() if began < late]:
            connection.sockets.log(f"{connection}: no TLS handshake in {HANDSHAKE_S:g} s; closed")
            connection.give_up()
