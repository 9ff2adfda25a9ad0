"""The options of security: the listeners of a served cluster beside PLAINTEXT, their certificates and users."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from attrs import frozen

from scenarios.errors import BadInput, did_you_mean
from scenarios.reading import parse_toml, read_text
from scenarios.wire.listener_addresses import ports_of, read_ports

LISTENER, USERS, TLS, CLIENT_AUTH = "--listener", "--users", "--tls", "--tls-client-auth"
WITH_TLS, WITH_SASL = ("SSL", "SASL_SSL"), ("SASL_PLAINTEXT", "SASL_SSL")
PROTOCOLS = ("SSL", "SASL_PLAINTEXT", "SASL_SSL")
"""The security protocols of Kafka's listeners beside PLAINTEXT. A listener has the name of its protocol."""
ANY = "any"
"""The users where everyone may log in."""
CLIENT_AUTHS = ("none", "requested", "required")
"""The values of Kafka's ssl.client.auth."""
MOST_USERS = 1000
"""The most users: the keys of each take milliseconds to derive."""
MOST_LETTERS = 255
"""The most letters of a name or a password (RFC 4616)."""

Users = Mapping[str, str]
"""Passwords by the names of users."""


@frozen
class ListenerOption:
    """One listener.

    Attributes:
        protocol: one of ``PROTOCOLS``.
        ports: the port of the first broker, after which the others have theirs in the order of their ids, or a port for
            each; None: any free ports.
    """

    protocol: str
    ports: int | tuple[int, ...] | None = None


@frozen(kw_only=True)
class SecurityOptions:
    """The listeners, and what they need.

    Attributes:
        listeners: at least one.
        tls: the folder of the certificates, which are made there if it is new or empty; None: they are made in a folder
            that ends with the cluster.
        client_auth: whether clients show a certificate of that folder's authority.
        users: who may log in; None: everyone, by PLAIN.
    """

    listeners: tuple[ListenerOption, ...]
    tls: Path | None = None
    client_auth: str = CLIENT_AUTHS[0]
    users: Users | None = None

    @property
    def has_tls(self) -> bool:
        return any(each.protocol in WITH_TLS for each in self.listeners)

    @property
    def has_sasl(self) -> bool:
        return any(each.protocol in WITH_SASL for each in self.listeners)

    def ports(self, brokers: int) -> dict[str, tuple[int, ...]]:
        """The port of each broker at each listener, 0 for any free one. Raises: BadInput."""
        return {each.protocol: ports_of(each.ports, brokers, LISTENER) for each in self.listeners}


def options_of(
    listeners: Sequence[str], users: str | Path | Users | None, tls: str | Path | None, client_auth: str | None
) -> SecurityOptions | None:
    """The options of the command line and of the fixture ``kafka``; None: no other listener is asked for.

    Args:
        listeners: each as ``SASL_SSL``, ``SASL_SSL:9192`` or ``SASL_SSL:9192,9292,9392``.
        users: a TOML file with ``NAME = "PASSWORD"`` in each line, ``any``, or the passwords themselves.

    Raises: BadInput.
    """
    found = tuple(map(_listener, listeners))
    protocols = [each.protocol for each in found]
    for place, protocol in enumerate(protocols):
        if protocol in protocols[:place]:
            raise BadInput(f"{protocol} is there twice; a broker has one listener of each protocol", where=LISTENER)
    for where, given, of, such_as in (
        (USERS, users, WITH_SASL, "SASL_SSL"), (TLS, tls, WITH_TLS, "SSL"), (CLIENT_AUTH, client_auth, WITH_TLS, "SSL")
    ):  # fmt: skip
        if given is not None and not any(protocol in of for protocol in protocols):
            raise BadInput(f"no listener uses it; add {LISTENER} {such_as}", where=where)
    if not found:
        return None
    if users is None and any(protocol in WITH_SASL for protocol in protocols):
        what = 'nobody may log in; write --users FILE with lines such as alice = "secret", or --users any'
        raise BadInput(what, where=LISTENER)
    if client_auth is not None and client_auth not in CLIENT_AUTHS:
        raise BadInput(f"unknown value {client_auth!r}; {did_you_mean(client_auth, CLIENT_AUTHS)}", where=CLIENT_AUTH)
    return SecurityOptions(
        listeners=found, tls=None if tls is None else Path(tls), client_auth=client_auth or CLIENT_AUTHS[0],
        users=_users(users),
    )  # fmt: skip


def _listener(text: str) -> ListenerOption:
    protocol, colon, ports = text.strip().partition(":")
    if protocol == "PLAINTEXT":
        raise BadInput("every broker has PLAINTEXT; its port is that of --port", where=LISTENER)
    if protocol not in PROTOCOLS:
        raise BadInput(
            f"no security protocol is called {protocol!r}; {did_you_mean(protocol, PROTOCOLS)}", where=LISTENER
        )
    return ListenerOption(protocol, read_ports(ports, LISTENER) if colon else None)


def _users(given: str | Path | Users | None) -> Users | None:
    if given is None or given == ANY:
        return None
    if isinstance(given, Mapping):
        return checked_users(given)
    path = Path(given)
    try:
        return checked_users(parse_toml(read_text(path, 'a file with lines such as alice = "secret"')))
    except BadInput as error:
        raise BadInput(error.what, where=error.where or USERS, source=str(path)) from None
    except ValueError as error:  # TOML's own errors
        raise BadInput(f'is no TOML ({error}); write lines such as alice = "secret"', source=str(path)) from None


def checked_users(table: Mapping[str, object]) -> Users:
    """Names and passwords that can be told to a broker. Raises: BadInput."""
    if not table:
        raise BadInput('there are no users; write lines such as alice = "secret"', where=USERS)
    if len(table) > MOST_USERS:
        raise BadInput(f"{len(table)} users; write at most {MOST_USERS}", where=USERS)
    users: dict[str, str] = {}
    for name, password in table.items():
        if not isinstance(password, str):
            raise BadInput(f'{name!r} has no password; write {name} = "secret"', where=USERS)
        for what, text in (("name", name), ("password", password)):
            if not 0 < len(text) <= MOST_LETTERS or "\0" in text:
                raise BadInput(f"the {what} of {name!r} cannot be sent; write 1 to {MOST_LETTERS} letters", where=USERS)
        users[name] = password
    return users
