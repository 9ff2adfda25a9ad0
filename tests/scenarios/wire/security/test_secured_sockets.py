"""Listeners with TLS and SASL on sockets: what goes over them, what is recorded of it, and what cannot harm them."""

from __future__ import annotations

import socket
import ssl
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scenarios.errors import BadInput
from scenarios.language import Scenario
from scenarios.runs import run_scenario
from scenarios.wire.gateway import secured_listener
from scenarios.wire.inputs import Accepted
from scenarios.wire.recording.folder import read_live_run
from scenarios.wire.recording.log import Entry, InputLog, read_log
from scenarios.wire.recording.pieces import PieceWriter
from scenarios.wire.recording.replay import ReplayedRun
from scenarios.wire.recording.to_scenario import write_scenario
from scenarios.wire.security.certificates import principal_of
from scenarios.wire.security.listener_options import options_of
from tests.scenarios.wire.gateway.served import LIMIT_S, Raw, Served, served, wait_for
from tests.scenarios.wire.security.logging_in import SASL_AUTHENTICATE, SASL_HANDSHAKE, TABLE, Scram, plain

pytest.importorskip("trustme")
LISTENERS = ["SSL", "SASL_PLAINTEXT", "SASL_SSL"]
USERS = {"alice": "secret"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("secured")


@pytest.fixture(scope="module")
def cluster(folder: Path) -> Iterator[Served]:
    security = options_of(LISTENERS, USERS, folder / "tls", "requested")
    with served(TABLE, security=security, record=folder / "recording") as found:
        yield found


def address(cluster: Served, protocol: str, broker: int = 0) -> tuple[str, int]:
    host, _, port = cluster.run.secured_servers[protocol].split(",")[broker].rpartition(":")
    return host, int(port)


def connect(cluster: Served, protocol: str, *, shows: Path | None = None) -> Raw:
    found = socket.create_connection(address(cluster, protocol), LIMIT_S)
    if "SSL" in protocol:
        certificates = cluster.run.certificates
        assert certificates is not None
        context = ssl.create_default_context(cafile=certificates / "ca.pem")
        if shows is not None:
            context.load_cert_chain(shows / "client.pem", shows / "client.key")
        found = context.wrap_socket(found, server_hostname="localhost")
    return Raw(found)


def log_in(raw: Raw) -> None:
    """Log in with SCRAM, and check the broker's proof."""
    client = Scram("alice", "secret", "SCRAM-SHA-512")
    raw.ask(SASL_HANDSHAKE, 1, {"mechanism": "SCRAM-SHA-512"})
    first = raw.ask(SASL_AUTHENTICATE, 1, {"auth_bytes": client.first})
    last = raw.ask(SASL_AUTHENTICATE, 1, {"auth_bytes": client.final(first["auth_bytes"])})
    assert last["auth_bytes"] == client.signature


@pytest.mark.parametrize("protocol", LISTENERS)
def test_each_listener_serves_and_tells_its_own_addresses(cluster: Served, protocol: str) -> None:
    raw = connect(cluster, protocol)
    if protocol.startswith("SASL"):
        log_in(raw)
    brokers = raw.metadata()["brokers"]
    assert [(each["host"], each["port"]) for each in brokers] == [address(cluster, protocol, each) for each in range(3)]
    assert cluster.connect().metadata()["brokers"] != brokers


def test_large_requests_and_answers_go_through_tls_whole(cluster: Served) -> None:
    raw = connect(cluster, "SASL_SSL")
    log_in(raw)
    names = [{"name": f"no-such-topic-{'x' * 200}-{number}"} for number in range(6_000)]
    told = raw.ask(3, 4, {"topics": names, "allow_auto_topic_creation": False})
    assert len(told["topics"]) == len(names)


def test_a_connection_ends_where_it_is_no_tls_or_only_tls(cluster: Served) -> None:
    bytes_to_tls = socket.create_connection(address(cluster, "SSL"), LIMIT_S)
    bytes_to_tls.sendall(struct.pack(">ihhih", 10, 18, 0, 1, 0))
    with suppress(ConnectionResetError):
        while bytes_to_tls.recv(100):
            pass
    wait_for(
        lambda: any("this is not TLS, which security.protocol=SSL has" in line for line in cluster.lines), what="a"
    )
    tls_to_bytes = socket.create_connection(address(cluster, "SASL_PLAINTEXT"), LIMIT_S)
    with pytest.raises((ssl.SSLError, ConnectionError)):
        ssl.create_default_context().wrap_socket(tls_to_bytes, server_hostname="localhost")
    wait_for(lambda: any("this is TLS" in line for line in cluster.lines), what="b")


def test_before_a_login_no_frame_is_large(cluster: Served) -> None:
    raw = connect(cluster, "SASL_PLAINTEXT")
    raw.socket.sendall(struct.pack(">i", 524_289))
    with pytest.raises(ConnectionError):
        raw.frame()
    assert any("sasl.server.max.receive.size" in line for line in cluster.lines)
    later = connect(cluster, "SASL_PLAINTEXT")
    log_in(later)
    later.socket.sendall(struct.pack(">i", 524_289) + bytes(8))
    assert later.is_silent


def test_a_slow_handshake_ends_when_the_next_client_comes(cluster: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = socket.create_connection(address(cluster, "SSL"), LIMIT_S)
    slow.sendall(b"\x16\x03\x01")
    wait_for(lambda: any(each._shaking for each in cluster.run.sockets.secured), what="the slow client")
    monkeypatch.setattr(secured_listener, "HANDSHAKE_S", 0.0)
    connect(cluster, "SSL").socket.close()
    assert slow.recv(100) == b""


def test_the_principal_is_the_user_or_the_certificates_subject(cluster: Served) -> None:
    certificates = cluster.run.certificates
    assert certificates is not None
    known = [connect(cluster, "SSL", shows=certificates), connect(cluster, "SASL_PLAINTEXT")]
    log_in(known[1])
    principals = []
    for raw in known:
        raw.metadata()
        name = "{}:{}".format(*raw.socket.getsockname()[:2])
        (found,) = [each for each in list(cluster.run.gateway.connections.values()) if each.address == name]
        principals.append(found._context.principal)  # type: ignore[union-attr]
    assert principals[0].startswith("User:CN=client,")
    assert principals[1] == "User:alice"


def test_a_subject_is_written_as_kafka_writes_it() -> None:
    subject = ((("countryName", "DE"),), (("organizationName", "Shop, Inc."),), (("commonName", "#1"),))
    assert principal_of({"subject": subject}) == "User:CN=\\#1,O=Shop\\, Inc.,C=DE"
    assert principal_of({}) == principal_of(None) == ""


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    st.sampled_from(LISTENERS),
    st.lists(
        st.one_of(st.binary(max_size=60), st.binary(max_size=30).map(lambda data: struct.pack(">i", len(data)) + data)),
        max_size=4,
    ),
    st.booleans(),
    st.integers(0, 400),
)
def test_no_bytes_harm_a_listener(cluster: Served, protocol: str, parts: list[bytes], shakes: bool, cut: int) -> None:
    """Bytes before, in the middle of (``cut``), and after TLS's handshake."""
    raw = socket.create_connection(address(cluster, protocol), LIMIT_S)
    try:
        if "SSL" in protocol and shakes:
            incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
            context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
            client = context.wrap_bio(incoming, outgoing)
            with suppress(ssl.SSLWantReadError):
                client.do_handshake()
            hello = outgoing.read()
            raw.sendall(hello[:cut] if cut < 100 else hello)
        for part in parts:
            raw.sendall(part)
    except OSError:
        pass  # closed already
    finally:
        raw.close()
    assert len(cluster.connect().metadata()["brokers"]) == 3
    assert not cluster.run.stage.defects


def test_the_recording_is_replayed_bit_for_bit_and_its_scenario_has_no_password(folder: Path) -> None:
    security = options_of(LISTENERS, USERS, None, None)
    with served(TABLE, security=security, record=folder / "short") as found:
        made = found.run.certificates
        for protocol in LISTENERS:
            raw = connect(found, protocol)
            if protocol == "SASL_SSL":
                log_in(raw)
            elif protocol == "SASL_PLAINTEXT":
                raw.ask(SASL_HANDSHAKE, 0, {"mechanism": "PLAIN"})
                token = plain("alice", "secret")
                raw.socket.sendall(struct.pack(">i", len(token)) + token)
                assert raw.frame() == b""
            raw.metadata()
    assert made is not None
    assert not made.exists()
    recorded = read_live_run(folder / "short")
    assert any("secret" in str(entry.what) for entry in recorded.inputs.entries)
    assert 'secret"' not in (folder / "short" / "run.toml").read_text()
    assert ReplayedRun(recorded).play().same
    write_scenario(recorded, folder / "again.toml")
    assert b"secret" not in (folder / "again.frames").read_bytes()
    assert not run_scenario(Scenario.load(folder / "again.toml")).violations


def test_the_listener_of_a_connection_is_in_the_log(tmp_path: Path) -> None:
    entries = [
        Entry(1, Accepted(1, 0, "127.0.0.1:1")),
        Entry(2, Accepted(2, 0, "127.0.0.1:2", "SASL_SSL")),
        Entry(3, Accepted(3, 0, "127.0.0.1:3", "SSL", "User:CN=a\0b")),
    ]
    with InputLog(PieceWriter(tmp_path)) as log:
        for entry in entries:
            log.write(*entry)
    assert list(read_log(tmp_path).entries) == entries


def test_clients_without_a_certificate_are_refused_where_it_is_required(folder: Path) -> None:
    security = options_of(["SSL"], None, folder / "tls", "required")
    with served(TABLE, security=security) as found:
        certificates = found.run.certificates
        assert certificates is not None
        assert connect(found, "SSL", shows=certificates).metadata()["brokers"]
        with pytest.raises((ssl.SSLError, ConnectionError)):
            connect(found, "SSL").metadata()
        wait_for(lambda: any("no TLS handshake" in line for line in found.lines), what="the reason")


@pytest.mark.parametrize(
    ("listeners", "users", "tls", "auth", "line"),
    [
        (["TLS"], None, None, None, "--listener: no security protocol is called 'TLS'; "),
        (["SSL", "SSL:1"], None, None, None, "--listener: SSL is there twice; "),
        (["SSL:0"], None, None, None, "--listener: '0' is no port; "),
        (["PLAINTEXT:1"], None, None, None, "--listener: every broker has PLAINTEXT; "),
        (["SASL_SSL"], None, None, None, "--listener: nobody may log in; "),
        (["SSL"], "any", None, None, "--users: no listener uses it; "),
        (["SASL_PLAINTEXT"], "any", "certs", None, "--tls: no listener uses it; "),
        ([], None, "certs", None, "--tls: no listener uses it; "),
        (["SSL"], None, None, "maybe", "--tls-client-auth: unknown value 'maybe'; "),
        (["SASL_SSL"], {}, None, None, "--users: there are no users; "),
        (["SASL_SSL"], {"alice": ""}, None, None, "--users: the password of 'alice' cannot be sent; "),
        (["SASL_SSL"], {"alice": 1}, None, None, "--users: 'alice' has no password; "),
    ],
)
def test_what_cannot_be_served_is_one_line(listeners: Any, users: Any, tls: Any, auth: Any, line: str) -> None:
    with pytest.raises(BadInput) as caught:
        options_of(listeners, users, tls, auth)
    assert str(caught.value).startswith(line)


def test_users_and_certificates_come_from_files(folder: Path) -> None:
    users = folder / "users.toml"
    users.write_text('alice = "secret"\n', encoding="utf-8")
    found = options_of(["SASL_SSL:9192,9292,9392"], users, folder, None)
    assert found is not None
    assert (found.users, found.ports(3)) == (USERS, {"SASL_SSL": (9192, 9292, 9392)})
    users.write_text("alice = secret\n", encoding="utf-8")
    with pytest.raises(BadInput, match=r"users\.toml: is no TOML"):
        options_of(["SASL_SSL"], users, None, None)
    with pytest.raises(BadInput, match=r"has no server\.pem; "), served(security=found):
        pass


def test_nothing_of_it_is_imported_unless_it_is_asked_for() -> None:
    program = (
        "import sys\n"
        "from scenarios.testing.kafka import kafka\n"
        "with kafka() as server: server.state\n"
        "print([name for name in sys.modules if 'wire.security' in name or name in ('trustme', 'cryptography')])\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
