"""The listeners of a served cluster beside PLAINTEXT, with their sockets, certificates and users."""

from __future__ import annotations

import secrets
import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path

from attrs import define, field

from scenarios.wire.gateway.secured_listener import SecuredListener
from scenarios.wire.security.accounts import Accounts
from scenarios.wire.security.listener_options import WITH_TLS, SecurityOptions
from scenarios.wire.security.secured_as import SecuredAs

SECRET_BYTES = 32


@define(eq=False)
class SecuritySetup:
    """The setup of one cluster, from its creation until ``close``.

    Attributes:
        brokers: their ids.
        hosts: the names and addresses by which clients reach the brokers.
        listeners: the listeners, whose ports are not chosen yet.
        certificates: the folder of the certificates; None: no listener has TLS.
        accounts: who may log in; None: no listener asks for a login.

    Raises: BadInput where the certificates cannot be used.
    """

    options: SecurityOptions
    brokers: Sequence[int]
    hosts: Sequence[str]
    listeners: tuple[SecuredListener, ...] = field(init=False)
    certificates: Path | None = field(init=False, default=None)
    accounts: Accounts | None = field(init=False, default=None)
    _is_temporary: bool = field(init=False, default=False)

    def __attrs_post_init__(self) -> None:
        options, tls = self.options, None
        if options.has_tls:
            from scenarios.wire.security.certificates import certified, hosts_of

            self._is_temporary = options.tls is None
            self.certificates = options.tls or Path(tempfile.mkdtemp(prefix="understudy-tls-"))
            try:
                tls = certified(self.certificates, hosts_of(*self.hosts), options.client_auth)
            except BaseException:
                self.close()
                raise
        if options.has_sasl:
            # The only random bytes that get into the world; a recording has them.
            self.accounts = Accounts.of(options.users, secrets.token_bytes(SECRET_BYTES))
        self.listeners = tuple(
            SecuredListener(
                protocol, dict(zip(self.brokers, ports, strict=True)), tls if protocol in WITH_TLS else None
            )
            for protocol, ports in options.ports(len(self.brokers)).items()
        )

    @property
    def served_as(self) -> SecuredAs:
        """The listeners as the world knows them, once their ports are chosen."""
        return SecuredAs(
            addresses={each.protocol: dict(each.addresses) for each in self.listeners},
            listens={each.protocol: dict(each.listens) for each in self.listeners},
            accounts=self.accounts,
        )

    def close(self) -> None:
        """Remove what was made for this cluster alone."""
        if self._is_temporary and self.certificates is not None:
            shutil.rmtree(self.certificates, ignore_errors=True)
