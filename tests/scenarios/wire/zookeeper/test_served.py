"""ZooKeeper's protocol over a socket, against the emulated tree and the brokers that use it."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator

import pytest

from benchmarks.calibration.real.zookeeper import Session
from scenarios.testing.kafka import kafka
from scenarios.wire.zookeeper.jute_records import OpCode
from tests.scenarios.wire.gateway.served import Served, served, wait_for
from tests.scenarios.wire.zookeeper.client import (
    AUTH,
    OPEN_ACL,
    PING,
    SET_WATCHES,
    Refused,
    connected,
    created,
    session,
)
from tests.scenarios.wire.zookeeper.test_payloads import WRITTEN

TABLE = {
    "profile": "kafka-2.3",
    "topics": [{"name": "orders", "assignment": [[0, 1], [1, 2]]}],
    "cluster": {"brokers": 3, "config": {"auto.leader.rebalance.enable": False}},
}
WRITTEN_BY_2_7 = {path: data.encode() for release, path, data in WRITTEN if release == "2.7.2"}
CREATED, DELETED, CHANGED, CHILDREN = 1, 2, 3, 4
NO_NODE, NO_AUTH, BAD_VERSION, NODE_EXISTS, NOT_EMPTY = -101, -102, -103, -110, -111
BAD_ARGUMENTS, UNIMPLEMENTED, INVALID_ACL, INCONSISTENT = -8, -6, -114, -2


@pytest.fixture(scope="module")
def cluster() -> Iterator[Served]:
    with served(TABLE) as found:
        yield found
    (run,) = found.finished
    assert run.passed, run.explanation


def refused_with(code: int) -> pytest.RaisesExc[Refused]:
    return pytest.RaisesExc(Refused, check=lambda refused: refused.code == code)


def test_a_client_reads_what_a_real_cluster_has(cluster: Served) -> None:
    zk = session(cluster)
    assert set(zk.children("/")) >= {"admin", "brokers", "cluster", "config", "consumers", "controller", "zookeeper"}
    assert zk.children("/brokers/ids") == ["0", "1", "2"]
    host, port = cluster.run.broker_addresses[1]
    registration = json.loads(zk.get("/brokers/ids/1") or b"")
    assert (registration["host"], registration["port"]) == (host, port)
    assert registration["endpoints"] == [f"PLAINTEXT://{host}:{port}"]
    assert zk.children("/brokers/ids/1") == []
    known = zk.stat("/brokers/ids/1")
    assert known is not None
    assert known["data_length"] == len(zk.get("/brokers/ids/1") or b"")
    assert zk.get("/controller_epoch") == b"1"
    assert json.loads(zk.get("/cluster/id") or b"")["version"] == "1"
    assert zk.get("/brokers/topics/orders") == b'{"version":1,"partitions":{"0":[0,1],"1":[1,2]}}'
    state = zk.stat("/brokers/topics/orders/partitions/0/state")
    assert state is not None
    assert state["data_length"] == len(zk.get("/brokers/topics/orders/partitions/0/state") or b"")
    assert zk.get("/config/changes") is None, "null, as KafkaZkClient creates it"


def test_a_znode_and_all_of_its_stat(cluster: Served) -> None:
    zk = session(cluster)
    answer = zk.ask(OpCode.CREATE2, **created("/mine", b"\xff\0bytes"))
    first = answer["stat"]
    assert answer["path"] == "/mine"
    assert first == {
        "czxid": zk.zxid, "mzxid": zk.zxid, "ctime": first["ctime"], "mtime": first["ctime"], "version": 0,
        "cversion": 0, "aversion": 0, "ephemeral_owner": 0, "data_length": 7, "num_children": 0, "pzxid": zk.zxid,
    }  # fmt: skip
    assert zk.get("/mine") == b"\xff\0bytes"
    changed = zk.set("/mine", b"", version=0)
    assert (changed["version"], changed["data_length"], changed["czxid"]) == (1, 0, first["czxid"])
    assert changed["mzxid"] == zk.zxid > first["mzxid"]
    assert changed["mtime"] >= changed["ctime"] == first["ctime"]
    assert zk.get("/mine") == b""
    with refused_with(BAD_VERSION):
        zk.set("/mine", b"", version=0)
    with refused_with(NODE_EXISTS):
        zk.create("/mine")
    assert zk.create("/mine/n-", None, flags=2) == "/mine/n-0000000000"
    assert zk.create("/mine/n-", None, flags=3) == "/mine/n-0000000001"
    assert zk.get("/mine/n-0000000000") is None
    with refused_with(NOT_EMPTY):
        zk.delete("/mine")
    listed = zk.ask(OpCode.GET_CHILDREN2, path="/mine", watch=False)
    assert listed["children"] == ["n-0000000000", "n-0000000001"]
    assert (listed["stat"]["num_children"], listed["stat"]["cversion"], listed["stat"]["pzxid"]) == (2, 2, zk.zxid)
    own = zk.stat("/mine/n-0000000001")
    assert own is not None
    assert own["ephemeral_owner"] == zk.session
    other = session(cluster)
    zk.close()
    assert other.children("/mine") == ["n-0000000000"], "the other one was of the session that has ended"
    other.delete("/mine/n-0000000000")
    other.delete("/mine")
    assert other.stat("/mine") is None
    with refused_with(NO_NODE):
        other.get("/mine")


def test_a_multi_is_all_or_nothing(cluster: Served) -> None:
    zk = session(cluster)
    done = zk.multi(
        (OpCode.CREATE, created("/many", b"1")),
        (OpCode.CHECK, {"path": "/many", "version": 0}),
        (OpCode.SET_DATA, {"path": "/many", "data": b"22", "version": 0}),
        (OpCode.CREATE2, created("/many/below")),
        (OpCode.DELETE, {"path": "/many/below", "version": -1}),
    )
    assert [result[0] if isinstance(result, tuple) else result for result in done] == [1, 13, 5, 15, 2]
    assert isinstance(done[2], tuple)
    assert done[2][1]["stat"]["version"] == 1
    failed = zk.multi(
        (OpCode.DELETE, {"path": "/many", "version": -1}),
        (OpCode.CHECK, {"path": "/none", "version": 0}),
        (OpCode.CREATE, created("/many/other")),
    )
    assert failed == [0, NO_NODE, INCONSISTENT]
    assert zk.get("/many") == b"22"
    forbidden = zk.multi((OpCode.DELETE, {"path": "/many", "version": -1}), (OpCode.CREATE, created("/brokers/ids/7")))
    assert forbidden == [0, NO_AUTH]
    assert zk.multi() == []
    zk.delete("/many")


def test_watches_fire_once_and_before_the_data_that_they_announce(cluster: Served) -> None:
    zk, other = session(cluster), session(cluster)
    assert zk.stat("/seen", watch=True) is None
    other.create("/seen", b"1")
    assert zk.get("/seen", watch=True) == b"1"
    assert zk.events == [(CREATED, "/seen")]
    assert zk.children("/seen", watch=True) == []
    other.set("/seen", b"2")
    other.set("/seen", b"3")
    other.create("/seen/child")
    last = zk.send(OpCode.GET_DATA, b"\0\0\0\5/seen\0")
    assert zk.until(last)[0] == 0
    assert zk.events[1:] == [(CHANGED, "/seen"), (CHILDREN, "/seen")]
    assert zk.order[-3:] == [-1, -1, last]
    zk.get("/seen", watch=True)
    zk.children("/seen", watch=True)
    other.delete("/seen/child")
    other.delete("/seen")
    assert zk.stat("/seen") is None
    assert zk.events[3:] == [(CHILDREN, "/seen"), (DELETED, "/seen")]


def test_a_session_goes_on_with_its_password_and_is_notified_of_what_it_missed(cluster: Served) -> None:
    zk, other = session(cluster, time_out=1), session(cluster)
    assert zk.timeout_ms == 4000, "at least two ticks"
    assert session(cluster, time_out=10**9).timeout_ms == 40_000, "at most twenty"
    zk.create("/of-mine", b"", flags=1)
    for path in ("/changed", "/same", "/gone"):
        other.create(path)
    seen = zk.stat("/same") and zk.zxid
    zk.raw.socket.close()
    other.set("/changed", b"1")
    other.delete("/gone")
    again = connected(cluster)
    again.session, again.password = zk.session, zk.password
    assert again.greet(last_zxid_seen=seen)["session_id"] == zk.session
    watches = {
        "data_watches": ["/changed", "/same", "/gone"],
        "exist_watches": ["/of-mine"],
        "child_watches": ["/same"],
    }
    again.ask(OpCode.SET_WATCHES, SET_WATCHES, relative_zxid=seen, **watches)
    assert again.events == [(CHANGED, "/changed"), (DELETED, "/gone"), (CREATED, "/of-mine")]
    other.set("/same", b"1")
    assert again.stat("/of-mine") is not None
    assert again.events[3:] == [(CHANGED, "/same")]
    wrong = connected(cluster)
    wrong.session, wrong.password = zk.session, bytes(16)
    assert wrong.greet()["session_id"] == 0, "it has another password"
    with pytest.raises(ConnectionError):
        wrong.raw.frame()
    again.close()
    late = connected(cluster)
    late.session, late.password = zk.session, zk.password
    assert late.greet()["session_id"] == 0, "it was closed"
    assert other.stat("/of-mine") is None
    for path in ("/changed", "/same"):
        other.delete(path)


def test_pings_auth_acls_and_sync(cluster: Served) -> None:
    zk = session(cluster)
    zk.ask(OpCode.PING, PING)
    zk.ask(OpCode.AUTH, AUTH, type=0, scheme="digest", auth=b"me:secret")
    zk.create("/open")
    assert zk.ask(OpCode.GET_ACL, path="/open")["acl"] == OPEN_ACL
    assert zk.ask(OpCode.SET_ACL, path="/open", acl=OPEN_ACL, version=0)["stat"]["version"] == 0
    with refused_with(BAD_VERSION):
        zk.ask(OpCode.SET_ACL, path="/open", acl=OPEN_ACL, version=5)
    with refused_with(INVALID_ACL):
        zk.ask(OpCode.SET_ACL, path="/open", acl=[{"perms": 1, "scheme": "world", "id": "anyone"}], version=-1)
    with refused_with(INVALID_ACL):
        zk.ask(OpCode.CREATE, path="/closed", data=b"", acl=[], flags=0)
    with refused_with(NO_NODE):
        zk.ask(OpCode.GET_ACL, path="/none")
    assert zk.ask(OpCode.SYNC, path="/none")["path"] == "/none"
    zk.delete("/open")
    error, _ = zk.until(zk.send(OpCode.AUTH, b"\0\0\0\0\0\0\0\4sasl\0\0\0\0", AUTH))
    assert error == -115
    with pytest.raises(ConnectionError):
        zk.raw.frame()


def test_what_is_not_served_gets_an_error_and_its_place_in_the_order(cluster: Served) -> None:
    zk = session(cluster)
    unknown = zk.send(18, b"\0\0\0\1/\0\0\0\1")
    last = zk.send(OpCode.EXISTS, b"\0\0\0\1/\0")
    assert zk.until(unknown)[0] == UNIMPLEMENTED
    assert zk.until(last)[0] == 0
    for path in ("mine", "/mine/", "//", "/a/../b", "/a\0b", ""):
        with refused_with(BAD_ARGUMENTS):
            zk.create(path)
    with refused_with(UNIMPLEMENTED):
        zk.create("/container", flags=4)
    with refused_with(NO_AUTH):
        zk.set("/controller_epoch", b"77")
    with refused_with(BAD_ARGUMENTS):
        zk.create("/admin/reassign_partitions", b"{")
    with refused_with(BAD_ARGUMENTS):
        zk.delete("/")
    assert (
        sum(f"from {zk.raw.socket.getsockname()[0]}:{zk.raw.socket.getsockname()[1]}" in x for x in cluster.lines) == 1
    )


def test_a_move_that_is_asked_for_in_the_znode_is_carried_out(cluster: Served) -> None:
    zk = session(cluster)
    assert zk.stat("/admin/reassign_partitions", watch=True) is None
    move = {"topic": "orders", "partition": 1, "replicas": [2, 0]}
    zk.create("/admin/reassign_partitions", json.dumps({"version": 1, "partitions": [move]}).encode())
    wait_for(lambda: zk.stat("/admin/reassign_partitions") is None, what="the move")
    found = json.loads(zk.get("/brokers/topics/orders") or b"")
    assert found["partitions"] == {"0": [0, 1], "1": [2, 0]}
    (moved,) = cluster.operate("state", partition="orders-1")["partitions"]
    assert (moved["replicas"], moved["leader"], sorted(moved["isr"])) == ([2, 0], 2, [0, 2])


def test_a_topic_that_is_written_is_created_configured_and_deleted(cluster: Served) -> None:
    zk = session(cluster)
    zk.create("/config/topics/made", b'{"version":1,"config":{"min.insync.replicas":"2"}}')
    zk.create("/brokers/topics/made", b'{"version":1,"partitions":{"0":[2,1]}}')
    path = "/brokers/topics/made/partitions/0/state"
    wait_for(lambda: zk.stat(path) is not None, what="the leader")
    assert json.loads(zk.get(path) or b"")["leader"] == 2
    zk.set("/config/topics/made", b'{"version":1,"config":{"retention.ms":"7000","of.no.release":"1"}}')
    zk.create("/config/changes/config_change_", b'{"version":2,"entity_path":"topics/made"}', flags=2)
    zk.create("/config/changes/config_change_", b'{"version":2,"entity_path":"clients/me"}', flags=2)
    zk.create("/admin/delete_topics/made", None)
    wait_for(lambda: zk.stat("/brokers/topics/made") is None, what="the deletion")


def test_a_client_written_for_real_zookeepers_agrees(cluster: Served) -> None:
    """The one that drives and records real clusters for the calibration."""
    _, port = cluster.run.zookeeper_connect.rsplit(":", 1)
    other = Session(int(port))
    other.open()
    other.write("/a/b/c", "text")
    other.create("/a/n", "", Session.SEQUENTIAL)
    assert other.children("/a") == ["b", "n0000000001"]
    assert other.get("/a/b/c") == "text"
    for path in ("/a/b/c", "/a/b", "/a/n0000000001", "/a"):
        other.delete(path)
    assert other.get("/a") is None


def test_a_cluster_of_2_7_has_its_features_and_their_version_in_registrations() -> None:
    with served({"profile": "kafka-2.7"}) as newer:
        zk = session(newer)
        assert zk.get("/feature") == WRITTEN_BY_2_7["/feature"]
        written = json.loads(WRITTEN_BY_2_7["/brokers/ids/1"])
        assert list(json.loads(zk.get("/brokers/ids/1") or b"")) == [key for key in written if key != "rack"]


def test_the_context_manager_for_tests_names_its_address() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with kafka(topics={"orders": [[0, 1, 2]]}, zookeeper_port=port) as server:
        assert server.zookeeper_connect == f"127.0.0.1:{port}"
        client = Session(port)
        client.open()
        assert client.children("/brokers/topics") == ["orders"]
