"""A leap of one tick: it comes to the state that the simulated tick comes to."""

from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest
from attrs import define, field
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from emulator.protocol.types import TopicPartition
from scenarios.runs.leaping.arrival import arrive
from scenarios.runs.leaping.followed import FetchedReplica, followed, running
from scenarios.runs.leaping.quiet import QuietCluster
from scenarios.runs.runner import Stage, conclude
from tests.scenarios.runs.building import EXECUTE, scenario

S = 1_000_000
QUIET_FROM_US = 3 * S + 20_000


@define(eq=False)
class OneTick:
    """A run that is made quiet, passes one tick of its producers, and is made quiet again.

    Attributes:
        leaps: whether it leaps over the tick.
        first: the partitions that are brought to now before the others, as where a leap stays open; None: none is.
        offsets: where copies are after it; None: where their fetches bring them.
    """

    stage: Stage
    leaps: bool
    first: tuple[TopicPartition, ...] | None = None
    offsets: dict[Any, int] | None = None
    before: dict[str, Any] = field(factory=dict)
    after: dict[str, Any] = field(factory=dict)
    known: dict[str, int] = field(factory=dict)
    quotas: list[Any] = field(factory=list)
    quiet: QuietCluster = field(init=False)

    def play(self) -> "OneTick":
        self.quiet = QuietCluster(self.stage.cluster, 10_000)
        self.stage.world.call_later(QUIET_FROM_US, self._after_a_tick, None, True)
        self.stage.play()
        run, _figures = conclude(self.stage, self.stage.scenario, 0.0)
        assert not run.violations, run.explanation
        return self

    def _quiet(self, then: Callable[[], object]) -> None:
        self.quiet.begin(then, pytest.fail)

    def _after_a_tick(self, _: Any) -> None:
        """Begin just after a tick: begun later, the cluster can be quiet only after the next one was due, and a leap
        would bring two."""
        self.stage.world.call_at(self._producer._due_us + 1, self._begin, None, True)

    @property
    def _producer(self) -> Any:
        (producer,) = self.stage.cluster.producers
        return producer

    def _begin(self, _: Any) -> None:
        self._quiet(self._first)

    def _first(self) -> None:
        world, due_us = self.stage.world, self._producer._due_us
        assert world.now < due_us, "no tick has been missed yet"
        self.before = state_of(self.stage)
        then_us = due_us + self._producer._tick_us // 2
        if self.leaps:
            for quota in quotas_of(self.stage):
                quota.hold(world.now)
            self.quotas = [[list(sample) for sample in quota._samples] for quota in quotas_of(self.stage)]
            self.stage.world.call_at(then_us, self._leapt, world.now, True)
        else:
            self.quiet.release_readers()
            self.quiet.release_load()
            self.stage.world.call_at(then_us, self._again, None, True)

    def _leapt(self, since_us: int) -> None:
        fetched = followed(self.stage.cluster)
        offsets = self.offsets or {}

        def target(each: FetchedReplica, end: int) -> int:
            return offsets.get((*each.key,), each.state.offset)

        if self.first is not None:
            before = state_of(self.stage)
            arrive(self.stage.cluster, fetched, self.quiet.producers, 1 << 20, target, only=self.first)
            changed = {
                name.split(" on ")[0] for name, value in state_of(self.stage).items() if before.get(name) != value
            }
            assert {name for name in changed if name.startswith("orders-")} == set(map(str, self.first))
        arrive(self.stage.cluster, fetched, self.quiet.producers, 1 << 20, target)
        now = self.stage.world.now
        for quota, before in zip(quotas_of(self.stage), self.quotas, strict=True):
            quota.release(now)
            assert quota._samples == [[begin + now - since_us, size] for begin, size in before]
        self.quiet.release_readers()
        self._quiet(self._last)

    def _again(self, _: Any) -> None:
        self._quiet(self._last)

    def _last(self) -> None:
        self.after, self.known = state_of(self.stage), known_of(self.stage)
        self.quiet.release_readers()
        self.quiet.release_load()


def quotas_of(stage: Stage) -> list[Any]:
    return [
        quota
        for broker in running(stage.cluster)
        for throttle in (broker.quotas.leader, broker.quotas.follower)
        for quota in throttle.quotas
    ]


def state_of(stage: Stage) -> dict[str, Any]:
    """The state that a leap has to bring: logs, high watermarks of leaders, positions, clients. What a leader knows of
    a copy is not in it, nor a follower's high watermark (``known_of``): the next fetch and its answer say that."""
    cluster, found = stage.cluster, dict[str, Any]()
    for broker in running(cluster):
        node = broker.process.node.id
        for tp, partition in broker.replicas.partitions.items():
            batches = [(b.base_offset, b.next_offset, b.leader_epoch, b.size, b.id) for b in partition.log.batches]
            remotes = {n: remote.log_end_offset for n, remote in partition.remotes.items() if n in partition.isr}
            committed = partition.high_watermark if partition.is_leader else None
            found[f"{tp} on {node}"] = committed, batches, remotes, partition.isr
        for thread in broker.replicas.fetchers.threads.values():
            found[f"{node} from {thread.leader}"] = {tp: state.offset for tp, state in thread.states.items()}
    for number, producer in enumerate(cluster.producers):
        numbered = producer._idempotence
        sequences = {} if numbered is None else {tp: (s.next, s.acked) for tp, s in numbered._partitions.items()}
        found[f"producer {number}"] = producer._next_id, producer._owed, deepcopy(producer._partitioner), sequences
    for number, consumer in enumerate(cluster.consumers):
        positions = consumer._positions.values()
        found[f"consumer {number}"] = {p.tp: (p.offset, p.offset_epoch, p.high_watermark) for p in positions}
    return found


def known_of(stage: Stage) -> dict[str, int]:
    """The high watermarks of followers. A leap brings those of their leaders; without a message, a tick may not."""
    return {
        f"{tp} on {broker.process.node.id}": partition.high_watermark
        for broker in running(stage.cluster)
        for tp, partition in broker.replicas.partitions.items()
        if not partition.is_leader
    }


CASES = st.fixed_dictionaries(
    {
        "partitions": st.integers(1, 5),
        "rate": st.integers(1, 3_000),
        "acks": st.sampled_from(["all", "1", "0"]),
        "throttle": st.sampled_from(["", "+throttle-1MB", "+throttle-50MB"]),
        "idempotent": st.booleans(),
        "keys": st.sampled_from([{}, {"keys": 7}, {"keys": 20, "key_skew": 1.2}]),
        "message": st.sampled_from(["100B", "1000B", "20KB"]),
        "consumer": st.booleans(),
    }
)
EXAMPLE = {
    "partitions": 3, "rate": 2_000, "acks": "all", "throttle": "+throttle-1MB", "idempotent": True, "keys": {},
    "message": "1000B", "consumer": True,
}  # fmt: skip


def stage_of(case: dict[str, Any]) -> Stage:
    idempotent = case["idempotent"] and case["acks"] == "all"
    load = {
        "topic": "orders", "producerRate": case["rate"], "messageSize": case["message"], "acks": case["acks"],
        "linger": "50ms", "config": {"enable.idempotence": True} if idempotent else {}, **case["keys"],
    }  # fmt: skip
    replicas = [[n % 3, (n + 1) % 3] for n in range(case["partitions"])]
    wanted = scenario(
        brokers=5, controller=4, assignment=replicas, size="200MiB", rate=0, horizon="5s",
        strategy="wiki" + (case["throttle"] or "+throttle-2MB"), plan={0: [0, 3]}, method=[EXECUTE],
        workloads=[load], consumers=[{"topic": "orders"}] if case["consumer"] else [],
    )  # fmt: skip
    return Stage(wanted)


@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
@given(CASES)
@example(EXAMPLE)
@example(
    {**EXAMPLE, "partitions": 2, "rate": 1, "throttle": "", "idempotent": False, "keys": {"keys": 20, "key_skew": 1.2}}
)
@example({**EXAMPLE, "partitions": 1, "message": "20KB"})
@example(
    {**EXAMPLE, "partitions": 1, "message": "20KB", "rate": 1_398, "acks": "0", "throttle": "", "keys": {"keys": 7}}
)
def test_a_leap_of_one_tick_comes_to_the_same_state(case: dict[str, Any]) -> None:
    simulated = OneTick(stage_of(case), leaps=False).play()
    copies = {
        (int(place.split()[0]), tp): offset
        for place, offsets in simulated.after.items()
        if " from " in place
        for tp, offset in offsets.items()
    }
    leapt = OneTick(stage_of(case), leaps=True, offsets=copies).play()
    assert leapt.before == simulated.before
    assert simulated.after
    assert leapt.after == simulated.after
    assert leapt.after != leapt.before or case["rate"] < 20
    assert all(leapt.known[name] >= known for name, known in simulated.known.items())


def test_partitions_that_wait_come_to_the_same_state() -> None:
    simulated = OneTick(stage_of(EXAMPLE), leaps=False).play()
    copies = {
        (int(place.split()[0]), tp): offset
        for place, offsets in simulated.after.items()
        if " from " in place
        for tp, offset in offsets.items()
    }
    first = (TopicPartition.of("orders", 0),)
    leapt = OneTick(stage_of(EXAMPLE), leaps=True, first=first, offsets=copies).play()
    assert leapt.after == simulated.after
