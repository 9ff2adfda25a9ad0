"""The users who may log in: their keys, as SCRAM needs them (RFC 5802) and Kafka keeps them in ZooKeeper, and the
random numbers of a run.

A recording has the keys and the run's secret, so that a replay checks the very proofs that the clients sent. It has no
passwords; only the frames of PLAIN have them.
"""

from __future__ import annotations

import hashlib
import hmac
from base64 import b32encode
from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from scenarios.wire.security.listener_options import Users

PLAIN = "PLAIN"
HASHES: Mapping[str, str] = {"SCRAM-SHA-256": "sha256", "SCRAM-SHA-512": "sha512"}
"""The mechanisms of SCRAM (KIP-84), each with its hash function."""
ITERATIONS = 4096
"""The rounds of the derivation of a key: the least that Kafka takes (ScramMechanism.minIterations)."""
SALT_BYTES = 16


@frozen
class ScramCredential:
    """The keys of one user for one mechanism (ScramCredential of Kafka)."""

    salt: bytes
    iterations: int
    stored_key: bytes
    server_key: bytes

    @classmethod
    def of(cls, password: str, salt: bytes, name: str, iterations: int = ITERATIONS) -> ScramCredential:
        """The keys of a password; ``name``: the hash function."""
        return cls.of_salted(hashlib.pbkdf2_hmac(name, password.encode(), salt, iterations), salt, name, iterations)

    @classmethod
    def of_salted(cls, salted: bytes, salt: bytes, name: str, iterations: int) -> ScramCredential:
        """The keys of a salted password, which is what admin clients send (KIP-554)."""
        client_key = hmac.digest(salted, b"Client Key", name)
        return cls(salt, iterations, hashlib.new(name, client_key).digest(), hmac.digest(salted, b"Server Key", name))

    def is_of(self, password: str, name: str) -> bool:
        """Whether these are the keys of a password."""
        found = ScramCredential.of(password, self.salt, name, self.iterations)
        return hmac.compare_digest(found.stored_key, self.stored_key)


Credentials = dict[str, dict[str, ScramCredential]]
"""The keys of each user, by mechanism."""


@frozen
class Accounts:
    """The users of a run.

    Attributes:
        secret: random bytes of this run, from which salts and nonces are derived. A replay has the same.
        credentials: the keys of each user, by mechanism; None: everyone may log in.
    """

    secret: bytes
    credentials: Mapping[str, Mapping[str, ScramCredential]] | None = None

    @classmethod
    def of(cls, users: Users | None, secret: bytes) -> Accounts:
        """The accounts of users; None: of everyone."""
        if users is None:
            return cls(secret)
        derived = cls(secret)
        return cls(secret, {user: derived._keys(user, password) for user, password in users.items()})

    def _keys(self, user: str, password: str) -> dict[str, ScramCredential]:
        salts = {mechanism: self._random(f"salt/{mechanism}/{user}")[:SALT_BYTES] for mechanism in HASHES}
        return {each: ScramCredential.of(password, salts[each], name) for each, name in HASHES.items()}

    @property
    def mechanisms(self) -> tuple[str, ...]:
        """The mechanisms that can be used (sasl.enabled.mechanisms). Where everyone may log in that is PLAIN: with
        SCRAM a broker proves that it has the user's keys, and so has to have them."""
        return (PLAIN,) if self.credentials is None else (PLAIN, *HASHES)

    def credential(self, user: str, mechanism: str) -> ScramCredential | None:
        """The keys of a user; None: there is no such user."""
        return (self.credentials or {}).get(user, {}).get(mechanism)

    def lets_in(self, user: str, password: str) -> bool:
        """Whether this is the user's password."""
        if self.credentials is None:
            return True
        mechanism, name = next(iter(HASHES.items()))
        found = self.credential(user, mechanism)
        return found is not None and found.is_of(password, name)

    def nonce(self, connection: int, exchange: int) -> str:
        """The broker's nonce, of the same length each time."""
        return b32encode(self._random(f"nonce/{connection}/{exchange}")[:20]).decode()

    def _random(self, purpose: str) -> bytes:
        return hmac.digest(self.secret, purpose.encode(), "sha256")

    # -- in a recording -----------------------------------------------------------------------------------------------

    def to_table(self) -> dict[str, Any]:
        """The table for run.toml."""
        users = [
            {"name": user, "mechanism": mechanism, **_to_table(found)}
            for user, keys in (self.credentials or {}).items()
            for mechanism, found in keys.items()
        ]
        return {"secret": self.secret.hex(), "any": self.credentials is None, "users": users}

    @classmethod
    def from_table(cls, table: Mapping[str, Any]) -> Accounts:
        """The value of such a table. Raises: KeyError, TypeError, ValueError where it is not one."""
        credentials: dict[str, dict[str, ScramCredential]] = {}
        for each in table["users"]:
            if each["mechanism"] not in HASHES:
                raise ValueError(f"no mechanism is called {each['mechanism']!r}")
            credentials.setdefault(each["name"], {})[each["mechanism"]] = _from_table(each)
        return cls(bytes.fromhex(table["secret"]), None if table["any"] else credentials)


def _to_table(found: ScramCredential) -> dict[str, Any]:
    keys = {"salt": found.salt, "stored_key": found.stored_key, "server_key": found.server_key}
    return {"iterations": found.iterations, **{name: value.hex() for name, value in keys.items()}}


def _from_table(table: Mapping[str, Any]) -> ScramCredential:
    iterations = table["iterations"]
    if type(iterations) is not int or not 0 < iterations <= 1_000_000:
        raise ValueError("a user's keys have a number of iterations")
    salt, stored, server = (bytes.fromhex(table[name]) for name in ("salt", "stored_key", "server_key"))
    return ScramCredential(salt, iterations, stored, server)


@frozen(kw_only=True)
class LoginPolicy:
    """Logins at the brokers of one cluster.

    Attributes:
        scram: the keys of the users who log in by SCRAM, which admin clients change; PLAIN has those of ``accounts``.
        failure_delay_us: how much later a failure is answered, and the connection closed (KIP-306, 2.1).
        session_us: how long a login holds (KIP-368, 2.2); 0: as long as its connection.
    """

    accounts: Accounts
    scram: Credentials = field(factory=dict)
    failure_delay_us: int = 100_000
    session_us: int = 0
