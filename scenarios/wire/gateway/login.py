"""SASL on one connection: the broker's half, as SaslServerAuthenticator has it.

A client may ask for the versions of APIs, names a mechanism (SaslHandshake), and then sends tokens: in SaslAuthenticate
after version 1 of SaslHandshake (KIP-152, 1.0), bare after version 0. Whatever else it sends ends the connection. What
fails is answered, and closed, after connection.failed.authentication.delay.ms (KIP-306, 2.1).

A login happens in the world, so it is recorded, replayed, and waits while its broker is paused.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import define, field

from emulator.protocol.api_versions import ApiVersionsRequest
from emulator.protocol.errors import Errors
from scenarios.wire.apis.base import Body, Connection, InvalidRequest, WireApi
from scenarios.wire.codec.messages import API_VERSIONS
from scenarios.wire.codec.messages.security import SASL_AUTHENTICATE, SASL_HANDSHAKE
from scenarios.wire.refusals import refusal
from scenarios.wire.security.accounts import PLAIN, LoginPolicy
from scenarios.wire.security.exchange import Exchange, LoginFailed, PlainExchange
from scenarios.wire.security.scram import ScramExchange

LEAST_BETWEEN_US = 1_000_000
"""The least time between two logins of one connection (KafkaChannel, KIP-368)."""

Answer = Body | bytes | None
"""The body of a response, a bare token, or no answer."""


class LoginStep(WireApi):
    """A request of a login. The broker is asked nothing, but answers as late as it would any request: not at all while
    it is paused.

    Attributes:
        is_read: whether the request has a body that is read.
    """

    def __init__(self, key: int, take: Callable[[Body, Connection], Answer], *, is_read: bool = True) -> None:
        self.key = key  # type: ignore[misc]
        self.is_read = is_read
        self._take = take
        self._answer: Any = None

    def to_request(self, body: Body, connection: Connection) -> ApiVersionsRequest:
        self._answer = self._take(body, connection)
        return ApiVersionsRequest(known=False)

    def to_response(self, response: Any, body: Body, connection: Connection) -> Any:
        return self._answer


@define(eq=False)
class Login:
    """The logins of one connection.

    Attributes:
        connection: the number of the connection.
        now: the time of the world, in microseconds.
        succeeded: called with each principal, ``User:NAME``.
        failure: why the connection ends once its last answer is sent; empty: it does not.
    """

    policy: LoginPolicy
    connection: int
    now: Callable[[], int]
    succeeded: Callable[[str], object]
    failure: str = ""
    _complete: bool = False
    _has_versions: bool = False
    _in_requests: bool = False
    """Whether tokens come in SaslAuthenticate."""
    _exchange: Exchange | None = None
    """The exchange of tokens; None: no mechanism is agreed upon."""
    _exchanges: int = 0
    _mechanism: str = ""
    _user: str = ""
    """The mechanism and the user of the first login, which later ones keep to."""
    _again: bool = False
    """Whether this is a later login."""
    _expires_us: int | None = None
    _began_us: int | None = None
    """The time at which the last later login began."""
    _other_mechanism: str = field(default="", init=False)
    """Why the next token is refused: a later login by another mechanism."""

    @property
    def takes_bare_token(self) -> bool:
        """Whether what comes next is a token without a header."""
        return self._exchange is not None and not self._complete and not self._in_requests

    def bare_token(self, data: bytes) -> LoginStep:
        """The step for such a token."""
        return LoginStep(SASL_AUTHENTICATE.key, lambda _, __: self._bare(data), is_read=False)

    def step(self, key: int, *, is_known: bool) -> LoginStep | None:
        """The step for a request; None: it is none of the login, and is carried out, or refused, as any.

        Args:
            is_known: whether brokers of the release know the API and the version.

        Raises: InvalidRequest where the connection ends at once.
        """
        if self._complete:
            return self._later(key)
        if not is_known:
            return None
        if self._exchange is not None:
            taken = self._token if key == SASL_AUTHENTICATE.key else self._unexpected(key)
            return LoginStep(key, taken)
        if key == SASL_HANDSHAKE.key:
            return LoginStep(key, self._handshake)
        if key != API_VERSIONS.key:
            return LoginStep(key, lambda _, __: self._fails(None, _UNEXPECTED.format(key, "handshake")), is_read=False)
        if self._has_versions:
            raise InvalidRequest("ApiVersions a second time, before the client has logged in")
        self._has_versions = True
        return None

    def _later(self, key: int) -> LoginStep | None:
        """The step for a request of a client that has logged in."""
        if self._expires_us is None:
            return None
        now_us = self.now()
        is_time = self._began_us is None or now_us - self._began_us >= LEAST_BETWEEN_US
        if key == SASL_HANDSHAKE.key and is_time:
            self._began_us, self._complete, self._again = now_us, False, True
            self._exchange, self._in_requests, self._has_versions = None, False, True
            return LoginStep(key, self._handshake)
        if now_us > self._expires_us:
            raise InvalidRequest("the client has not logged in again in time (connections.max.reauth.ms)")
        return None

    # -- requests -----------------------------------------------------------------------------------------------------

    def _handshake(self, body: Body, connection: Connection) -> Answer:
        mechanism, mechanisms = body["mechanism"], list(self.policy.accounts.mechanisms)
        self._in_requests = connection.version >= 1
        if mechanism not in mechanisms:
            refused = {"error_code": int(Errors.UNSUPPORTED_SASL_MECHANISM), "mechanisms": mechanisms}
            return self._fails(refused, f"Unsupported SASL mechanism {mechanism}")
        if self._again and mechanism != self._mechanism:
            self._other_mechanism = (
                f"SASL mechanism '{mechanism}' requested by client is not supported for re-authentication of mechanism "
                f"'{self._mechanism}'"
            )
        self._mechanism = self._mechanism or mechanism
        self._exchange = self._begun(mechanism)
        return {"error_code": 0, "mechanisms": mechanisms}

    def _begun(self, mechanism: str) -> Exchange:
        self._exchanges += 1
        accounts = self.policy.accounts
        if mechanism == PLAIN:
            return PlainExchange(accounts)
        return ScramExchange(self.policy.scram, mechanism, accounts.nonce(self.connection, self._exchanges))

    def _token(self, body: Body, connection: Connection) -> Answer:
        if self._other_mechanism:
            return self._fails(None, self._other_mechanism)
        try:
            token, lifetime_ms = self._taken(body["auth_bytes"])
        except LoginFailed as failed:
            words = str(failed) or self._words
            code = int(Errors.SASL_AUTHENTICATION_FAILED)
            return self._fails({"error_code": code, "error_message": words, "auth_bytes": b""}, words)
        return {"error_code": 0, "error_message": None, "auth_bytes": token, "session_lifetime_ms": lifetime_ms}

    def _bare(self, data: bytes) -> Answer:
        if self._other_mechanism:
            return self._fails(None, self._other_mechanism)
        try:
            return self._taken(data)[0]
        except LoginFailed as failed:
            return self._fails(None, str(failed) or self._words)

    def _unexpected(self, key: int) -> Callable[[Body, Connection], Answer]:
        words = _UNEXPECTED.format(key, "authentication")
        return lambda body, _: self._fails(refusal(key, body, Errors.ILLEGAL_SASL_STATE, words), words)

    # -- outcomes -----------------------------------------------------------------------------------------------------

    def _taken(self, token: bytes) -> tuple[bytes, int]:
        """The answer to a token, and how long the login holds, in milliseconds. Raises: LoginFailed."""
        exchange = self._exchange
        assert exchange is not None
        answer = exchange.take(token)
        if not exchange.user:
            return answer, 0
        if self._again and exchange.user != self._user:
            raise LoginFailed(
                f"Cannot change principals during re-authentication from User.{self._user}: User.{exchange.user}"
            )
        self._user, self._complete = exchange.user, True
        session_us = self.policy.session_us
        if session_us:
            self._expires_us = self.now() + session_us
        self.succeeded(f"User:{self._user}")
        return answer, session_us // 1000

    def _fails(self, answer: Answer, why: str) -> Answer:
        self.failure = why
        return answer

    @property
    def _words(self) -> str:
        """The words of an answer to wrong credentials, which say nothing more."""
        which = "re-authentication" if self._again else "authentication"
        return f"Authentication failed during {which} due to invalid credentials with SASL mechanism {self._mechanism}"


_UNEXPECTED = "Unexpected Kafka request of type {} during SASL {}."
