"""A stand-in for the emulator: events drawn from a seed, measured as a run's would be, without an emulator's costs."""

from __future__ import annotations

import json
import os
import random
import signal
import time
from collections.abc import Mapping, Sequence
from typing import Any

from attrs import evolve, frozen

from emulator.metrics.metric_events import MeterMarked, MetricRegistered
from emulator.protocol import events as e
from emulator.protocol.api import control_apis
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import CONTROLLER_EPOCH
from emulator.trace.events import Step
from scenarios.observe.measures.broker_traffic import METERS
from scenarios.runs.dataset.run_record import RunRecord, RunSpec
from scenarios.studies.design import Design
from tests.scenarios.observe.measures.streams import Stream

STRATEGIES = ("wiki", "kafka-6794")
NODES = (0, 1, 2, 3, 4)
PARTITIONS = (TopicPartition("orders", 0), TopicPartition("orders", 1), TopicPartition("tax", 0))


@frozen
class SyntheticScenario:
    """The parts of a scenario that ``sweep`` needs.

    ``steps``: events per run; ``spin_s``: time a run takes on the wall; ``fails_at``: a seed that breaks;
    ``kills_at``: a seed that kills the process which runs it.
    """

    steps: int = 60
    spin_s: float = 0.0
    fails_at: int = -1
    kills_at: int = -1
    title: str = "synthetic"
    profile: str = "kafka-2.3"
    source: str = "synthetic.toml"

    def to_table(self) -> dict[str, Any]:
        return {"steps": self.steps, "spin_s": self.spin_s, "fails_at": self.fails_at, "kills_at": self.kills_at}

    def digest(self) -> str:
        return f"synthetic-{self.steps}-{self.spin_s}-{self.fails_at}-{self.kills_at}"

    def for_run(
        self,
        *,
        strategy: str | None = None,
        profile: str | None = None,
        changes: Mapping[str, object] | None = None,
    ) -> SyntheticScenario:
        changed: dict[str, Any] = {key: int(str(value)) for key, value in (changes or {}).items()}
        return evolve(self, **changed)


def synthetic_design(seeds: Sequence[int], strategies: Sequence[str] = STRATEGIES, **options: Any) -> Design:
    """Every strategy over every seed of a ``SyntheticScenario`` with these options."""
    return Design.of(SyntheticScenario(**options), seeds=seeds, strategies=strategies)


def run_record(spec: RunSpec) -> RunRecord:
    """The runner that tests name."""
    table = json.loads(spec.scenario)
    if spec.seed == table["fails_at"]:
        raise ValueError(f"seed {spec.seed} is out of luck")
    if spec.seed == table["kills_at"]:
        os.kill(os.getpid(), signal.SIGKILL)
    end = time.monotonic() + table["spin_s"]
    record = random_run(spec, random.Random(f"{spec.arm.name}/{spec.seed}"), table["steps"])
    while time.monotonic() < end:  # in place of work: it must keep the executor busy
        pass
    return record


def random_run(spec: RunSpec, draw: random.Random, steps: int) -> RunRecord:
    """A run of ``steps`` random events, senseless as a cluster's history and therefore hard on measures."""
    stream = Stream(min_isr={"orders": 2}, default_min_isr=1)
    t_us = 0
    for _ in range(steps):
        t_us += draw.choice((0, 0, 1, 999, 50_000, 100_000, 130_001, 2_000_000))
        random_event(stream.at(t_us / 1000), draw)
    t_us += draw.choice((0, 1, 70_000, 5_000_000))
    figures = stream.finish(t_us / 1000)
    return RunRecord(
        spec=spec,
        verdict="passed",
        reason="",
        digest=stream.trace.digest(),
        virtual_us=t_us,
        events=stream.trace.seq,
        figures=figures,
        tables=stream.measures.tables(),
    )


def random_event(stream: Stream, draw: random.Random) -> None:
    node, tp, offset = draw.choice(NODES), draw.choice(PARTITIONS), draw.randrange(40)
    replicas = tuple(draw.sample(NODES, draw.randint(1, 4)))
    actions: list[tuple[Any, ...]] = [
        (e.Appended, node, *tp, draw.random() < 0.4, 0, offset, offset + 3, 1, 100),
        (e.HighWatermark, node, *tp, True, 0, offset),
        (e.LogLoaded, node, *tp, 0, offset, offset),
        (e.Truncated, node, *tp, 0, offset, offset),
        (e.BecameLeader, node, *tp, 0, offset, offset, (), (), (), ()),
        (e.BecameFollower, node, *tp, 0, 1, offset, offset),
        (e.FetchPosition, node, *tp, 0, 0, offset - 3),
        (e.PartitionFailed, node, "ReplicaFetcherThread-0-0", *tp, 0, "corrupt", "CorruptBatch"),
        (e.PartitionFailureCleared, node, *tp, "epoch"),
        (e.ReplicaStopped, node, *tp, draw.random() < 0.5),
        (e.NodeCrashed, node, 1, "process"),
        (e.NodeStarted, node, 2),
        (e.ControllerElected, node, 1),
        (e.ControllerResigned, node, 1),
        (e.IsrChanged, node, *tp, 0, draw.choice(("shrink", "expand")), replicas, 3),
        (e.IsrUpdateFailed, node, *tp, 0),
        (e.LeaderElected, *tp, node, 1, replicas, draw.choice(("new", "offline")), 1, draw.random() < 0.3),
        (e.Produced, -2, *tp, 7, draw.choice((0, 1, -1)), draw.choice(("NONE", "NONE", "REQUEST_TIMED_OUT")), 0, 3, 1,
         draw.randrange(1, 90_000), 1, draw.choice(("acked", "expired"))),
        (e.Unfinished, -2, *tp, 9, draw.choice((0, -1)), draw.randrange(1, 90_000), draw.choice((0, 1))),
        (e.PositionReset, -1_000_000, *tp, -1, offset, "start"),
        (e.Consumed, -1_000_000, *tp, offset, offset + 2, (1,), node, 0, offset + 5),
        (e.ConsumerFailed, -1_000_000, *tp, offset, "truncated"),
        (e.ControlRequest, draw.choice([api.name for api in control_apis()]), 0, node, 1, 1, offset, ""),
        (Step, "wiki.2", draw.choice(("before", "after")), *tp, node, 0, 0, ""),
        (Step, draw.choice(("wiki.2", "wiki.3", "wiki.11")), "after", *tp, -1, 0, node, ""),
        (MeterMarked, node, draw.choice(tuple(METERS)), 1_000 * stream.trace.seq, 0),  # which only grows
        (MetricRegistered, node, "meter", draw.choice(tuple(METERS))),
        (e.MoveAnswered, *tp, draw.choice(("NONE", "INVALID_REPLICA_ASSIGNMENT"))),
        (e.Violated, "one-leader-per-epoch", "two of them"),
        (e.AckedLost, *tp, draw.choice((-1, 1)), False, draw.random() < 0.3, 1 + offset % 3, offset, 7, offset, offset,
         node, 1, offset),
        (e.Fault, draw.choice(("broker.crash", "link.cut", "heal", "reassign.execute")), "1", ""),
        (e.FetcherStarted, node, "ReplicaFetcherThread-0-0", 1),
        (e.FetcherStopped, node, "ReplicaFetcherThread-0-0", 1, "idle", "", -1, ""),
    ]  # fmt: skip
    kind = draw.randrange(len(actions) + 16)
    if kind < len(actions):
        stream.emit(*actions[kind])
    elif kind < len(actions) + 6:
        isr = tuple(node for node in replicas if draw.random() < 0.7)
        stream.state(draw.choice((-1, *replicas)), isr, tp=tp)
    elif kind < len(actions) + 10:
        other = tuple(draw.sample(NODES, 3))
        stream.topic(tp.topic, {0: replicas, 1: other} if tp.topic == "orders" else {0: replicas})
    elif kind < len(actions) + 13:
        stream.move(replicas, tp)
    elif kind < len(actions) + 14:
        stream.moved(tp)
    elif kind < len(actions) + 15:
        if tp.topic == "orders":
            stream.move(replicas, tp)
            stream.topic(tp.topic, dict.fromkeys((0, 1), replicas))
            stream.moved(tp)
    else:
        stream.write(CONTROLLER_EPOCH, "1")
