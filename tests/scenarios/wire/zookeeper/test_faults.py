"""Faults at ZooKeeper's port, the end of sessions, a recording, and what no client can do to the gateway."""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scenarios.language import Scenario
from scenarios.wire.recording.folder import read_live_run
from scenarios.wire.recording.replay import ReplayedRun
from scenarios.wire.recording.to_scenario import write_scenario
from scenarios.wire.zookeeper import ensemble
from scenarios.wire.zookeeper.jute_records import CONNECT_REQUEST, REQUEST_HEADER, REQUESTS, OpCode
from tests.scenarios.wire.damage import damaged
from tests.scenarios.wire.gateway.served import Served, served, wait_for
from tests.scenarios.wire.zookeeper.client import Refused, Zk, connected, created, session, write_multi
from tests.scenarios.wire.zookeeper.test_served import TABLE

CLIENTS = "client(zookeeper-client)"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Served]:
    with served(TABLE) as found:
        yield found
    (run,) = found.finished
    assert run.passed, run.explanation


def test_a_recording_with_zookeeper_in_it_is_replayed_to_the_same_digest(tmp_path: Path) -> None:
    """With a session that expires, a stop of ZooKeeper and a session that goes on, and bytes that are no frame."""
    with served(TABLE, record=tmp_path / "run", rate=20.0) as cluster:
        zk, dying = session(cluster), session(cluster)
        dying.create("/of-the-dying", b"", flags=1)
        assert zk.stat("/of-the-dying", watch=True) is not None
        dying.raw.socket.close()
        wait_for(lambda: zk.stat("/of-the-dying") is None, what="the end of the session")
        assert zk.events == [(2, "/of-the-dying")]
        zk.create("/own", b"", flags=1)
        assert cluster.operate("zookeeper.stop")["ok"]
        with pytest.raises(ConnectionError):
            zk.raw.frame()
        with pytest.raises(ConnectionRefusedError):
            wait_for(lambda: connected(cluster) and None, what="a refusal")
        assert cluster.operate("zookeeper.start")["ok"]
        again = wait_for(lambda: _connected(cluster), what="ZooKeeper")
        again.session, again.password = zk.session, zk.password
        assert again.greet()["session_id"] == zk.session
        assert again.stat("/own") is not None
        move = b'{"version":1,"partitions":[{"topic":"orders","partition":0,"replicas":[2,1]}]}'
        again.create("/admin/reassign_partitions", move)
        wait_for(lambda: again.stat("/admin/reassign_partitions") is None, what="the move")
        again.send_frame(b"junk")
        with pytest.raises(ConnectionError):
            again.raw.frame()
    recorded = read_live_run(tmp_path / "run")
    replay = ReplayedRun(recorded).play()
    assert replay.same
    assert replay.run.passed, replay.run.explanation
    write_scenario(recorded, tmp_path / "again.toml")
    scenario = Scenario.load(tmp_path / "again.toml")
    assert scenario.attached == ("zookeeper-client",)
    assert scenario.run().passed


def _connected(cluster: Served) -> object:
    with suppress(OSError):
        return connected(cluster)
    return None


def test_links_and_the_machine_of_the_clients_can_be_broken() -> None:
    with served(TABLE, rate=40.0) as cluster:
        zk = session(cluster, time_out=16_000)
        assert cluster.operate("link.cut", target=CLIENTS, peer="zookeeper")["ok"]
        asked = zk.send(OpCode.EXISTS, b"\0\0\0\1/\0")
        assert zk.raw.is_silent
        assert cluster.operate("link.heal", target=CLIENTS, peer="zookeeper")["ok"]
        assert zk.until(asked)[0] == 0
        zk.create("/own", b"", flags=1)
        assert cluster.operate("client.crash", target=CLIENTS)["ok"]
        with pytest.raises(ConnectionResetError):
            zk.raw.frame()
        refused = connected(cluster)
        with pytest.raises(ConnectionError):
            refused.greet()
        assert cluster.operate("client.start", target=CLIENTS)["ok"]
        other = session(cluster)
        wait_for(lambda: other.stat("/own") is None, what="the end of the session")


def test_a_slow_zookeeper_answers_in_order_and_keeps_sessions() -> None:
    with served(TABLE) as cluster:
        zk = session(cluster)
        assert cluster.operate("zookeeper.slow", read="50ms")["ok"]
        first = zk.send(OpCode.EXISTS, b"\0\0\0\1/\0")
        second = zk.send(OpCode.SYNC, b"\0\0\0\1/")
        ping = zk.send(OpCode.PING, b"", xid=-2)
        zk.until(second)
        assert zk.order == [ping, first, second]


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (struct.pack(">i", 0x100000), "1048576 bytes, and at most 1048575 are allowed (jute.maxbuffer)"),
        (b"ruok", "'ruok' is a command for operators, and none is served"),
        (b"GET / HTTP/1.1\r\n\r\n", "this is HTTP, not ZooKeeper's protocol"),
        (struct.pack(">i", 4) + b"junk", "bytes are wanted"),
        (struct.pack(">i", 28) + bytes(4) + b"\x7f" + bytes(23), "the client has seen zxid"),
    ],
)  # fmt: skip
def test_what_is_no_request_closes_its_connection_with_one_line(cluster: Served, data: bytes, said: str) -> None:
    before, zk = len(cluster.lines), connected(cluster)
    zk.raw.socket.sendall(data)
    with suppress(ConnectionResetError):
        assert zk.raw.socket.recv(1) == b""
    (line,) = cluster.lines[before:]
    assert said in line
    assert session(cluster).stat("/") is not None


def test_what_clients_keep_is_limited(cluster: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    before = session(cluster)
    monkeypatch.setattr(ensemble, "MOST_WATCHES", 3)
    zk = session(cluster)
    for path in ("/w1", "/w2", "/w2", "/w3"):
        zk.stat(path, watch=True)
    with pytest.raises(ConnectionError):
        zk.stat("/w4", watch=True)
    assert "would watch more than 3 paths" in cluster.lines[-1]
    wait_for(lambda: _watches(session(cluster)), what="the end of the watches")
    monkeypatch.setattr(ensemble, "MOST_HELD", 1)
    first = session(cluster)
    first.create("/held", None)
    with pytest.raises(Refused, match="-1"):
        first.create("/held/too", None)
    first.delete("/held")
    with pytest.raises(Refused, match="-8"):
        first.create("/" + 1024 * "x")
    monkeypatch.setattr(ensemble, "MOST_SESSIONS", 1)
    with pytest.raises(ConnectionError):
        session(cluster)
    assert "there are 1 sessions" in cluster.lines[-1]
    assert before.stat("/") is not None


def _watches(zk: Zk) -> bool:
    with suppress(ConnectionError):
        zk.stat("/w5", watch=True)
        return True
    return False


def _frame(code: OpCode, data: bytes) -> bytes:
    return REQUEST_HEADER.write({"xid": 1, "type": code}) + data


_GREETING = CONNECT_REQUEST.write(
    {"protocol_version": 0, "last_zxid_seen": 0, "time_out": 4000, "session_id": 0, "passwd": bytes(16)}
)
_WATCHES = {"relative_zxid": 1, "data_watches": ["/a"], "exist_watches": ["/b"], "child_watches": ["/"]}
FRAMES = [
    _frame(OpCode.CREATE, REQUESTS[OpCode.CREATE].write(created("/fuzz", b"x", 3))),
    _frame(
        OpCode.SET_DATA, REQUESTS[OpCode.SET_DATA].write({"path": "/brokers/topics/orders", "data": b"{", "version": 0})
    ),
    _frame(OpCode.GET_DATA, b"\0\0\0\1/\1"),
    _frame(OpCode.SET_WATCHES, REQUESTS[OpCode.SET_WATCHES].write(_WATCHES)),
    _frame(OpCode.MULTI, write_multi([(OpCode.CREATE, created("/m")), (OpCode.DELETE, {"path": "/m", "version": 0})])),
    _frame(OpCode.CLOSE_SESSION, b""),
]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=damaged(FRAMES, first=[_GREETING]) | st.binary(max_size=64))
def test_no_bytes_stop_the_gateway(cluster: Served, data: bytes) -> None:
    zk = connected(cluster)
    with suppress(OSError):
        zk.raw.socket.sendall(data)
        zk.raw.socket.shutdown(socket.SHUT_WR)
        while zk.raw.socket.recv(65536):
            pass
    zk.raw.socket.close()
    other = session(cluster)
    assert other.stat("/brokers/topics/orders") is not None
    other.close()
    assert not any("a defect" in line or "cannot be sent" in line for line in cluster.lines)
