"""S16: retention deletes what is due, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from brokers.memories import NewestSegment
from emulator.protocol import events as e
from emulator.protocol.shown import RecordsTimed, Remembered, SegmentRolled
from emulator.protocol.znodes import BROKER_IDS, CONFIG_TOPICS, encode_config
from emulator.trace.events import ZkSession, ZkWritten
from scenarios.observe.checkers.segments_expire import SegmentsExpire
from scenarios.observe.history.settings_history import StartSettings
from tests.scenarios.observe.checkers.test_led_in_time import Cluster
from tests.scenarios.observe.checkers.written_history import ORDERS_0, WrittenHistory

SECOND = 1_000_000
BATCHES = 40
"""Batches of 100 bytes each, half a second apart."""


def run_with(**settings: Any) -> WrittenHistory:
    """A broker that leads and writes for 20 s, with these settings, and a check every second."""
    names = {name.replace("_", "."): value for name, value in settings.items()}
    start = StartSettings({"log.retention.check.interval.ms": 1000, "log.segment.bytes": 1000} | names)
    run = WrittenHistory(SegmentsExpire.name, start=start).begin((0,))
    for number in range(BATCHES):
        run.world.now = number * SECOND // 2
        run.append(0, 10 * number, number + 1, leader=True)
    return run


def moved(run: WrittenHistory, start: int, reason: str) -> list[str]:
    shown = run.emit(e.LogStartMoved, 0, *ORDERS_0, start, reason)
    violations = run.violations()
    assert all(violation.seq == shown.seq for violation in violations)
    return [violation.state.partition("deletes")[2] for violation in violations]


def test_what_is_older_than_retention_ms_may_go() -> None:
    assert moved(run_with(log_retention_ms=5_000), 290, "time") == []


def test_what_is_younger_may_not() -> None:
    expected = " what is before 300, of which the newest batch is 5.0 s old, and keeps 1000 bytes"
    assert moved(run_with(log_retention_ms=5_500), 300, "time") == [expected]


def test_a_batch_that_another_leader_appends_again_at_the_same_place_is_as_old_as_the_first() -> None:
    """The log of a leader that is not followed any more keeps its age."""
    run = run_with(log_retention_ms=5_000)
    run.append(1, 280, 29, leader=True)
    assert moved(run, 290, "time") == []


@pytest.mark.parametrize(("since_s", "may_go"), [(0, True), (59, True), (60, False)])
def test_a_value_that_two_changes_have_replaced_may_still_be_in_force(since_s: int, may_go: bool) -> None:
    """kafka-2.3, seed 45859: the broker is paused, and comes to both changes after a check."""
    run = run_with(log_retention_ms=50_000)
    path = f"{CONFIG_TOPICS}/orders"
    run.emit(ZkWritten, -2, "create", path, 0, 0, encode_config({"retention.ms": "5000"}))
    for retention_ms in ("100000", "200000"):
        run.emit(ZkWritten, -2, "setData", path, 0, 0, encode_config({"retention.ms": retention_ms}))
        if retention_ms == "100000":
            run.world.now += since_s * SECOND
    assert (moved(run, 290, "time") == []) == may_go


def test_as_much_as_is_left_above_retention_bytes_may_go() -> None:
    assert moved(run_with(log_retention_bytes=2_000), 200, "size") == []


def test_a_segment_more_may_not() -> None:
    assert len(moved(run_with(log_retention_bytes=2_000), 210, "size")) == 1


def test_in_a_run_in_which_a_clock_was_set_nothing_is_said() -> None:
    run = run_with(log_retention_ms=60_000)
    run.emit(e.Fault, "broker.clock", "0", "")
    assert moved(run, 300, "time") == []


@pytest.mark.parametrize(("opened", "violations"), [(True, 1), (False, 0)])
def test_what_is_too_old_does_not_stay_in_a_log_that_was_opened(opened: bool, violations: int) -> None:
    run = run_with(log_retention_ms=1_000)
    run.emit(e.NodeStarted, 0, 1)
    run.emit(ZkSession, 0, 1, "created")
    run.emit(ZkWritten, 0, "create", f"{BROKER_IDS}/0", 0, 0, "")
    run.assigned((0,))
    run.leads(0, 1, high_watermark=0, end=10 * BATCHES)
    run.high_watermark(0, 10 * BATCHES, leader=True)
    if not opened:
        run.emit(e.NodeCrashed, 0, 1, "process")
        run.emit(e.NodeStarted, 0, 2)
    for _ in range(40):
        run.world.now += SECOND
        run.checkers.look(run.world.now)
    assert len(run.violations()) == violations


@pytest.mark.parametrize(
    ("size", "age_us", "violations"),
    [(900, SECOND, 1), (901, SECOND, 0), (100, 2 * SECOND, 1), (100, 2 * SECOND + 1, 0)],
    ids=["room", "full", "just old enough to stay", "too old"],
)
def test_a_segment_rolls_when_it_is_full_or_too_old(size: int, age_us: int, violations: int) -> None:
    run = run_with(log_roll_ms=2_000)
    run.show(SegmentRolled, 0, *ORDERS_0, size, 100, age_us, 0, 9, 0)
    assert len(run.violations()) == violations


@pytest.mark.parametrize(
    ("batches", "size", "span_us", "violations"),
    [(2, 1_000, 2 * SECOND, 0), (2, 1_001, 0, 1), (1, 1_001, 0, 0), (2, 100, 2 * SECOND + 1, 1)],
    ids=["full", "too large", "one batch", "too old"],
)
def test_a_segment_has_no_more_than_fits(batches: int, size: int, span_us: int, violations: int) -> None:
    run = run_with(log_roll_ms=2_000)
    run.show(SegmentRolled, 0, *ORDERS_0, size, 100, 3 * SECOND, 0, batches, span_us)
    assert len(run.violations()) == violations


def test_the_newest_segment_has_no_more_than_fits() -> None:
    run = Cluster(SegmentsExpire.name, start=StartSettings({"log.segment.bytes": 1000}))
    run.passes(20)
    for size in (1_000, 1_001, 1_002):
        newest = {ORDERS_0: NewestSegment(2, size, run.world.now, SECOND)}
        run.show(Remembered, 0, "broker", "rest", {"newest": newest})
    assert len(run.violations()) == 1


def test_a_segment_may_be_as_large_as_it_could_be_when_its_last_batch_came() -> None:
    run = run_with(log_roll_ms=2_000)
    run.world.now = 300 * SECOND
    run.emit(ZkWritten, 0, "setData", f"{CONFIG_TOPICS}/orders", 1, 0, encode_config({"segment.bytes": "500"}))
    run.world.now += 100 * SECOND
    run.show(SegmentRolled, 0, *ORDERS_0, 900, 100, 110 * SECOND, 0, 9, SECOND)
    assert run.violations() == []
    run.show(SegmentRolled, 0, *ORDERS_0, 900, 100, 2 * SECOND, 0, 9, SECOND)
    assert len(run.violations()) == 1


def test_records_from_another_time_go_by_that() -> None:
    run = run_with(log_retention_ms=60_000)
    assert moved(run, 290, "time") != []
    other = run_with(log_retention_ms=60_000)
    other.show(RecordsTimed, 0, *ORDERS_0, 3_600 * SECOND)
    assert moved(other, 290, "time") == []


@pytest.mark.parametrize(("older_us", "violations"), [(400_000, 1), (600_000, 0)])
def test_a_record_may_be_older_than_its_append(older_us: int, violations: int) -> None:
    """kafka-2.4, seed 204: records of transactions have the time at which their producer made them."""
    run = run_with(log_retention_ms=5_500)
    run.show(RecordsTimed, 0, *ORDERS_0, older_us)
    assert len(moved(run, 300, "time")) == violations
