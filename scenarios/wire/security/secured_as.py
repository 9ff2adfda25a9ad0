"""The listeners beside PLAINTEXT as the world knows them, and as a recording has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from brokers.broker_config import BrokerConfig
from scenarios.wire.apis.base import Address
from scenarios.wire.security.accounts import Accounts, LoginPolicy
from scenarios.wire.security.listener_options import PROTOCOLS
from scenarios.wire.versions import is_at_least

FAILS_LATER, ENDS = "2.1", "2.2"
"""The releases since which a login that fails is answered late (KIP-306), and one that succeeds can end (KIP-368)."""


@frozen(kw_only=True)
class SecuredAs:
    """The listeners.

    Attributes:
        addresses: the address of each broker that clients are given, by the listeners' security protocols.
        listens: the address at which each broker listens.
        accounts: who may log in; None: no listener asks for a login.
    """

    addresses: Mapping[str, Mapping[int, Address]] = field(factory=dict)
    listens: Mapping[str, Mapping[int, Address]] = field(factory=dict)
    accounts: Accounts | None = None

    @property
    def stated(self) -> dict[str, str]:
        """The settings of brokers that follow from it."""
        return {} if self.accounts is None else {"sasl.enabled.mechanisms": ",".join(self.accounts.mechanisms)}

    def logins(self, config: BrokerConfig, release: str) -> LoginPolicy | None:
        """How clients log in at brokers of a release with these settings; None: they need not."""
        if self.accounts is None:
            return None
        return LoginPolicy(
            accounts=self.accounts,
            scram={user: dict(keys) for user, keys in (self.accounts.credentials or {}).items()},
            failure_delay_us=config.failed_authentication_delay_us if is_at_least(release, FAILS_LATER) else 0,
            session_us=config.connections_max_reauth_us if is_at_least(release, ENDS) else 0,
        )

    def to_table(self) -> dict[str, Any]:
        """The table for run.toml."""
        listeners = [
            {"protocol": protocol, "brokers": _rows(self.addresses[protocol]), "listens": _rows(self.listens[protocol])}
            for protocol in self.addresses
        ]
        accounts = {} if self.accounts is None else {"accounts": self.accounts.to_table()}
        return {"listeners": listeners, **accounts}

    @classmethod
    def from_table(cls, table: Mapping[str, Any]) -> SecuredAs:
        """The value of such a table. Raises: KeyError, TypeError, ValueError where it is not one."""
        addresses, listens = {}, {}
        for each in table["listeners"]:
            if each["protocol"] not in PROTOCOLS:
                raise ValueError(f"no security protocol is called {each['protocol']!r}")
            addresses[each["protocol"]], listens[each["protocol"]] = _read(each["brokers"]), _read(each["listens"])
        accounts = Accounts.from_table(table["accounts"]) if "accounts" in table else None
        return cls(addresses=addresses, listens=listens, accounts=accounts)


def _rows(addresses: Mapping[int, Address]) -> list[dict[str, Any]]:
    return [{"id": broker, "host": host, "port": port} for broker, (host, port) in addresses.items()]


def _read(rows: Any) -> dict[int, Address]:
    found = {row["id"]: (row["host"], row["port"]) for row in rows}
    for broker, (host, port) in found.items():
        if not (type(broker) is int and isinstance(host, str) and type(port) is int and 0 < port < 1 << 16):
            raise TypeError("a broker has a number, a host and a port")
    return found
