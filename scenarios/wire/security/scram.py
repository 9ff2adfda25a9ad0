"""SCRAM (RFC 5802) as ScramSaslServer has it: the client proves that it knows the password, the broker that it has the
user's keys. Neither sends them."""

from __future__ import annotations

import hashlib
import hmac
import re
from base64 import b64decode, b64encode

from scenarios.wire.security.accounts import HASHES, Credentials, ScramCredential
from scenarios.wire.security.exchange import LoginFailed, check_authorization

_NAME = r"(?:[\x01-\x2b\x2d-\x3c\x3e-\x7f]|=2C|=3D)+"
_VALUE = r"[\x01-\x2b\x2d-\x7f]+"
_NONCE = r"[\x21-\x2b\x2d-\x7e]+"
_BASE64 = r"(?:[a-zA-Z0-9/+]{4})*(?:[a-zA-Z0-9/+]{3}=|[a-zA-Z0-9/+]{2}==)?"
_MORE = rf"(?:,[A-Za-z]+={_VALUE})*"
_FIRST = re.compile(rf"n,(?:a=({_NAME}))?,((?:m={_VALUE},)?n=({_NAME}),r=({_NONCE})({_MORE}))")
_FINAL = re.compile(rf"(c={_BASE64},r=({_NONCE}){_MORE}),p=({_BASE64})")
_BY_TOKEN = re.compile(r",tokenauth=true(?:,|\Z)", re.IGNORECASE)
"""A login with a delegation token (KIP-48), of which there are none."""


class ScramExchange:
    """One exchange by SCRAM.

    Attributes:
        user: the name of the user; empty until the exchange is complete.
    """

    def __init__(self, credentials: Credentials, mechanism: str, nonce: str) -> None:
        self.user = ""
        self._credentials = credentials
        self._mechanism = mechanism
        self._nonce = nonce
        self._name = ""
        self._said = ""
        """The messages of both so far: the first two parts of AuthMessage."""
        self._credential: ScramCredential | None = None

    def take(self, token: bytes) -> bytes:
        text = token.decode("utf-8", "replace")
        return (self._first(text) if self._credential is None else self._final(text, self._credential)).encode()

    def _first(self, text: str) -> str:
        found = _FIRST.fullmatch(text)
        if found is None or _BY_TOKEN.search(found[5]):
            raise LoginFailed
        wanted, bare, name, nonce, _ = found.groups()
        self._name = _plain(name)
        self._credential = credential = self._credentials.get(self._name, {}).get(self._mechanism)
        if credential is None:
            raise LoginFailed
        check_authorization(_plain(wanted or ""), self._name)
        self._nonce = nonce + self._nonce
        answer = f"r={self._nonce},s={b64encode(credential.salt).decode()},i={credential.iterations}"
        self._said = f"{bare},{answer}"
        return answer

    def _final(self, text: str, credential: ScramCredential) -> str:
        found = _FINAL.fullmatch(text)
        if found is None or found[2] != self._nonce:
            raise LoginFailed
        name, said = HASHES[self._mechanism], f"{self._said},{found[1]}".encode()
        signature, proof = hmac.digest(credential.stored_key, said, name), b64decode(found[3])
        if len(proof) != len(signature):
            raise LoginFailed
        client_key = bytes(one ^ other for one, other in zip(signature, proof, strict=True))
        if not hmac.compare_digest(hashlib.new(name, client_key).digest(), credential.stored_key):
            raise LoginFailed
        self.user = self._name
        return f"v={b64encode(hmac.digest(credential.server_key, said, name)).decode()}"


def _plain(name: str) -> str:
    """A name without RFC 5802's marks for commas and equals signs."""
    return name.replace("=2C", ",").replace("=3D", "=")
