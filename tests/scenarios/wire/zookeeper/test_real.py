"""The served ZooKeeper beside a real one: the same operations, drawn at random, get the same answers and notifications.

python -m pytest -m java tests/scenarios/wire/zookeeper/test_real.py
"""

from __future__ import annotations

import random
import socket
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from scenarios.wire.zookeeper.jute_records import OpCode
from tests.scenarios.wire.gateway.served import LIMIT_S, Raw, Served, served, wait_for
from tests.scenarios.wire.java.jars import JAVA_OPTIONS, ZOOKEEPER_ERA, class_path_with_zookeeper
from tests.scenarios.wire.zookeeper.client import SET_WATCHES, Refused, Zk, created

pytestmark = [pytest.mark.java, pytest.mark.slow]

SEEDS, STEPS = 60, 60
PATHS = ("/t/d", "/t/d/a", "/t/d/b", "/t/d/a/x", "/t/d/a/y", "/t/e", "/t/d/a/x/deep")
ODD = ("t", "/t/", "//", "/t/../t/e", "/t/./d", "/t/d\0")
SERVER = "org.apache.zookeeper.server.ZooKeeperServerMain"
SAME = ("version", "cversion", "aversion", "data_length", "num_children")
"""Fields of a stat that two servers have alike; times and transactions are their own."""


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Iterator[int]:
    """The port of a real ZooKeeper, 3.5.9."""
    try:
        jars = class_path_with_zookeeper(ZOOKEEPER_ERA[-1])
    except LookupError as missing:
        pytest.skip(str(missing))
    folder: Path = tmp_path_factory.mktemp("zookeeper")
    port = _free_port()
    config = folder / "zoo.cfg"
    config.write_text(
        f"tickTime=2000\ndataDir={folder}\nclientPort={port}\nclientPortAddress=127.0.0.1\nadmin.enableServer=false\n"
    )
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(["java", *JAVA_OPTIONS, "-cp", jars, SERVER, str(config)], stdout=log, stderr=log)
        try:
            wait_for(lambda: _open(port, 2.0) or process.poll() is not None, what="ZooKeeper")
            assert process.poll() is None
            yield port
        finally:
            process.terminate()
            process.wait(LIMIT_S)


def _free_port() -> int:
    """Below those that the system gives to clients: one that tries to connect could else be given this one, and talk to
    itself."""
    for port in range(21_810, 32_000):
        with socket.socket() as free, suppress(OSError):
            free.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no port is free")


@pytest.fixture(scope="module")
def emulated() -> Iterator[Served]:
    with served({}) as cluster:
        yield cluster


def _open(port: int, limit_s: float = LIMIT_S) -> Zk | None:
    """A session; None where there is no server yet, or one that starts and says nothing."""
    with suppress(OSError):
        client = Zk(Raw(socket.create_connection(("127.0.0.1", port), limit_s)))
        client.greet(time_out=30_000)
        return client
    return None


def opened(port: int) -> Zk:
    client = _open(port)
    assert client is not None
    return client


def drawn(draws: random.Random) -> tuple[OpCode, dict[str, Any]]:
    """An operation."""
    path = draws.choice(ODD) if draws.random() < 0.05 else draws.choice(PATHS)
    version = draws.choice((-1, -1, 0, 1))
    data = draws.choice((None, b"", b"text", b"\xff\0", "Jörg".encode()))
    code = draws.choice(
        (OpCode.CREATE, OpCode.CREATE, OpCode.CREATE2, OpCode.DELETE, OpCode.SET_DATA, OpCode.GET_DATA, OpCode.EXISTS,
         OpCode.GET_CHILDREN, OpCode.GET_CHILDREN2, OpCode.GET_ACL, OpCode.SYNC)
    )  # fmt: skip
    match code:
        case OpCode.CREATE | OpCode.CREATE2:
            return code, created(path, data, draws.choice((0, 0, 1, 2, 3)))
        case OpCode.DELETE:
            return code, {"path": path, "version": version}
        case OpCode.SET_DATA:
            return code, {"path": path, "data": data, "version": version}
        case OpCode.GET_ACL | OpCode.SYNC:
            return code, {"path": path}
    return code, {"path": path, "watch": draws.random() < 0.5}


def answer(client: Zk, draws: random.Random) -> Any:
    """The result of the drawn operation."""
    if draws.random() < 0.2:
        # Not CREATE2, which no client sends in a multi, and which a real server may answer as CREATE.
        writes = (OpCode.CREATE, OpCode.DELETE, OpCode.SET_DATA)
        ops = [op for op in (drawn(draws) for _ in range(6)) if op[0] in writes and op[1]["path"] not in ODD]
        ops.append((OpCode.CHECK, {"path": draws.choice(PATHS), "version": draws.choice((-1, 0, 1))}))
        return [each if isinstance(each, int) else (each[0], plain(each[1], client)) for each in client.multi(*ops)]
    code, body = drawn(draws)
    try:
        return code, body["path"], plain(client.ask(code, **body), client)
    except Refused as refused:
        # Of a path that cannot be, ZooKeeper looks for the parent first. Its clients send none.
        creates = body["path"] in ODD and code in (OpCode.CREATE, OpCode.CREATE2)
        return code, body["path"], "refused" if creates else refused.code


def plain(body: Any, client: Zk) -> Any:
    """A body without what is each server's own. The order of children says nothing in ZooKeeper."""
    found = dict(body)
    if "stat" in found:
        stat = found["stat"]
        found["stat"] = {name: stat[name] for name in SAME} | {
            "owned": stat["ephemeral_owner"] and (stat["ephemeral_owner"] == client.session),
            "unchanged": stat["czxid"] == stat["mzxid"],
            "childless": stat["czxid"] == stat["pzxid"],
        }
    if "children" in found:
        found["children"] = sorted(found["children"])
    return found


def played(port: int, seed: int) -> list[Any]:
    """The answers and notifications of a run of drawn operations, by two sessions that end at times."""
    draws, clients, seen = random.Random(seed), [opened(port), opened(port)], list[Any]()
    clients[0].create("/t")
    for _ in range(STEPS):
        at = draws.randrange(2)
        if draws.random() < 0.05:
            clients[at] = resumed(clients[at], clients[1 - at], draws, port)
        elif draws.random() < 0.04:
            clients[at].close()
            clients[at] = opened(port)
        else:
            seen.append((at, answer(clients[at], draws)))
        for client in clients:
            client.stat("/")
        seen.append([client.events.copy() for client in clients])
    for path in sorted(["/t", *below(clients[0], "/t")], key=len, reverse=True):
        clients[0].delete(path)
    for client in clients:
        client.close()
    return seen


def resumed(client: Zk, other: Zk, draws: random.Random, port: int) -> Zk:
    """A session on another connection, after which its watches are armed again; meanwhile the other one goes on."""
    client.raw.socket.close()
    for _ in range(3):
        answer(other, draws)
    again = Zk(Raw(socket.create_connection(("127.0.0.1", port), LIMIT_S)), client.session, client.password)
    assert again.greet(time_out=30_000, last_zxid_seen=client.zxid)["session_id"] == client.session
    again.events = client.events
    data, exist, children = (draws.sample(PATHS, draws.randint(0, 4)) for _ in range(3))
    again.ask(
        OpCode.SET_WATCHES, SET_WATCHES, relative_zxid=client.zxid, data_watches=data, exist_watches=exist,
        child_watches=children,
    )  # fmt: skip
    return again


def below(zk: Zk, path: str) -> Iterator[str]:
    for name in zk.children(path):
        yield f"{path}/{name}"
        yield from below(zk, f"{path}/{name}")


@pytest.mark.parametrize("seed", range(SEEDS))
def test_a_real_zookeeper_answers_the_same(real: int, emulated: Served, seed: int) -> None:
    port = int(emulated.run.zookeeper_connect.rpartition(":")[2])
    for ours, theirs in zip(played(port, seed), played(real, seed), strict=True):
        assert ours == theirs
