"""A client's socket with TLS. The world sees the connection once the handshake is complete, and frames as without TLS.

Python's ``ssl`` works on bytes in memory here, as it does inside Trio's SSLStream: the sockets of a served cluster are
read without a task for each (``scenarios.wire.gateway.readiness``).
"""

from __future__ import annotations

import ssl
from contextlib import suppress
from typing import TYPE_CHECKING

from attrs import define, field

from scenarios.wire.gateway.sockets import RECEIVE, SocketConnection

if TYPE_CHECKING:
    from scenarios.wire.gateway.secured_listener import SecuredListener

_PLAIN_BYTES = ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "HTTPS_PROXY_REQUEST", "UNEXPECTED_MESSAGE", "BAD_RECORD_TYPE")
"""OpenSSL's reasons where a client sends other bytes than TLS's."""


@define(eq=False)
class TlsConnection(SocketConnection):
    """One client's socket.

    Attributes:
        listener: the listener that has accepted it.
        context: the certificates, and whether the client has to show one.
    """

    listener: SecuredListener = field(kw_only=True)
    context: ssl.SSLContext = field(kw_only=True)
    _incoming: ssl.MemoryBIO = field(factory=ssl.MemoryBIO, init=False)
    _outgoing: ssl.MemoryBIO = field(factory=ssl.MemoryBIO, init=False)
    _tls: ssl.SSLObject = field(init=False)
    _is_shaken: bool = field(default=False, init=False)

    def __attrs_post_init__(self) -> None:
        self._tls = self.context.wrap_bio(self._incoming, self._outgoing, server_side=True)
        self._watch()

    # -- for the world ------------------------------------------------------------------------------------------------

    def announce(self, frame: bytes) -> None:
        if self.ended:
            return
        rest = memoryview(len(frame).to_bytes(4, "big") + frame)
        with suppress(ssl.SSLError):  # the client has ended TLS, which reading shows
            while rest:
                rest = rest[self._tls.write(rest) :]
        self._flush()

    def end(self, *, reset: bool) -> None:
        if not self.ended and not reset:
            with suppress(ssl.SSLError):  # it would wait for the client's answer
                self._tls.unwrap()
            self._flush()
        super().end(reset=reset)

    # -- outside ------------------------------------------------------------------------------------------------------

    def give_up(self) -> None:
        if not self._is_shaken:
            self.ended = True  # the world has never known it
            self.listener.shaken(self)
        super().give_up()

    def _read_more(self) -> bool:
        received = self.sockets.received
        count = self.plain.recv_into(received)
        if not count:
            return False
        self._incoming.write(received[:count])
        try:
            goes_on = self._is_shaken or self._shake()
            return goes_on and (not self._is_shaken or self._decrypt())
        except ssl.SSLError as error:
            self.sockets.log(f"{self}: {self._what_fails(error)}; closed")
            return False
        finally:
            self._flush()

    def _shake(self) -> bool:
        """Go on with the handshake. Raises: SSLError."""
        try:
            self._tls.do_handshake()
        except ssl.SSLWantReadError:
            return True
        self._is_shaken = True
        self.listener.shaken(self)
        shown, principal = self._tls.getpeercert(), ""
        if shown:
            from scenarios.wire.security.certificates import principal_of

            principal = principal_of(shown)
        self.sockets.accepted(self, self.listener.protocol, principal)
        return True

    def _decrypt(self) -> bool:
        """Read what can be decrypted. False: the client has ended TLS. Raises: SSLError."""
        before = len(self._read)
        with suppress(ssl.SSLWantReadError):
            while data := self._tls.read(RECEIVE):
                self._read += data
            return len(self._read) > before
        return True

    def _flush(self) -> None:
        """Send what TLS has to send: answers, and its own messages."""
        data = self._outgoing.read()
        if not data or self.plain.fileno() == -1:
            return
        sent = 0
        if not self.unsent:
            try:
                sent = self.plain.send(data)
            except BlockingIOError:
                pass
            except OSError:
                return  # the client has gone, which reading shows
        if sent < len(data):
            self.unsent += memoryview(data)[sent:]
            self._watch()

    def _what_fails(self, error: ssl.SSLError) -> str:
        if self._is_shaken:
            return f"TLS is broken ({error.reason})"
        if error.reason in _PLAIN_BYTES:
            return f"this is not TLS, which security.protocol={self.listener.protocol} has"
        return f"no TLS handshake ({error.reason})"
