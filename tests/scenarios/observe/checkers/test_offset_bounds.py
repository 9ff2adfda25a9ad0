"""S7: log start, high watermark, log end, in this order."""

from collections.abc import Callable
from typing import Any

import pytest

from emulator.protocol import events as e
from scenarios.observe.checkers.offset_bounds import OffsetBounds
from tests.scenarios.observe.checkers.written_history import ORDERS_0, WrittenHistory

BROKEN: dict[str, Callable[[WrittenHistory], Any]] = {
    "loaded behind the end": lambda run: run.loaded(3, 10, 20),
    "loaded before the start": lambda run: run.emit(e.LogLoaded, 3, *ORDERS_0, 10, 20, 5),
    "leads behind the end": lambda run: run.leads(0, 1, 20, 10),
    "follows behind the end": lambda run: run.follows(1, 0, 1, 20, 10),
    "truncates and keeps it": lambda run: run.truncated(1, 0, 1, 10),
    "moves behind the end": lambda run: run.high_watermark(0, 20, leader=True),
    "moves below zero": lambda run: run.high_watermark(0, -1, leader=True),
}


@pytest.mark.parametrize("act", BROKEN.values(), ids=BROKEN)
def test_a_high_watermark_outside_its_log(act: Callable[[WrittenHistory], Any]) -> None:
    run = WrittenHistory(OffsetBounds.name).begin()
    run.everywhere(0, 1)
    shown = act(run)
    [violation] = run.violations()
    assert violation.seq == shown.seq


def test_a_high_watermark_before_a_log_that_begins_later() -> None:
    run = WrittenHistory(OffsetBounds.name).begin()
    run.truncated(1, 500, 1, 500)
    run.high_watermark(1, 500)
    run.high_watermark(1, 10)
    [violation] = run.violations()
    assert violation.state.endswith("when its high watermark moves: log start 500, high watermark 10, log end 500")


def test_a_log_that_begins_above_its_high_watermark() -> None:
    run = WrittenHistory(OffsetBounds.name).begin()
    run.everywhere(0, 1)
    run.high_watermark(0, 5, leader=True)
    run.emit(e.LogStartMoved, 0, *ORDERS_0, 5, "time")
    shown = run.emit(e.LogStartMoved, 0, *ORDERS_0, 6, "time")
    [violation] = run.violations()
    assert violation.seq == shown.seq


def test_high_watermarks_within_their_logs() -> None:
    run = WrittenHistory(OffsetBounds.name).begin()
    run.everywhere(0, 1)
    run.high_watermark(0, 10, leader=True)
    run.high_watermark(1, 10)
    run.truncated(1, 0, 1, 0)
    run.leads(0, 1, 10, 10)
    run.loaded(2, 10, 5)
    assert run.violations() == []


def test_a_log_that_is_cut_below_its_start_begins_there() -> None:
    """Log.truncateTo, 2.3. A crash of the machine had left an empty log that began at 500."""
    run = WrittenHistory(OffsetBounds.name).begin()
    run.truncated(1, 500, 1, 500)
    run.truncated(1, 0, 2, 0)
    run.append(1, 0, 1)
    run.high_watermark(1, 10)
    assert run.violations() == []


def replaced(run: WrittenHistory, start: int) -> None:
    run.emit(e.LogReplaced, 1, *ORDERS_0, "/data/0", "/data/1", 100)
    run.emit(e.LogStartMoved, 1, *ORDERS_0, start, "copy")


def test_a_copy_that_begins_later_than_the_log_that_it_replaces() -> None:
    for start, found in ((10, []), (20, []), (30, ["offset_bounds"])):
        run = WrittenHistory("offset_bounds")
        run.loaded(1, 100, 100)
        run.emit(e.LogStartMoved, 1, *ORDERS_0, 20, "time")
        replaced(run, start)
        assert run.invariants() == found


def test_a_crash_may_take_back_where_a_log_began() -> None:
    """kafka-2.7, seed 1: its leader's log begins at 20, and so does the copy. Before its retention has begun, which
    would have deleted what is below that, the broker is killed."""
    for start, deleted, found in ((20, False, []), (21, False, ["offset_bounds"]), (20, True, ["offset_bounds"])):
        run = WrittenHistory("offset_bounds")
        run.loaded(1, 100, 100)
        run.emit(e.LogStartMoved, 1, *ORDERS_0, 20, "leader")
        if deleted:
            run.emit(e.ReplicaStopped, 1, *ORDERS_0, True)
        run.emit(e.LogLoaded, 1, *ORDERS_0, 10, 100, 100)
        replaced(run, start)
        assert run.invariants() == found
        replaced(run, start + 1)
        assert run.invariants() == [*found, "offset_bounds"]
