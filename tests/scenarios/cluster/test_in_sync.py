"""The in-sync set of a partition on a whole cluster: which replicas leave, when, and how the controller learns of
it."""

from typing import Any

import pytest

from emulator.protocol.events import ControlRequest, IsrChanged, IsrUpdateFailed, LeaderElected
from emulator.trace.events import ZkWritten
from scenarios.language import Scenario
from tests.scenarios.runs.building import HEAL, Table, play, scenario

CUT_US = 10_000_000


def cluster(*method: Table, lag_ms: int = 10_000, **more: Any) -> Scenario:
    """orders-0 on brokers 0, 1, 2, led by 0; broker 3 is controller."""
    config = {"replica.lag.time.max.ms": lag_ms}
    return scenario(brokers=4, controller=3, assignment=[[0, 1, 2]], method=method, config=config, **more)


@pytest.mark.parametrize("lag_ms", [2_000, 10_000])
@pytest.mark.parametrize("seed", range(3))
def test_a_cut_follower_leaves_and_comes_back(lag_ms: int, seed: int) -> None:
    """It leaves after one to one and a half of replica.lag.time.max.ms: isr-expiration looks twice in that time."""
    cut = {"at": "10s", "action": "link.cut", "target": 1, "duration": "30s"}
    played = play(cluster(cut, lag_ms=lag_ms, seed=seed))
    shrunk, expanded = played.of(IsrChanged)
    assert (shrunk.kind, shrunk.isr) == ("shrink", (0, 2))
    assert 1.0 <= (shrunk.t_us - CUT_US) / (lag_ms * 1000) <= 1.5
    assert (expanded.kind, sorted(expanded.isr)) == ("expand", [0, 1, 2])
    assert 40 < expanded.t_us / 1e6 < 45
    assert played.run.passed, played.run.explanation


def test_the_controller_learns_of_it() -> None:
    """Through /isr_change_notification; it sends UpdateMetadata to all brokers and deletes the znode."""
    cut = {"at": "10s", "action": "link.cut", "target": 1, "duration": "30s"}
    played = play(cluster(cut))
    written = played.of(ZkWritten, lambda event: event.path.startswith("/isr_change_notification/isr_change_"))
    assert [(event.client, event.op) for event in written[:2]] == [(0, "create"), (3, "delete")]
    created, deleted = written[:2]
    shrunk = played.of(IsrChanged)[0]
    assert 5.0 <= (created.t_us - shrunk.t_us) / 1e6 <= 7.6, "5 s without a change, looked for each 2.5 s"
    told = [
        event.broker
        for event in played.of(ControlRequest)
        if event.api == "UpdateMetadata" and created.t_us < event.t_us < deleted.t_us + 10_000
    ]
    assert sorted(told) == [0, 1, 2, 3]


def test_an_idle_partition_never_shrinks() -> None:
    """No follower is behind where nothing is written (KAFKA-7152), however long the links are cut."""
    cut = {"at": "10s", "action": "link.cut", "target": 1, "duration": "60s"}
    played = play(cluster(cut, rate=0))
    assert played.of(IsrChanged) == []
    assert sorted(played.state().isr) == [0, 1, 2]


def test_until_2_1_a_silent_follower_leaves_also_where_nothing_is_written() -> None:
    """It comes back with the first fetch that reaches its leader again (Partition.getOutOfSyncReplicas, 1.1.1)."""
    cut = {"at": "10s", "action": "link.cut", "target": 1, "duration": "60s"}
    played = play(cluster(cut, rate=0, profile="kafka-1.1"))
    shrunk, expanded = played.of(IsrChanged)
    assert (shrunk.kind, shrunk.isr) == ("shrink", (0, 2))
    assert 1.0 <= (shrunk.t_us - CUT_US) / 10_000_000 <= 1.5
    assert (expanded.kind, sorted(expanded.isr)) == ("expand", [0, 1, 2])
    assert 70 < expanded.t_us / 1e6 < 74


@pytest.mark.parametrize(("lag_ms", "by_leader"), [(2_000, ["shrink"]), (30_000, [])])
def test_a_dead_follower_does_not_come_back_by_what_it_had_fetched(lag_ms: int, by_leader: list[str]) -> None:
    """Its leader takes it out of the ISR, or the controller does. That its last fetch was at the end says nothing after
    that."""
    crash = {"at": "10s", "action": "broker.crash", "target": 1, "kind": "host"}
    played = play(cluster(crash, rate=0, lag_ms=lag_ms, profile="kafka-1.1", horizon="60s"))
    assert [event.kind for event in played.of(IsrChanged)] == by_leader
    assert sorted(played.state().isr) == [0, 2]


def test_until_2_1_followers_that_are_dropped_while_their_fetch_waits_come_back_with_the_next_one() -> None:
    """The leader's clock jumps after the last batch: to it, both followers were caught up too long ago. The answers to
    the fetches that wait then bring a high watermark, and the next fetches bring nothing new."""
    jump = {"at": "10s", "action": "broker.clock", "target": 0, "step": "20s"}
    load = {"topic": "orders", "producerRate": 100, "stop": "10s"}
    played = play(cluster(jump, lag_ms=1_000, rate=0, workloads=(load,), profile="kafka-1.1", horizon="20s"))
    shrunk, *expanded = played.of(IsrChanged)
    assert (shrunk.kind, shrunk.isr) == ("shrink", (0,))
    assert [event.kind for event in expanded] == ["expand", "expand"]
    assert sorted(played.state().isr) == [0, 1, 2]


def test_a_zombie_leader_fails_to_write_its_isr() -> None:
    """Cut off from the other brokers it does not learn of its successor; its conditional write meets BADVERSION."""
    cut = {"at": "10s", "action": "link.cut", "target": 0}
    expire = {"at": "11s", "action": "zk.expire", "target": 0}
    heal = {"at": "60s", "action": "link.heal", "target": 0}
    played = play(cluster(cut, expire, heal, rollbacks=HEAL))
    assert played.run.violations == (), played.run.explanation
    failed = played.of(IsrUpdateFailed)
    assert {(event.node, event.leader_epoch) for event in failed} == {(0, 0)}
    assert [event.leader for event in played.of(LeaderElected)] == [0, 1]
    assert failed[0].t_us > played.of(LeaderElected)[-1].t_us
    assert (played.state().leader, sorted(played.state().isr)) == (1, [0, 1, 2])
