"""Random operations on all znodes of a cluster under load: the run goes on after each of them, and is replayed to the
same digest."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from scenarios.wire.recording.folder import read_live_run
from scenarios.wire.recording.replay import ReplayedRun
from tests.scenarios.wire.gateway.served import served
from tests.scenarios.wire.zookeeper.client import Refused, Zk, session
from tests.scenarios.wire.zookeeper.test_payloads import REFUSED, TAKEN

PROFILES = ("kafka-0.8", "kafka-1.1", "kafka-2.3", "kafka-2.4", "kafka-2.7")
TOPICS = ("orders", "payments", "none")
TABLE = {
    "topics": [{"name": "orders", "assignment": [[0, 1], [1, 2]]}, {"name": "payments", "assignment": [[0, 1, 2]]}],
    "workloads": [{"topic": "orders", "producerRate": 50}],
}
WRITTEN = [*TAKEN, *((path, text) for path, text, _code, _said in REFUSED)]


def below(zk: Zk, path: str = "/") -> Iterator[str]:
    """A znode and all below it, from the top."""
    yield path
    for name in zk.children(path):
        yield from below(zk, f"{path.rstrip('/')}/{name}")


def act(zk: Zk, draws: random.Random) -> None:
    """One operation, drawn."""
    replicas = [draws.sample([0, 1, 2], draws.randint(1, 3)) for _ in range(4)]
    path, (kafkas, text) = draws.choice(list(below(zk))), draws.choice(WRITTEN)
    match draws.randrange(7):
        case 0:
            zk.delete(path)
        case 1:
            for each in reversed(list(below(zk, path))):
                zk.delete(each)
        case 2:
            zk.set(path, text.encode())
        case 3:
            zk.create(kafkas, text.encode(), draws.choice([0, 0, 1]))
        case 4:
            zk.create(
                path.rstrip("/") + draws.choice(["/x", "/0", "/state", "/config_change_"]), b"", draws.randint(0, 3)
            )
        case 5:
            topic = f"/brokers/topics/{draws.choice(TOPICS)}"
            partitions = {str(number): each for number, each in enumerate(replicas)}
            data = json.dumps({"version": 1, "partitions": partitions}).encode()
            (zk.create if zk.stat(topic) is None else zk.set)(topic, data)
        case _:
            moves = [
                {"topic": draws.choice(TOPICS), "partition": n, "replicas": each} for n, each in enumerate(replicas)
            ]
            asked = draws.choice(["reassign_partitions", "preferred_replica_election"])
            zk.create(f"/admin/{asked}", json.dumps({"version": 1, "partitions": moves}).encode())


@pytest.mark.parametrize("seed", [*range(3), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(3, 60))])
def test_no_operation_stops_the_run(seed: int, tmp_path: Path) -> None:
    draws = random.Random(seed)
    table = {**TABLE, "seed": seed, "profile": draws.choice(PROFILES)}
    with served(table, rate=20.0, record=tmp_path / "run") as cluster:
        zk = session(cluster, time_out=40_000)
        for _ in range(draws.randrange(5, 25)):
            with suppress(Refused):
                act(zk, draws)
    assert not [line for line in cluster.lines if "defect" in line or "cannot be" in line]
    assert ReplayedRun(read_live_run(tmp_path / "run")).play().same
