"""Both lags as signals on the grid of 100 ms, with values computed by hand."""

from __future__ import annotations

from typing import Any

import pytest

from emulator.protocol.events import BecameLeader, LeapBegan, Leapt, NodeCrashed, PartitionFailed
from tests.scenarios.observe.measures.streams import Stream


def started() -> Stream:
    """orders-0, leader 0, follower 1, empty; 1 fetches from 0."""
    stream = Stream()
    stream.topic("orders", {0: (0, 1)})
    stream.state(0, (0, 1))
    stream.loaded(0)
    stream.loaded(1)
    stream.fetching(1, 0)
    return stream


def signal(stream: Stream, node: int = 1) -> list[tuple[Any, ...]]:
    """(ms, held for ms, lag, true lag) of a follower."""
    rows = sorted(stream.rows("replica_lag"))
    return [(row.t_us / 1000, row.w_us / 1000, row.lag, row.true_lag) for row in rows if row.node == node]


def test_what_passes_between_two_instants_is_not_seen() -> None:
    stream = started()
    stream.at(110).append(0, 5, leader=True)
    stream.at(120).append(1, 5)
    stream.finish(1_000)
    assert signal(stream) == [(0, 1_000, 0, 0)]


def test_an_event_at_an_instant_belongs_to_it() -> None:
    stream = started()
    stream.at(300).append(0, 5, leader=True)
    stream.high_watermark(0, 5)
    stream.at(301).append(1, 5)
    found = stream.finish(1_000)
    assert signal(stream) == [(0, 300, 0, 0), (300, 100, 5, 5), (400, 600, 0, 0)]
    assert (found["lag_max"], found["true_lag_max"]) == (5, 5)
    assert (found["lag_p50"], found["lag_p95"]) == (0.0, 5.0)


def test_lag_counts_from_the_high_watermark_and_true_lag_from_the_log_end() -> None:
    stream = started()
    stream.at(50).append(0, 9, leader=True)
    stream.high_watermark(0, 4)
    stream.finish(500)
    assert signal(stream) == [(0, 100, 0, 0), (100, 400, 4, 9)]


def test_a_failed_partition_has_no_lag_and_a_true_one() -> None:
    stream = started()
    stream.at(150).emit(PartitionFailed, 1, "ReplicaFetcherThread-0-0", "orders", 0, 0, "corrupt", "CorruptBatch")
    stream.at(250).append(0, 7, leader=True)
    stream.high_watermark(0, 7)
    stream.at(450).fetching(1, 0)
    found = stream.finish(600)
    assert signal(stream) == [(0, 200, 0, 0), (200, 100, None, 0), (300, 200, None, 7), (500, 100, 7, 7)]
    assert found["lag_p95"] == 7.0


def test_without_a_leader_the_last_true_lag_is_kept() -> None:
    stream = started()
    stream.at(100).append(0, 3, leader=True)
    stream.at(200).state(-1, (0,), epoch=1)
    stream.at(300).append(1, 2)
    stream.finish(500)
    assert signal(stream) == [(0, 100, 0, 0), (100, 100, 0, 3), (200, 300, None, 3)]


def test_the_old_leader_becomes_a_follower_that_is_ahead() -> None:
    stream = started()
    stream.at(100).append(0, 8, leader=True)
    stream.at(150).emit(NodeCrashed, 0, 1, "process")
    stream.at(160).state(1, (1,), epoch=1)
    stream.emit(BecameLeader, 1, "orders", 0, 1, 0, 0, (), (), (), ())
    stream.finish(400)
    assert signal(stream) == [(0, 100, 0, 0), (100, 100, 0, 8)]
    assert signal(stream, node=0) == [(200, 200, None, 8)]


def test_a_replica_that_leaves_the_assignment_has_no_lag_any_more() -> None:
    stream = started()
    stream.at(250).topic("orders", {0: (0, 2)})
    stream.finish(500)
    assert signal(stream) == [(0, 300, 0, 0)]
    assert signal(stream, node=2) == [(300, 200, None, 0)]


def test_the_end_of_the_run_cuts_the_grid() -> None:
    stream = started()
    stream.at(510).append(0, 5, leader=True)
    stream.finish(550)
    assert signal(stream) == [(0, 550, 0, 0)]


def test_a_long_leap_is_written_in_parts_that_are_fine_enough_for_a_percentile() -> None:
    """A copy of 1,000,000 records in one leap of 500 s: its lag falls evenly, so its 95th percentile is the lag after
    5 % of the time, but for half a part."""
    stream = started()
    stream.at(100).append(0, 1_000_000, leader=True)
    stream.high_watermark(0, 1_000_000)
    stream.at(200).emit(LeapBegan, 100_000, 200_000)
    stream.at(500_200).append(1, 1_000_000)
    stream.emit(Leapt, 200_000, 0, "copy")
    found = stream.finish(500_300)
    for percent in (50, 95, 99):
        even = percent / 100 * 1_000_000
        assert found[f"true_lag_p{percent}"] == pytest.approx(even, rel=0.01), percent
    assert len(signal(stream)) <= 110


@pytest.mark.parametrize("then", ["another leap", "no fetch"])
def test_what_follows_a_leap_at_once_leaves_its_lags_even(then: str) -> None:
    """The rows of a leap are written at the next change of the partition. By then the copy may be fetched no more, or a
    leap without length has begun, as before each measured stretch."""
    stream = started()
    stream.at(100).append(0, 1_000_000, leader=True)
    stream.high_watermark(0, 1_000_000)
    stream.at(200).emit(LeapBegan, 100_000, 200_000)
    stream.at(500_150).append(1, 1_000_000)
    stream.emit(Leapt, 200_000, 0, "copy")
    if then == "another leap":
        stream.at(500_450).emit(LeapBegan, 100_000, 200_000)
    else:
        stream.fetching(1, -1)
    stream.at(500_700).append(0, 1_000_001, leader=True)
    found = stream.finish(500_800)
    for name in ("lag_p50", "true_lag_p50"):
        assert found[name] == pytest.approx(500_000, rel=0.01), name
