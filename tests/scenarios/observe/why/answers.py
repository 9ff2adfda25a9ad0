"""Answers about runs of the library, kept in ``answers.txt``.

``python -m tests.scenarios.observe.why.answers`` renews them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from emulator.protocol.types import TopicPartition
from scenarios.language import Scenario
from scenarios.language.topic_spec import split_partition
from scenarios.observe.why.answer import Answer
from scenarios.observe.why.batches import batch
from scenarios.observe.why.leader_reasons import leader
from scenarios.observe.why.move_reasons import move
from scenarios.observe.why.partition_past import PartitionPast
from scenarios.observe.why.replica_reasons import replica
from scenarios.runs import run_scenario
from tests.scenarios.determinism.digests import LIBRARY

GOLDEN = Path(__file__).with_name("answers.txt")


class Case(NamedTuple):
    """A question about a moment of a library run."""

    name: str
    at_s: float
    ask: Callable[[PartitionPast], Answer]
    changes: str = ""


CHANGES: dict[str, dict[str, object]] = {
    "": {},
    "a short delivery.timeout.ms": {
        "workloads[0].config": {"delivery.timeout.ms": 40_000, "request.timeout.ms": 5_000}
    },
    "min.insync.replicas=3, no retries": {
        "cluster.config": {"min.insync.replicas": 3, "replica.lag.time.max.ms": 10_000},
        "workloads[0].config": {"retries": 0},
        "expect": [],
        "steady_state": [],
    },
    "broker 1 starts without its log directory": {
        "cluster.log_dirs": 2,
        "method": [
            {"at": "5s", "action": "broker.crash", "target": 1},
            {"after": "1s", "action": "log_dir.offline", "target": 1, "log_dir": "/data/0"},
            {"after": "1s", "action": "broker.start", "target": 1},
        ],
        "expect": [],
        "steady_state": [],
    },
    "KIP-455": {"strategy": {"name": "kip-455"}},
    "100 s of it": {
        "horizon": "101s",
        "method": [{"at": "30s", "action": "reassign.execute", "throttle": "5MB/s"}],
        "expect": [],
    },
}

CASES = (
    Case("follower-cut-off", 30, partial(replica, broker=1)),
    Case("follower-cut-off", 41.5, partial(replica, broker=1)),
    Case("follower-cut-off", 44, partial(replica, broker=1)),
    Case("follower-cut-off", 44, partial(replica, broker=3)),
    Case("follower-cut-off", 30, batch, "min.insync.replicas=3, no retries"),
    Case("follower-cut-off", 20, partial(replica, broker=1), "broker 1 starts without its log directory"),
    Case("kip-461-one-partition-fails", 23, partial(replica, broker=1)),
    Case("kip-461-thread-dies", 40, partial(replica, broker=1)),
    Case("leader-dies-mid-move", 8, leader),
    Case("leader-dies-mid-move", 8, move),
    Case("leader-dies-mid-move", 8, partial(replica, broker=3)),
    Case("leader-dies-mid-move", 12.2, move, "KIP-455"),
    Case("controller-dies-mid-move", 6, move),
    Case("kafka-42-replica-never-starts", 20, move),
    Case("kafka-42-replica-never-starts", 30, move),
    Case("broker-loses-its-network", 25, leader),
    Case("broker-loses-its-network", 25, partial(replica, broker=0)),
    Case("rolling-restart", 40, leader),
    Case("unclean-election", 60, leader),
    Case("unclean-election", 120, leader),
    Case("unclean-election", 120, partial(replica, broker=0)),
    Case("unclean-election", 105, batch, "a short delivery.timeout.ms"),
    Case("unclean-election", 120, partial(batch, number=40)),
    Case("throttled-move-stands-still", 35, partial(replica, broker=4), "100 s of it"),
    Case("throttled-move-stands-still", 100, move, "100 s of it"),
)


@cache
def events(name: str, changes: str) -> list[Any]:
    """The events of a library run."""
    found: list[Any] = []
    scenario = Scenario.load(LIBRARY / f"{name}.toml").with_overrides(CHANGES[changes])
    run_scenario(scenario, on_event=found.extend)
    return found


def asked(case: Case) -> Answer:
    """The answer about ``orders-0``."""
    past = PartitionPast(
        events(case.name, case.changes), TopicPartition.of(*split_partition("orders-0")), round(case.at_s * 1e6)
    )
    return case.ask(past)


def lines() -> Iterator[str]:
    for case in CASES:
        yield f"== {case.name}" + (f", {case.changes}" if case.changes else "")
        yield from asked(case).lines()
        yield ""


def text() -> str:
    return "\n".join(lines())


if __name__ == "__main__":
    GOLDEN.write_text(text())
