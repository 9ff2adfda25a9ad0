"""A client's half of SASL, written from RFC 4616 and RFC 5802, for tests."""

from __future__ import annotations

import hashlib
import hmac
from base64 import b64decode, b64encode
from collections.abc import Mapping
from typing import Any

from scenarios.wire.codec import decode_response, encode_request
from scenarios.wire.inputs import Accepted, Frame, Input
from scenarios.wire.security.accounts import HASHES, Accounts
from scenarios.wire.security.secured_as import SecuredAs
from tests.scenarios.wire.gateway.scripted import Scripted, play

SASL_HANDSHAKE, API_VERSIONS, SASL_AUTHENTICATE, METADATA, PRODUCE = 17, 18, 36, 3, 0
SECRET = bytes(32)
ACCOUNTS = Accounts.of({"alice": "secret", "b,o=b": "pass=word,"}, SECRET)
TABLE: dict[str, Any] = {"topics": [{"name": "orders", "partitions": 1, "replication_factor": 3}]}
LISTS = encode_request(METADATA, 8, 99, "client", {"topics": None})
ADDRESSES = {broker: ("127.0.0.1", 19092 + broker) for broker in range(3)}
STEP_MS = 500
"""The time between two frames: longer than any answer takes."""


def secured(accounts: Accounts = ACCOUNTS) -> SecuredAs:
    found = {"SASL_PLAINTEXT": ADDRESSES}
    return SecuredAs(addresses=found, listens=found, accounts=accounts)


def handshake(mechanism: str, version: int = 1) -> bytes:
    return encode_request(SASL_HANDSHAKE, version, 1, "client", {"mechanism": mechanism})


def authenticate(token: bytes, version: int = 1) -> bytes:
    return encode_request(SASL_AUTHENTICATE, version, 2, "client", {"auth_bytes": token})


def plain(user: str, password: str, wanted: str = "") -> bytes:
    return f"{wanted}\0{user}\0{password}".encode()


def accepted(connection: int = 1, listener: str = "SASL_PLAINTEXT") -> tuple[int, Input]:
    return 100, Accepted(connection, 0, "127.0.0.1:5", listener)


def conversation(*frames: bytes, table: Mapping[str, Any] = TABLE, every_ms: int = STEP_MS, **more: Any) -> Scripted:
    """A run in which one connection sends these, one after the other."""
    sent = [(100 + every_ms * number, Frame(1, frame)) for number, frame in enumerate(frames)]
    return play(table, [accepted(), *sent], secured=more.pop("secured", secured()), **more)


def answer(played: Scripted, number: int, key: int, version: int = 1) -> dict[str, Any]:
    """The body of an answer of connection 1."""
    return decode_response(key, version, played.outlets.written[1][number])[1]


class Scram:
    """A client's SCRAM."""

    def __init__(self, user: str, password: str, mechanism: str, nonce: str = "fyko+d2lbbFgONRv9qkxdawL") -> None:
        self.password, self.hash = password, HASHES[mechanism]
        self.bare = f"n={user.replace('=', '=3D').replace(',', '=2C')},r={nonce}"
        self.first = f"n,,{self.bare}".encode()
        self.signature = b""

    def final(self, challenge: bytes) -> bytes:
        """The last token. ``signature`` is then what the broker has to send."""
        parts = dict(part.split("=", 1) for part in challenge.decode().split(","))
        salted = hashlib.pbkdf2_hmac(self.hash, self.password.encode(), b64decode(parts["s"]), int(parts["i"]))
        key = hmac.digest(salted, b"Client Key", self.hash)
        without = f"c=biws,r={parts['r']}"
        said = f"{self.bare},{challenge.decode()},{without}".encode()
        signature = hmac.digest(hashlib.new(self.hash, key).digest(), said, self.hash)
        proof = bytes(a ^ b for a, b in zip(key, signature, strict=True))
        self.signature = b"v=" + b64encode(hmac.digest(hmac.digest(salted, b"Server Key", self.hash), said, self.hash))
        return f"{without},p={b64encode(proof).decode()}".encode()
