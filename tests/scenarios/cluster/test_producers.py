"""Producers on a whole cluster: acks 0, 1 and all, too small an ISR, a leader that dies."""

from typing import Any

import pytest

from emulator.protocol.events import Appended, LeaderElected, Produced
from scenarios.language import Scenario
from tests.scenarios.runs.building import HEAL, Played, Table, play, scenario

ACKS = {"0": 0, "1": 1, "all": -1}


def loaded(*method: Table, acks: str = "all", min_isr: int = 1, **more: Any) -> Scenario:
    """orders-0 on brokers 0, 1, 2, led by 0; a batch of 20 messages every 100 ms."""
    config = {"min.insync.replicas": min_isr, "replica.lag.time.max.ms": 4000}
    return scenario(
        brokers=4, controller=3, assignment=[[0, 1, 2]], method=method, acks=acks, config=config, horizon="2m", **more
    )


def idle(at: str = "5s") -> Table:
    """An entry without effect: the run goes on until its time."""
    return {"at": at, "action": "link.heal", "target": 3}


@pytest.mark.parametrize("acks", ACKS)
def test_acks(acks: str) -> None:
    """0 has its answer at once, 1 after a round trip, all after the followers' fetches."""
    played = play(loaded(idle(), acks=acks))
    produced = played.of(Produced)
    assert {(event.acks, event.error, event.attempts) for event in produced[1:]} == {(ACKS[acks], "NONE", 1)}
    latency_us = max(event.latency_us for event in produced[1:])
    low, high = {"0": (0, 0), "1": (700, 2_000), "all": (1_400, 10_000)}[acks]
    assert low <= latency_us <= high
    known = {event.base_offset >= 0 for event in produced}
    assert known == {acks != "0"}, "without a response the offset is unknown"


def test_too_small_an_isr_is_refused_and_tried_again() -> None:
    """Two of three are gone, min.insync.replicas is 2: nothing is appended until one is back, then everything."""
    gone = {"at": "3s", "action": "broker.stop", "target": [1, 2], "duration": "10s"}
    played = play(loaded(gone, min_isr=2, rollbacks=HEAL))
    assert played.run.passed, played.run.explanation
    appended = [event.t_us for event in played.of(Appended, lambda event: event.leader and event.id > 0)]
    assert [t_us for t_us in appended if 3_200_000 < t_us < 13_000_000] == []
    waited = played.of(Produced, lambda event: event.attempts > 10)
    assert waited != []
    assert {event.error for event in played.of(Produced)} == {"NONE"}
    assert all(event.t_us > 13_000_000 for event in waited)
    assert_whole(played)


@pytest.mark.parametrize("stops", [True, False])
def test_a_load_that_has_stopped_keeps_its_run_until_its_batches_have_a_fate(stops: bool) -> None:
    """Two of three are gone for good and min.insync.replicas is 2: what was sent last times out."""
    gone = {"at": "3s", "action": "broker.stop", "target": [1, 2]}
    load: Table = {"topic": "orders", "producerRate": 200, "config": {"delivery.timeout.ms": 40_000}}
    load["config"]["request.timeout.ms"] = 5_000
    if stops:
        load["stop"] = "4s"
    played = play(loaded(gone, min_isr=2, rate=0, workloads=[load]))
    expired = played.of(Produced, lambda event: event.outcome == "expired")
    if stops:
        assert max(event.t_us for event in expired) > 43_000_000
        assert played.stage.world.now < 50_000_000
        assert len(played.of(Produced)) == max(event.id for event in played.of(Produced))
    else:
        assert expired == []
        assert played.stage.world.now < 20_000_000


def test_acks_1_does_not_ask_for_an_isr() -> None:
    gone = {"at": "3s", "action": "broker.stop", "target": [1, 2], "duration": "10s"}
    played = play(loaded(gone, acks="1", min_isr=2, rollbacks=HEAL))
    assert {event.attempts for event in played.of(Produced)[1:]} == {1}


def test_a_leader_dies_and_the_producer_finds_the_next() -> None:
    """acks=all: what had no answer is sent again to the leader that metadata names; nothing is lost."""
    crash = {"at": "3s", "action": "broker.crash", "target": "leader(orders-0)", "duration": "15s"}
    played = play(loaded(crash, rollbacks=HEAL))
    assert played.run.passed, played.run.explanation
    assert [event.leader for event in played.of(LeaderElected)] == [0, 1]
    again = played.of(Produced, lambda event: event.attempts > 1)
    assert again != []
    assert {event.leader for event in again} == {1}
    assert {event.error for event in played.of(Produced)} == {"NONE"}
    assert_whole(played)


def assert_whole(played: Played) -> None:
    """Every batch that was closed was acknowledged or failed, except for the last few."""
    ids = [event.id for event in played.of(Produced)]
    assert sorted(ids) == ids or len(set(ids)) == len(ids)
    assert max(ids) - len(set(ids)) < 5


CUT = {"at": "3s", "action": "link.cut", "target": "leader(orders-0)", "peer": [1, 2]}
CRASH = {"after": "1s", "action": "broker.crash", "target": 0}


@pytest.mark.parametrize(("acks", "loses"), [("1", True), ("all", False)])
def test_what_acks_1_loses_acks_all_keeps(acks: str, loses: bool) -> None:
    """For a second the leader answers its producer while no follower can fetch, then it crashes. acks=1 does not
    promise that such records survive: the checker counts the loss, and reports no violation."""
    played = play(loaded(CUT, CRASH, acks=acks))
    assert played.run.violations == ()
    assert [event.leader for event in played.of(LeaderElected)] == [0, 1]
    kept = {event.id for event in played.of(Appended) if event.node in (1, 2)}
    lost = [e for e in played.of(Produced) if e.error == "NONE" and e.id not in kept and e.t_us < 5_000_000]
    assert bool(lost) is loses


def test_a_backlog_is_no_flood() -> None:
    """While the ISR stays too small, a few batches are retried; the others wait in the queue until they expire."""
    gone = {"at": "3s", "action": "broker.stop", "target": [1, 2]}
    played = play(loaded(gone, idle("100s"), min_isr=2))
    assert played.stage.world.events < 200_000
    assert {event.error for event in played.of(Produced)} == {"NONE"}, "nothing is given up before its time"
