"""The certificates of a served cluster: a folder of PEM files, made where it is empty, and what Python's ``ssl`` makes
of them."""

from __future__ import annotations

import os
import socket
import ssl
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from scenarios.errors import BadInput
from scenarios.extras import need
from scenarios.wire.security.listener_options import TLS

CA, SERVER, SERVER_KEY = "ca.pem", "server.pem", "server.key"
"""The authority that clients trust (ssl.ca.location), and that clients' certificates are checked with; the brokers'
certificate, with those between it and the authority; its key, unless ``SERVER`` has it."""
CLIENT, CLIENT_KEY, CLIENT_STORE = "client.pem", "client.key", "client-store.pem"
"""A client's certificate, its key, and both in one file, as Java's ssl.keystore.type=PEM reads them. Only made, never
read."""
CLIENT_NAME = "client"
"""The common name in that certificate."""
_VERIFY = {"none": ssl.CERT_NONE, "requested": ssl.CERT_OPTIONAL, "required": ssl.CERT_REQUIRED}


def certified(folder: Path, hosts: Sequence[str], client_auth: str) -> ssl.SSLContext:
    """The context of connections with the certificates of a folder.

    Args:
        folder: its files are made for ``hosts`` if it is empty or does not exist.
        client_auth: one of Kafka's values of ssl.client.auth.

    Raises: BadInput.
    """
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not any(folder.iterdir()):
            _make(folder, hosts)
    except OSError as error:
        raise BadInput(
            f"cannot be written ({error.strerror}); name another folder", where=TLS, source=str(folder)
        ) from error
    server, key, authority = folder / SERVER, folder / SERVER_KEY, folder / CA
    if not server.is_file():
        what = f"has no {SERVER}; put the brokers' certificate there, or name a folder that is empty"
        raise BadInput(what, where=TLS, source=str(folder))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.options |= ssl.OP_NO_RENEGOTIATION  # a client could have the process compute keys again and again
    context.verify_mode = _VERIFY[client_auth]
    try:
        context.load_cert_chain(server, key if key.is_file() else None, password=_no_password)
    except (OSError, ValueError) as error:
        what = f"the brokers' certificate cannot be used ({_reason(error)}); write it and its key, without a password"
        raise BadInput(f"{what}, as PEM", where=TLS, source=str(server)) from error
    if client_auth != "none":
        try:
            if not authority.is_file():
                raise ValueError("there is no such file")
            context.load_verify_locations(authority)
        except (OSError, ValueError) as error:
            what = f"the authority of clients' certificates cannot be read ({_reason(error)}); write it as PEM"
            raise BadInput(what, where=TLS, source=str(authority)) from error
    return context


def _no_password() -> str:
    raise ValueError("its key has a password")


def _reason(error: OSError | ValueError) -> str:
    return getattr(error, "reason", None) or getattr(error, "strerror", None) or str(error)


def hosts_of(*given: str) -> tuple[str, ...]:
    """The names and addresses in a certificate that is made: this machine's own, and those that clients are given."""
    own = ("localhost", "127.0.0.1", "::1", socket.gethostname())
    return tuple(dict.fromkeys(host for host in (*own, *given) if host))


def _make(folder: Path, hosts: Sequence[str]) -> None:
    """Make an authority, and certificates of the brokers and of a client. Raises: BadInput where trustme is missing."""
    need("trustme", TLS)
    import trustme

    authority = trustme.CA()
    brokers = authority.issue_cert(*hosts)
    client = authority.issue_cert("localhost", common_name=CLIENT_NAME)
    _write(folder / CA, authority.cert_pem.bytes())
    for certificate, to, key_to in ((brokers, SERVER, SERVER_KEY), (client, CLIENT, CLIENT_KEY)):
        _write(folder / to, b"".join(part.bytes() for part in certificate.cert_chain_pems))
        _write(folder / key_to, _pkcs8(certificate), secret=True)
    _write(folder / CLIENT_STORE, (folder / CLIENT_KEY).read_bytes() + (folder / CLIENT).read_bytes(), secret=True)


def _pkcs8(certificate: Any) -> bytes:
    """The key of a certificate in the form that Java reads, too."""
    from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key

    key = load_pem_private_key(certificate.private_key_pem.bytes(), None)
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


def _write(path: Path, data: bytes, *, secret: bool = False) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600 if secret else 0o644), "wb") as file:
        file.write(data)


_SHORT = {
    "commonName": "CN", "organizationName": "O", "organizationalUnitName": "OU", "countryName": "C",
    "localityName": "L", "stateOrProvinceName": "ST", "streetAddress": "STREET", "domainComponent": "DC",
    "userId": "UID",
}  # fmt: skip
"""The short names of RFC 2253; of all others the long name stays."""
_MARKED = ',+"\\<>;'


def principal_of(shown: Any) -> str:
    """The principal of a client's certificate as Kafka writes it, ``User:CN=billing,O=shop``; empty: there is none.

    Args:
        shown: what ``ssl.SSLObject.getpeercert`` gives.
    """
    if not shown:
        return ""
    names = [
        "+".join(f"{_SHORT.get(name, name)}={_marked(value)}" for name, value in part) for part in shown["subject"]
    ]
    return f"User:{','.join(reversed(names))}"


def _marked(value: str) -> str:
    """A value with the signs of RFC 2253 marked."""
    text = "".join(f"\\{letter}" if letter in _MARKED else letter for letter in value)
    return f"\\{text}" if text[:1] in ("#", " ") else text
