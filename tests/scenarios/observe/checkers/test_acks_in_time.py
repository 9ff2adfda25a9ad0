"""S17: a producer does not wait for what is replicated."""

from __future__ import annotations

import pytest

from emulator.protocol import events as e
from emulator.protocol.shown import ProduceExpired, ProducersLeft, ProduceTimedOut
from scenarios.observe.checkers.acks_in_time import AcksInTime
from scenarios.observe.history.settings_history import StartSettings
from tests.scenarios.observe.checkers.written_history import ORDERS_0, WrittenHistory


@pytest.mark.parametrize(
    ("acks", "end", "violations"),
    [(-1, 30, 0), (-1, 20, 1), (2, 20, 1), (3, 20, 0), (2, 30, 0)],
    ids=["not committed", "committed", "on two", "too few in sync", "counted, not committed"],
)
def test_a_batch_that_waits_until_the_time_is_over(acks: int, end: int, violations: int) -> None:
    run = WrittenHistory(AcksInTime.name)
    run.loaded(0)
    run.emit(e.BecameLeader, 0, *ORDERS_0, 0, 0, 0, (0, 1), (0, 1), (), ())
    run.append(0, 0, 1, leader=True)
    run.append(0, 10, 2, leader=True)
    run.append(0, 20, 3, leader=True)
    run.high_watermark(0, 20, leader=True)
    run.show(ProduceExpired, 0, acks, ((ORDERS_0, end),))
    assert len(run.violations()) == violations


def test_a_high_watermark_within_a_batch() -> None:
    """The logs of leader and followers have parted: the batch is not committed."""
    run = WrittenHistory(AcksInTime.name)
    run.loaded(0)
    run.emit(e.BecameLeader, 0, *ORDERS_0, 0, 0, 0, (0, 1), (0, 1), (), ())
    run.append(0, 0, 1, leader=True)
    run.append(0, 10, 2, leader=True)
    run.high_watermark(0, 13, leader=True)
    run.show(ProduceExpired, 0, -1, ((ORDERS_0, 20),))
    assert run.violations() == []


def test_a_shorter_batch_in_the_place_of_one_that_was_cut_off() -> None:
    """A leader of kafka-0.8 follows for a while and leads again (seed 10135): what waits does so for its own end."""
    run = WrittenHistory(AcksInTime.name)
    run.loaded(0)
    run.emit(e.BecameLeader, 0, *ORDERS_0, 0, 0, 0, (0, 1), (0, 1), (), ())
    run.append(0, 0, 1, leader=True)
    run.high_watermark(0, 10, leader=True)
    run.show(ProduceExpired, 0, -1, ((ORDERS_0, 15),))
    assert run.violations() == []


@pytest.mark.parametrize("answers", [True, False])
def test_what_waits_at_a_broker_that_follows_now(answers: bool) -> None:
    run = WrittenHistory(AcksInTime.name, start=StartSettings(demotion_answers=answers))
    run.begin()
    run.append(0, 0, 1, leader=True)
    run.follows(0, 1, 1)
    run.show(ProduceExpired, 0, -1, ((ORDERS_0, 10),))
    wanted = "orders-0: a batch up to 10 waits for acks=-1 until its time is over at broker 0, which follows now"
    assert [violation.state for violation in run.violations()] == ([wanted] if answers else [])


def test_a_leader_that_leads_no_more_says_nothing() -> None:
    run = WrittenHistory(AcksInTime.name)
    run.loaded(0, 30, 30)
    run.show(ProduceExpired, 0, -1, ((ORDERS_0, 20),))
    assert run.violations() == []


@pytest.mark.parametrize("answers", [True, False])
def test_a_stopped_replica_leaves_no_producer_waiting(answers: bool) -> None:
    run = WrittenHistory(AcksInTime.name, start=StartSettings(stop_answers=answers))
    run.show(ProducersLeft, 0, *ORDERS_0, 2)
    wanted = "orders-0: 2 batches wait at broker 0, whose replica was stopped, for no answer"
    assert [violation.state for violation in run.violations()] == ([wanted] if answers else [])


@pytest.mark.parametrize(("waited_us", "violations"), [(30_000_000, 0), (30_400_000, 0), (29_999_999, 1)])
def test_a_request_times_out_when_its_time_is_over(waited_us: int, violations: int) -> None:
    run = WrittenHistory(AcksInTime.name)
    run.begin()
    run.show(ProduceTimedOut, -1, 0, waited_us, 30_000_000)
    assert len(run.violations()) == violations
