"""S19: what a client had deleted is gone from each live replica when it gets its answer."""

from __future__ import annotations

import pytest

from emulator.protocol import events as e
from emulator.protocol.delete_records import DeletedRecords, DeleteRecordsRequest, DeleteRecordsResponse
from emulator.protocol.errors import Errors
from emulator.protocol.shown import DeletionExpired, DeletionWaits, RecordsDeleted
from emulator.trace.events import ZkWritten
from emulator.trace.shown_znodes import RequestAnswered
from scenarios.observe.checkers.deletions_complete import DeletionsComplete
from tests.scenarios.observe.checkers.test_led_in_time import Cluster
from tests.scenarios.observe.checkers.written_history import ORDERS_0, WrittenHistory


def deleted_at(*starts: int, offset: int = 5, low_watermark: int = 5, counted: tuple[int, ...] = (0, 1)) -> list[str]:
    """The violations, where the logs of brokers 0, 1, ... begin at ``starts``."""
    run = WrittenHistory(DeletionsComplete.name).begin()
    run.everywhere(0, 1)
    for broker, start in enumerate(starts):
        run.emit(e.LogStartMoved, broker, *ORDERS_0, start, "request")
    run.trace.show(RecordsDeleted, 0, *ORDERS_0, 1, offset, low_watermark, counted)
    return [violation.state for violation in run.violations()]


@pytest.mark.parametrize("starts", [(5, 5), (5, 7), (6, 5)])
def test_every_counted_replica_begins_there(starts: tuple[int, int]) -> None:
    assert deleted_at(*starts) == []


def test_one_that_is_down_is_not_counted() -> None:
    assert deleted_at(5, 0, counted=(0,)) == []


def test_one_that_begins_earlier_again_after_a_crash_has_begun_there() -> None:
    assert deleted_at(5, 5, 0) == []


@pytest.mark.parametrize(("starts", "low_watermark"), [((5, 4), 5), ((5, 5), 6), ((5, 5), 4)])
def test_a_replica_that_begins_before_the_offset_or_the_low_watermark(
    starts: tuple[int, int], low_watermark: int
) -> None:
    [state] = deleted_at(*starts, low_watermark=low_watermark)
    assert f"all replicas begin at {low_watermark}, asked for 5" in state


def timed_out(*starts: int, passed_s: int = 6) -> list[str]:
    """The violations, where a request to delete up to 5 times out after so long."""
    run = Cluster("deletions_complete")
    run.begin()
    for broker in (1, 2):
        run.follows(broker, 0, 0)
    run.everywhere(0, 1)
    run.passes(10)
    for broker, start in enumerate(starts):
        run.emit(e.LogStartMoved, broker, *ORDERS_0, start, "request")
    run.passes(passed_s)
    run.trace.show(DeletionExpired, 0, *ORDERS_0, 0, 5, (0, 1, 2))
    return [violation.state for violation in run.violations()]


def test_a_deletion_that_all_have_followed_does_not_time_out() -> None:
    [state] = timed_out(5, 5, 7)
    assert "the logs of [0, 1, 2] have begun there for 6" in state


@pytest.mark.parametrize(
    ("starts", "changes", "count"), [((5, 5, 7), False, 1), ((5, 5, 4), False, 0), ((5, 5, 7), True, 0)]
)
def test_a_deletion_that_all_have_followed_does_not_wait(
    starts: tuple[int, ...], changes: bool, count: int
) -> None:  # fmt: skip
    run = Cluster("deletions_complete")
    run.begin()
    run.assigned((0, 1, 2))
    for broker in (1, 2):
        run.follows(broker, 0, 0)
    run.everywhere(0, 1)
    run.passes(10)
    run.trace.show(DeletionWaits, 0, *ORDERS_0, 0, 5)
    for broker, start in enumerate(starts):
        run.emit(e.LogStartMoved, broker, *ORDERS_0, start, "request")
    if changes:
        run.emit(ZkWritten, 0, "delete", "/brokers/ids/4", 0, 5, "")
    run.passes(10)
    assert len(run.violations()) == count


@pytest.mark.parametrize(("starts", "passed_s"), [((5, 5, 4), 6), ((5, 5, 5), 4)])
def test_a_deletion_that_may_time_out(starts: tuple[int, ...], passed_s: int) -> None:
    assert timed_out(*starts, passed_s=passed_s) == []


@pytest.mark.parametrize(
    ("row", "waited_us", "count"),
    [
        ((5, Errors.NONE), 0, 0),
        ((4, Errors.NONE), 0, 1),
        ((6, Errors.NONE), 0, 1),
        ((3, Errors.REQUEST_TIMED_OUT), 1_000_000, 0),
        ((3, Errors.REQUEST_TIMED_OUT), 999_999, 1),
        ((-1, Errors.NOT_LEADER_FOR_PARTITION), 0, 0),
        ((5, Errors.NOT_LEADER_FOR_PARTITION), 0, 1),
        ((-1, Errors.OFFSET_OUT_OF_RANGE), 0, 1),
    ],
)
def test_the_answer_is_what_the_leader_has_found(row: tuple[int, Errors], waited_us: int, count: int) -> None:
    run = WrittenHistory(DeletionsComplete.name).begin()
    run.everywhere(0, 1)
    run.high_watermark(0, 10, leader=True)
    for broker in (0, 1):
        run.emit(e.LogStartMoved, broker, *ORDERS_0, 5, "request")
    run.trace.show(RecordsDeleted, 0, *ORDERS_0, 1, 5, 5, (0, 1))
    request = DeleteRecordsRequest(((ORDERS_0, 5),), 1_000_000)
    response = DeleteRecordsResponse((DeletedRecords(ORDERS_0, *row),))
    since_us = run.world.now - waited_us
    run.trace.show(RequestAnswered, 0, -9, request, response, since_us, True)
    assert len(run.violations()) == count


def test_a_deletion_that_no_leader_has_found() -> None:
    run = WrittenHistory(DeletionsComplete.name).begin()
    run.everywhere(0, 1)
    request = DeleteRecordsRequest(((ORDERS_0, 5),), 1_000_000)
    run.show(
        RequestAnswered, 0, -9, request, DeleteRecordsResponse((DeletedRecords(ORDERS_0, 5, Errors.NONE),)), 0, True
    )
    [violation] = run.violations()
    assert "broker 0, asked to delete before 5, answers after" in violation.state
    assert "with NONE and the low watermark 5" in violation.state


@pytest.mark.parametrize(("start", "happens", "count"), [(4, "", 1), (5, "", 0), (4, "leads", 0), (4, "throttled", 0)])
def test_a_follower_that_begins_before_its_leader(start: int, happens: str, count: int) -> None:
    run = Cluster("deletions_complete")
    run.begin()
    run.state(0, (0, 1), 0)
    run.leads(0, 0)
    run.follows(1, 0, 0)
    run.emit(e.FetchPosition, 1, *ORDERS_0, 0, 0, 0)
    run.everywhere(0, 1)
    run.passes(10)
    for broker, moved in enumerate((5, start)):
        run.emit(e.LogStartMoved, broker, *ORDERS_0, moved, "leader" if broker else "request")
    if happens == "leads":
        run.leads(1, 1)
        run.follows(0, 1, 1)
    elif happens == "throttled":
        run.emit(ZkWritten, 0, "setData", "/config/topics/orders", 0, 0, "throttled.replicas")
    run.passes(20)
    assert len(run.violations()) == count
