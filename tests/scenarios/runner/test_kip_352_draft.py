"""The gauges of KIP-352's draft on real brokers: replicas that only impend are not missed (readings, 8)."""

from typing import Any

from brokers.partition.kip_352_draft import reassigned, under_replicated
from emulator.protocol.events import MoveFinished, MoveStarted, ReplicasKnown
from scenarios.runner.runner import Stage
from tests.scenarios.runner.building import EXECUTE, TP, Played, Table, at_step, play, scenario

SAMPLE_US = 5_000
Samples = list[tuple[int, int, int]]
"""Time, partitions under-replicated by the draft, replicas being moved."""


def sampled(*method: Table, plan: tuple[int, ...] = (3, 4, 5), **more: Any) -> tuple[Played, Samples]:
    """A run, and the gauges over time."""
    samples: Samples = []

    def watch(stage: Stage) -> None:
        def sample(_: object) -> None:
            brokers = stage.cluster.brokers
            led = [b.replicas.partitions[TP] for b in brokers.values() if TP in b.replicas.partitions]
            samples.append((stage.world.now, sum(map(under_replicated, led)), sum(map(reassigned, led))))
            stage.world.call_later(SAMPLE_US, sample, None, True)

        stage.world.call_later(1_000_000, sample, None, True)

    more = {"profile": "kip-352-draft", "strategy": "wiki", "rate": 100, **more}
    return play(scenario(plan={0: plan}, method=method, **more), watch), samples


def test_through_a_move_of_all_three_replicas() -> None:
    """UnderReplicated stays 0, ReassignedCount goes from 3 to 0; the adopted gauge counts partitions, this one
    replicas. All assigned replicas are what Kafka up to 2.4 would have missed."""
    run, samples = sampled(EXECUTE, size="4MiB")
    assert run.run.verdict == "passed", run.run.explanation
    assert {urp for _, urp, _ in samples} == {0}
    counts = [count for _, _, count in samples]
    assert list(dict.fromkeys(counts)) == [0, 3]
    assert counts[-1] == 0
    assert run.run.metrics["under_replicated_assigned_s"] != 0
    known = [(event.current, event.impending) for event in run.of(ReplicasKnown)]
    assert known[0] == ((0, 1, 2), (3, 4, 5))
    assert known[-1] == ((0, 1, 2), (3, 4, 5))
    started, ended = run.of(MoveStarted)[0].t_us, run.of(MoveFinished)[0].t_us
    assert all(started < t_us < ended for t_us, _, count in samples if count)


def test_a_dead_current_replica_shows() -> None:
    crash: Table = {"at": "1500ms", "action": "broker.crash", "target": 2}
    _run, samples = sampled(crash, plan=(0, 1, 3), horizon="30s")
    assert samples[-1][1:] == (1, 0)


def test_a_dead_impending_replica_does_not() -> None:
    crash = at_step("move.start", "before", "broker.crash", target=3)
    run, samples = sampled(EXECUTE, crash, plan=(0, 1, 3), horizon="30s")
    assert run.run.reason == "unfinished"
    assert samples[-1][1:] == (0, 1)
    assert {urp for _, urp, _ in samples} == {0}


def test_other_profiles_know_no_difference() -> None:
    run, samples = sampled(EXECUTE, profile="kafka-2.3")
    assert run.of(ReplicasKnown) == []
    assert {count for _, _, count in samples} == {0}
