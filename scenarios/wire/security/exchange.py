"""The broker's half of a mechanism: tokens in, tokens out, and at the end the name of a user."""

from __future__ import annotations

from typing import Protocol

from scenarios.wire.security.accounts import Accounts


class LoginFailed(Exception):
    """The end of an exchange. The text goes to the client; empty: no more than that the credentials are
    invalid (Kafka's SaslException, whose text could say who is a user)."""


class Exchange(Protocol):
    """One exchange of tokens.

    Attributes:
        user: the name of the user; empty until the exchange is complete.
    """

    user: str

    def take(self, token: bytes) -> bytes:
        """The answer to a client's token. Raises: LoginFailed."""


class PlainExchange:
    """PLAIN (RFC 4616), as PlainSaslServer has it: one token with the name and the password."""

    def __init__(self, accounts: Accounts) -> None:
        self.user = ""
        self._accounts = accounts

    def take(self, token: bytes) -> bytes:
        parts = token.decode("utf-8", "replace").split("\0", 3)
        if len(parts) != 3:
            raise LoginFailed(f"Invalid SASL/PLAIN response: expected 3 tokens, got {len(parts)}")
        wanted, user, password = parts
        for what, text in (("username", user), ("password", password)):
            if not text:
                raise LoginFailed(f"Authentication failed: {what} not specified")
        if not self._accounts.lets_in(user, password):
            raise LoginFailed("Authentication failed: Invalid username or password")
        check_authorization(wanted, user)
        self.user = user
        return b""


def check_authorization(wanted: str, user: str) -> None:
    """Refuse a client that logs in as one user and asks to act as another one. Raises: LoginFailed."""
    if wanted not in ("", user):
        raise LoginFailed("Authentication failed: Client requested an authorization id that is different from username")
