"""E10: what a broker finds as it opens its logs again, and what of them is flushed."""

from __future__ import annotations

from typing import Any

import pytest

from brokers.memories import LogFlushed
from emulator.protocol import events as e
from emulator.protocol.shown import SegmentRolled, SegmentsDeleted
from emulator.protocol.znodes import delete_topic_path
from emulator.trace.events import ZkWritten
from scenarios.observe.history.settings_history import StartSettings
from tests.scenarios.observe.checkers.test_led_in_time import Cluster
from tests.scenarios.observe.checkers.test_left_at_rest import logs, rests
from tests.scenarios.observe.checkers.written_history import ORDERS_0


def written() -> Cluster:
    """Broker 1 has 40 records, of which 30 are committed; its newest segment begins at 20. All that is 20 s ago."""
    run = Cluster("logs_reload")
    run.loaded(1)
    run.follows(1, 0, 0)
    for number in range(4):
        run.append(1, 10 * number, number + 1)
        if number == 1:
            run.show(SegmentRolled, 1, *ORDERS_0, 200, 100, 0, 20, 2, 0)
    run.high_watermark(1, 30)
    run.passes(20)
    return run


def opened_again(run: Cluster, kind: str, start: int, end: int, high_watermark: int) -> list[str]:
    run.emit(e.NodeCrashed, 1, 0, kind)
    run.emit(e.NodeStarted, 1, 1)
    run.emit(e.LogLoaded, 1, *ORDERS_0, start, end, high_watermark)
    return [violation.state for violation in run.violations()]


@pytest.mark.parametrize(
    ("kind", "end", "high_watermark", "found"),
    [
        ("process", 40, 30, []),
        ("process", 30, 30, ["the end of its process with the end 30; it has to be 40"]),
        ("stop", 40, 20, ["a clean stop with the high watermark 20; it has to be 30"]),
        ("host", 20, 20, []),
        ("host", 10, 10, ["a crash of its machine with the end 10; it has to be 20 to 40"]),
    ],
)
def test_the_end_and_the_high_watermark(kind: str, end: int, high_watermark: int, found: list[str]) -> None:
    expected = [f"orders-0: broker 1 opens the log after {one}" for one in found]
    assert opened_again(written(), kind, 0, end, high_watermark) == expected


@pytest.mark.parametrize(("stops", "end", "count"), [("stop", 40, 0), ("stop", 30, 1), ("process", 30, 0)])
def test_a_clean_stop_flushes_all(stops: str, end: int, count: int) -> None:
    run = written()
    assert opened_again(run, stops, 0, 40, 30) == []
    assert len(opened_again(run, "host", 0, end, 30)) == count


@pytest.mark.parametrize(("kind", "moves", "count"), [("process", False, 1), ("process", True, 0), ("stop", True, 1)])
def test_a_checkpoint_needs_its_time(kind: str, moves: bool, count: int) -> None:
    run = written()
    if moves:
        run.high_watermark(1, 40)
    assert len(opened_again(run, kind, 0, 40, 0)) == count


@pytest.mark.parametrize(("later_s", "start", "count"), [(0, 10, 0), (0, 5, 1), (70, 10, 1), (70, 15, 0), (0, 20, 1)])
def test_the_start(later_s: int, start: int, count: int) -> None:
    """Its first segment begins at 10, and a client has deleted the records before 15."""
    run = written()
    run.show(SegmentsDeleted, 1, *ORDERS_0, 10)
    run.emit(e.LogStartMoved, 1, *ORDERS_0, 15, "request")
    run.passes(later_s)
    assert len(opened_again(run, "process", start, 40, 30)) == count


@pytest.mark.parametrize("happens", ["recovered", "opened by none", "deleted", "directory failed", "stalled", "paused"])
def test_what_explains_another_log(happens: str) -> None:
    run, end = written(), 40
    if happens == "directory failed":
        run.emit(e.LogDirFailed, 1, "/data/0", "full", 1)
        end = 0
    elif happens == "stalled":
        run.fault("disk.delay", "1")
    elif happens == "paused":
        run.fault("broker.pause", "1")
        run.high_watermark(1, 40)
        run.passes(10)
    run.emit(e.NodeCrashed, 1, 0, "process")
    run.emit(e.NodeStarted, 1, 1)
    if happens == "recovered":
        end = 30
        run.emit(e.LogRecovered, 1, *ORDERS_0, 30, 1, "corrupt")
    elif happens == "opened by none":
        end = 20
        run.emit(e.NodeCrashed, 1, 1, "host")
    elif happens == "deleted":
        run.emit(ZkWritten, 0, "create", delete_topic_path("orders"), 0, 0, "")
        end = 0
    run.emit(e.NodeStarted, 1, 2)
    run.emit(e.LogLoaded, 1, *ORDERS_0, 0, end, 0 if happens in ("stalled", "paused", "deleted") else min(30, end))
    assert run.violations() == []


@pytest.mark.parametrize(
    ("durable", "recovery_point", "found"),
    [
        (20, 20, None),
        (40, 20, None),
        (10, 20, "remembers as flushed of end: 10; a fresh process has 20 or more"),
        (20, 30, "remembers as flushed of recovery point: 30; a fresh process has 20 to 20"),
        (40, 10, "remembers as flushed of recovery point: 10; a fresh process has 20 to 40"),
    ],
)
def test_what_is_flushed(durable: int, recovery_point: int, found: str | None) -> None:
    run = written()
    run.loaded(0)
    run.show(SegmentRolled, 0, *ORDERS_0, 200, 100, 0, 20, 2, 0)
    memories: dict[str, Any] = logs(flushed={ORDERS_0: LogFlushed(20, durable, recovery_point, 40)})
    shown = rests(run, 2, memories)
    assert shown[:1] == ([f"orders-0: broker 0 {found}"] if found else [])


@pytest.mark.parametrize(("messages", "durable", "count"), [(None, 20, 0), (10, 31, 0), (10, 30, 1), (1, 40, 0)])
def test_what_flush_messages_lets_wait(messages: int | None, durable: int, count: int) -> None:
    brokers = {} if messages is None else {"log.flush.interval.messages": messages}
    run = Cluster("logs_reload", start=StartSettings(brokers=brokers))
    run.passes(20)
    memories = logs(flushed={ORDERS_0: LogFlushed(20, durable, 20, 40)})
    assert len(rests(run, 2, memories)) == count
