"""T6: no time is longer than its process has lived, none is negative, and no gauge is."""

from __future__ import annotations

import pytest

from emulator.metrics.metric_events import GaugeSet, TimerUpdated
from emulator.protocol import events as e
from scenarios.observe.checkers.times_true import TimesTrue
from tests.scenarios.observe.checkers.written_history import WrittenHistory


@pytest.mark.parametrize(("waited_us", "violations"), [(-1, 1), (0, 0), (1000, 0), (1001, 1)])
def test_a_time_within_the_life_of_its_process(waited_us: int, violations: int) -> None:
    run = WrittenHistory(TimesTrue.name)
    run.world.now = 9_000_000
    run.emit(e.NodeStarted, 1, 2)
    run.emit(TimerUpdated, 1, "kafka.controller:type=T,name=QueueTimeMs", waited_us)
    assert len(run.violations()) == violations


@pytest.mark.parametrize(("value", "violations"), [(-1, 1), (0, 0), (7, 0)])
def test_a_gauge_that_is_not_negative(value: int, violations: int) -> None:
    run = WrittenHistory(TimesTrue.name)
    run.emit(GaugeSet, 1, "kafka.server:type=ReplicaManager,name=LeaderCount", value)
    assert len(run.violations()) == violations


@pytest.mark.parametrize(("lag", "violations"), [(-2, 1), (-1, 0), (0, 0)])
def test_a_lag_that_is_not_negative(lag: int, violations: int) -> None:
    """-1: the gauge was removed."""
    run = WrittenHistory(TimesTrue.name)
    run.emit(e.ConsumerLag, 1, "ReplicaFetcherThread-0-0", "orders", 0, lag)
    assert len(run.violations()) == violations


@pytest.mark.parametrize(("metric", "violations"), [("QueueTimeMs", 0), ("ControllerChangeRateAndTimeMs", 1)])
def test_a_wait_in_a_queue_by_a_clock_that_was_set(metric: str, violations: int) -> None:
    run = WrittenHistory(TimesTrue.name)
    run.emit(e.NodeStarted, 1, 2)
    run.emit(e.Fault, "broker.clock", "1,2", "step 8s")
    run.emit(TimerUpdated, 1, f"kafka.controller:type=T,name={metric}", 8_000_000)
    assert len(run.violations()) == violations


def timed(*names: str) -> list[str]:
    run = WrittenHistory(TimesTrue.name)
    for name in names:
        timer, _, request = name.partition(" ")
        run.emit(TimerUpdated, 1, f"kafka.network:type=RequestMetrics,name={timer},request={request}", 0)
    return [violation.state.rpartition("name=")[2] for violation in run.violations()]


def test_both_times_of_each_request() -> None:
    both = "RequestQueueTimeMs Produce", "LocalTimeMs Produce"
    assert timed(*both, "RequestQueueTimeMs Metadata", "LocalTimeMs Metadata", *both) == []
    assert timed("RequestQueueTimeMs Produce", *both) == ["LocalTimeMs,request=Produce"]
    assert timed(*both, "LocalTimeMs Produce") == ["RequestQueueTimeMs,request=Produce"]
    assert timed("RequestQueueTimeMs Fetch", "LocalTimeMs Produce") == ["RequestQueueTimeMs,request=Produce"]
