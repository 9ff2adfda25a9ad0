"""Batches, bytes, steps and lags, from rows written by hand."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as F
from pyspark.testing import assertDataFrameEqual

from scenarios.studies.spark.aggregations.burrow import status_of_followers, time_in_status
from scenarios.studies.spark.aggregations.control_plane import steps_again
from scenarios.studies.spark.aggregations.lag import lag_percentiles, lags
from scenarios.studies.spark.aggregations.moves import bytes_moved, move_counts
from scenarios.studies.spark.aggregations.producers import batches, errors_by_code, gaps, latencies, longest_gap
from scenarios.studies.spark.aggregations.traffic import peaks
from tests.scenarios.studies.spark.aggregations.rows import RUN, table, values

pytestmark = pytest.mark.spark


def batch(t_s: float, latency_s: float, error: str = "NONE", **other: Any) -> dict[str, Any]:
    """A row of ``produce``: a batch whose outcome came at ``t_s``."""
    t_us, latency_us = round(t_s * 1_000_000), round(latency_s * 1_000_000)
    outcome = "acked" if error == "NONE" else "expired"
    usual = {"seq": t_us, "t_us": t_us, "latency_us": latency_us, "acks": -1, "outcome": outcome, "error": error}
    return {**usual, **other}


def test_the_outcomes_of_batches_and_the_gaps_between_them(spark: SparkSession) -> None:
    rows = table(
        spark,
        "produce",
        batch(1, 0.01),
        batch(40, 30, "REQUEST_TIMED_OUT"),
        batch(45, 2, acks=0, outcome="sent"),
        batch(71, 20),
        batch(80, 3),
        batch(3, 2, partition=1),
        batch(60, 55, partition=1, outcome="unfinished"),
    )
    assertDataFrameEqual(gaps(rows).select("partition", "gap_us"), [values(0, 61_000_000), values(1, 55_000_000)])
    assertDataFrameEqual(longest_gap(rows), [Row(run_id=RUN, longest_gap_us=61_000_000)])
    assertDataFrameEqual(errors_by_code(rows), [Row(run_id=RUN, error="REQUEST_TIMED_OUT", batches=1)])
    counted = batches(rows, table(spark, "leaps")).select(
        "acked_batches", "failed_batches", "unfinished_batches", "unfinished_wait_us",
        "failed_batches_request_timed_out", "failed_batches_not_enough_replicas",
    )  # fmt: skip
    assertDataFrameEqual(counted, [values(4, 1, 1, 55_000_000, 1, 0)])


def test_batches_of_leaps_are_acknowledged(spark: SparkSession) -> None:
    leaps = table(
        spark,
        "leaps",
        {"t_us": 1, "w_us": 10, "batches": 7},
        {"t_us": 11, "w_us": 5, "batches": 2},
        {"t_us": 1, "w_us": 5, "batches": 9, "run_id": "none but leaps"},
    )
    counted = batches(table(spark, "produce", batch(1, 0.01)), leaps).select("run_id", "acked_batches")
    assertDataFrameEqual(counted, [values(RUN, 10), values("none but leaps", 9)])


def test_percentiles_of_latencies(spark: SparkSession) -> None:
    rows = table(spark, "produce", *(batch(n, n / 1_000_000) for n in range(1, 1002)))
    found = {"run_id": RUN, "produce_p50_us": 501.0, "produce_p99_us": 991.0, "produce_p999_us": 1000.0}
    for w_us in (0, 10):
        leaps = table(spark, "leaps", {"t_us": 1, "w_us": w_us, "batches": 7})
        assertDataFrameEqual(latencies(rows, leaps), [Row(**found, produce_max_us=1001)])


def test_a_median_between_two_groups_is_null_after_leaps(spark: SparkSession) -> None:
    rows = table(spark, "produce", *(batch(n, 0.01 if n <= 52 else 0.02) for n in range(1, 101)))
    for w_us, median in ((0, 10_000.0), (10, None)):
        leaps = table(spark, "leaps", {"t_us": 1, "w_us": w_us, "batches": 7})
        assertDataFrameEqual(latencies(rows, leaps).select("run_id", "produce_p50_us"), [values(RUN, median)])


def test_latencies_of_a_stretch_have_the_weight_of_its_leaps(spark: SparkSession) -> None:
    rows = table(spark, "produce", *(batch(n, n / 1_000_000) for n in range(1, 1002)))
    stretch = {"stretch_us": 500_000, "stretch_until_us": 1_500_000}  # with the first batch alone
    leaps = table(spark, "leaps", {"t_us": 2_000_000, "w_us": 10**12, **stretch}, {"t_us": 1, "w_us": 0, **stretch})
    found = latencies(rows, leaps).select("produce_p50_us", "produce_p99_us")
    assertDataFrameEqual(found, [Row(produce_p50_us=1.0, produce_p99_us=1.0)])


def test_moves_that_are_done_that_failed_and_that_no_controller_took_up(spark: SparkSession) -> None:
    def move(finished: bool, failed: bool, begun: bool) -> dict[str, Any]:
        return {"finished": finished, "failed": failed, "begun": begun, "original": [0, 1], "target": [int(begun), 1]}

    ends = ((True, False, True), (True, False, False), (False, True, True), (False, True, False), (False, False, True))
    counts = move_counts(table(spark, "moves", *(move(*end) for end in ends)))
    expected = Row(run_id=RUN, moves=5, moves_finished=2, moves_returned=1, moves_failed=2, moves_never_begun=1)
    assertDataFrameEqual(counts, [expected])


def test_what_is_not_kept_or_is_lost_again_is_wasted(spark: SparkSession) -> None:
    rows = table(
        spark,
        "added_replicas",
        {"node": 3, "bytes": 500, "lost_bytes": 100, "assigned": True},
        {"node": 4, "bytes": 70, "lost_bytes": 20, "assigned": False},
    )
    assertDataFrameEqual(bytes_moved(rows), [Row(run_id=RUN, bytes_moved=570, bytes_wasted=170)])


def test_peaks_are_of_one_broker_in_one_second(spark: SparkSession) -> None:
    def second(t_s: int, node: int, *counted: int | None) -> dict[str, Any]:
        names = ("bytes_in", "bytes_out", "replication_bytes_in", "replication_bytes_out")
        return {"t_us": t_s * 1_000_000, "w_us": 1_000_000, "node": node, **dict(zip(names, counted, strict=True))}

    rows = table(
        spark,
        "broker_traffic",
        second(0, 0, 5, 1, 0, 9),
        second(0, 1, 1, 8, 3, 0),
        second(1, 0, 0, 0, 7, 4),
        {**second(2, 0, 90, 90, 90, 90), "w_us": 7_000_000},  # of a leap
        {**second(0, 0, 5, 5, None, None), "run_id": "of 0.8"},
    )
    assertDataFrameEqual(
        peaks(rows),
        [
            Row(run_id=RUN, peak_broker_egress=10, peak_broker_ingress=7),
            Row(run_id="of 0.8", peak_broker_egress=None, peak_broker_ingress=None),
        ],
    )


def test_steps_that_a_later_controller_does_again(spark: SparkSession) -> None:
    def step(seq: int, name: str, **other: Any) -> dict[str, Any]:
        return {"seq": seq, "step": name, "edge": "after", "broker": -1, "hop": 0, **other}

    steps = table(
        spark,
        "steps",
        step(2, "wiki.1"),
        step(3, "wiki.2"),
        step(4, "wiki.2"),
        step(6, "wiki.1"),
        step(7, "wiki.2", edge="before"),
        step(8, "wiki.2"),
        step(9, "wiki.1", partition=1),
        step(10, "failover.F1", partition=-1, topic=""),
        step(11, "wiki.11"),
        step(13, "wiki.1"),
    )
    writes = table(
        spark,
        "zk_writes",
        *({"seq": seq, "path": "/controller_epoch", "op": "setData"} for seq in (1, 5, 12)),
        {"seq": 7, "path": "/controller", "op": "create"},
    )
    assertDataFrameEqual(steps_again(steps, writes), [Row(run_id=RUN, steps_again=2)])


def test_lags_are_weighted_with_the_time_that_they_held(spark: SparkSession) -> None:
    def held(w_us: int, lag: int | None, true_lag: int, node: int = 1) -> dict[str, Any]:
        return {"w_us": w_us, "lag": lag, "true_lag": true_lag, "node": node, "strategy": "wiki"}

    rows = table(spark, "replica_lag", held(3, 0, 0), held(1, 10, 20), held(1, None, 30, 2))
    assertDataFrameEqual(
        lags(rows).select("lag_p50", "lag_p95", "lag_max", "true_lag_p50", "true_lag_p99", "true_lag_max"),
        [values(0.0, 8.5, 10, 0.0, 29.6, 30)],
        rtol=1e-12,
    )
    by_replica = lag_percentiles(rows, ["strategy", "topic", "partition", "node"])
    assertDataFrameEqual(
        by_replica.select("strategy", "node", "lag_p50", "lag_max", "true_lag_p50"),
        [values("wiki", 1, 0.0, 10, 0.0), values("wiki", 2, None, None, 30.0)],
    )


def test_burrows_rules_for_each_follower(spark: SparkSession) -> None:
    rows: list[dict[str, Any]] = []

    def follower(node: int, *spells: tuple[float, int | None, int, int | None]) -> None:
        at_s = 0.0
        for held_s, lag, true_lag, offset in spells:
            t_us, w_us = round(at_s * 1_000_000), round(held_s * 1_000_000)
            found = {"lag": lag, "true_lag": true_lag, "fetch_offset": offset}
            rows.append({"node": node, "t_us": t_us, "w_us": w_us, **found})
            at_s += held_s

    even = (30, 0, 0, 100)
    follower(1, even)
    follower(2, even, (30, None, 7, None), even)
    follower(3, (20, 5, 5, 900), *((1, 800 - n, 800, 100 + n) for n in range(11)), even)
    follower(4, even, (1.5, 3, 3, 100), (0.2, 0, 0, 103), (20, 3, 3, 103))
    follower(5, even, *((1, 50 - n, 50 - n, 100 + n) for n in range(20)), even)
    frame = table(spark, "replica_lag", *rows)
    found = status_of_followers(frame).select("node", "status", (F.col("w_us") / 1e6).cast("int"))
    expected = [(2, "stop", 21), (3, "stall", 11), (3, "rewind", 9), (4, "stall", 11), (4, "warn", 2)]
    assertDataFrameEqual(found, [values(*row) for row in expected])
    s = 1_000_000
    summed = Row(
        run_id=RUN, burrow_stop_us=21 * s, burrow_rewind_us=9 * s, burrow_stall_us=22 * s, burrow_warn_us=2 * s
    )
    assertDataFrameEqual(time_in_status(frame), [summed])
