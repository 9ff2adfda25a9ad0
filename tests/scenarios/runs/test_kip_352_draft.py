"""The gauges of KIP-352's draft on real brokers: replicas that only impend are not missed (readings §8)."""

from typing import Any

from emulator.metrics.metric_events import GaugeSet
from emulator.protocol.events import ImpendingReplicasReceived, MoveFinished, MoveStarted
from tests.scenarios.runs.building import EXECUTE, Played, Table, at_step, play, scenario


def played(*method: Table, plan: tuple[int, ...] = (3, 4, 5), **more: Any) -> Played:
    more = {"profile": "kip-352-draft", "strategy": "wiki", "rate": 100, **more}
    return play(scenario(plan={0: plan}, method=method, **more))


def gauge(run: Played, name: str) -> list[GaugeSet]:
    """Every change of a broker's gauge."""
    return run.of(GaugeSet, lambda event: event.metric.endswith(f"name={name}"))


def values(run: Played, name: str) -> list[int]:
    return [event.value for event in gauge(run, name)]


def test_through_a_move_of_all_three_replicas() -> None:
    """UnderReplicated stays 0, ReassignedCount goes from 3 to 0; the adopted gauge counts partitions, this one
    replicas. All assigned replicas are what Kafka up to 2.4 would have missed."""
    run = played(EXECUTE, size="4MiB")
    assert run.run.verdict == "passed", run.run.explanation
    assert values(run, "UnderReplicatedPartitions") == []
    assert values(run, "ReassignedCount") == [3, 0]
    assert run.run.metrics["under_replicated_assigned_s"] != 0
    known = [(event.current, event.impending) for event in run.of(ImpendingReplicasReceived)]
    assert known[0] == ((0, 1, 2), (3, 4, 5))
    assert known[-1] == ((0, 1, 2), (3, 4, 5))
    started, ended = run.of(MoveStarted)[0].t_us, run.of(MoveFinished)[0].t_us
    rise, fall = gauge(run, "ReassignedCount")
    assert started < rise.t_us < fall.t_us < ended + 5_000, "the old leader learns of its end last"


def test_a_dead_current_replica_shows() -> None:
    crash: Table = {"at": "1500ms", "action": "broker.crash", "target": 2}
    run = played(crash, plan=(0, 1, 3), horizon="30s")
    assert values(run, "UnderReplicatedPartitions") == [1]
    assert values(run, "ReassignedCount") == []


def test_a_dead_impending_replica_does_not() -> None:
    crash = at_step("move.start", "before", "broker.crash", target=3)
    run = played(EXECUTE, crash, plan=(0, 1, 3), horizon="30s")
    assert run.run.reason == "unfinished"
    assert values(run, "ReassignedCount") == [1]
    assert values(run, "UnderReplicatedPartitions") == []


def test_the_adopted_gauge_counts_partitions() -> None:
    run = played(EXECUTE, profile="kafka-2.5", strategy="kip-455", size="4MiB")
    assert values(run, "ReassigningPartitions")[0] == 1
    assert values(run, "ReassigningPartitions")[-1] == 0
    assert values(run, "UnderReplicatedPartitions") == []


def test_up_to_2_4_a_move_that_grows_the_assignment_shows() -> None:
    run = played(EXECUTE, profile="kafka-2.4", strategy="kip-455", size="4MiB")
    assert max(values(run, "UnderReplicatedPartitions")) == 1


def test_other_profiles_know_no_difference() -> None:
    run = played(EXECUTE, profile="kafka-2.3")
    assert run.of(ImpendingReplicasReceived) == []
    assert gauge(run, "ReassignedCount") == gauge(run, "ReassigningPartitions") == []
