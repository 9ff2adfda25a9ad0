"""Series over time, from rows written by hand."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.testing import assertDataFrameEqual

from scenarios.studies.spark.aggregations.series import (
    POINTS,
    completion,
    lag_over_time,
    under_replicated_over_time,
)
from tests.scenarios.studies.spark.aggregations.rows import table, values

pytestmark = pytest.mark.spark

S = 1_000_000
BY = ("strategy",)


def runs(spark: SparkSession, **ends_s: int) -> DataFrame:
    """Runs of the strategy ``wiki``, by their ends."""
    rows = ({"run_id": run, "virtual_us": end_s * S, "strategy": "wiki"} for run, end_s in ends_s.items())
    return table(spark, "runs", *rows)


def test_lag_is_the_largest_of_any_follower_with_bands_over_the_seeds(spark: SparkSession) -> None:
    def held(run: str, begin_s: float, end_s: float, lag: int, node: int = 1) -> dict[str, Any]:
        t_us, w_us = round(begin_s * S), round((end_s - begin_s) * S)
        return {"run_id": run, "t_us": t_us, "w_us": w_us, "true_lag": lag, "node": node, "strategy": "wiki"}

    rows = table(
        spark,
        "replica_lag",
        held("a", 0, 1.5, 10),
        held("a", 1.5, 1.6, 999),  # between two times
        held("a", 1.6, 4, 30),
        held("a", 0, 4, 20, 2),
        held("b", 0, 2, 40),
        held("b", 2, 3, 0),
    )
    found = lag_over_time(rows, runs(spark, a=4, b=3), by=BY, points=4)
    assertDataFrameEqual(
        found,
        [
            values("wiki", 0, 2, 22.0, 30.0, 38.0),
            values("wiki", 1 * S, 2, 22.0, 30.0, 38.0),
            values("wiki", 2 * S, 2, 3.0, 15.0, 27.0),
            values("wiki", 3 * S, 1, 30.0, 30.0, 30.0),
        ],
    )


def test_under_replicated_partitions_are_counted_at_each_time(spark: SparkSession) -> None:
    def lacking(run: str, partition: int, begin_s: int, end_s: int) -> dict[str, Any]:
        lists = {"isr": [0], "assignment": [0, 1], "original": [], "target": []}
        usual = {"min_isr": 1, "leader": 0, "w_us": (end_s - begin_s) * S, **lists}
        return {"run_id": run, "partition": partition, "t_us": begin_s * S, **usual}

    rows = table(spark, "isr_events", lacking("a", 0, 1, 3), lacking("a", 1, 2, 3), lacking("b", 0, 2, 4))
    found = under_replicated_over_time(rows, runs(spark, a=4, b=4), by=BY, points=4)
    assert [(row["t_us"] // S, row["p50"]) for row in found.collect()] == [
        (0, 0.0), (1, 0.5), (2, 1.5), (3, 0.5)
    ]  # fmt: skip


def test_completion_is_the_share_of_all_moves_since_the_first_request(spark: SparkSession) -> None:
    def move(run: str, begin_s: int, end_s: int, finished: bool = True) -> dict[str, Any]:
        times = {"t_us": begin_s * S, "w_us": (end_s - begin_s) * S}
        return {"run_id": run, "finished": finished, "strategy": "wiki", **times}

    rows = table(spark, "moves", move("a", 10, 12), move("a", 10, 14), move("b", 3, 5), move("b", 4, 7, False))
    found = completion(rows, runs(spark, a=20, b=7), by=BY, points=4)
    assertDataFrameEqual(
        found, [values("wiki", 0, 4, 0.0), values("wiki", 2 * S, 4, 0.5), values("wiki", 4 * S, 4, 0.75)]
    )


def test_a_series_has_a_few_hundred_points(spark: SparkSession) -> None:
    rows = table(spark, "replica_lag", {"run_id": "a", "t_us": 0, "w_us": 600 * S, "true_lag": 5, "strategy": "wiki"})
    assert lag_over_time(rows, runs(spark, a=600), by=BY).count() == POINTS
