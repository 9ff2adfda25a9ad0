"""The data set in tools that people use: pandas, polars, DuckDB and Spark SQL read the same figures from its files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import duckdb
import pandas as pd
import polars as pl
import pytest
from pyspark.sql import SparkSession

from scenarios.runs.dataset.arm import Arm
from scenarios.runs.dataset.reader import open_data_set
from scenarios.studies.statistics.own_figures import own_figures
from tests.scenarios.runs.dataset.runs import write_arm

ARMS = [Arm("wiki", "kafka-2.3"), Arm("kafka-6794+window-2", "kafka-2.3")]
SEEDS = {ARMS[0]: (0, 1, 2), ARMS[1]: (1, 2, 3)}
METRIC = "under_replicated_final_s"

Found = dict[tuple[str, int], float]
"""By strategy and seed, the metric twice over: from ``figures``, and what ``isr_events`` adds up to."""

QUERY = f"""
    SELECT r.strategy, r.seed, f.value, e.w_us / 1e6 AS summed
    FROM runs r
    JOIN figures f ON f.run_id = r.run_id AND f.name = '{METRIC}'
    JOIN (
        SELECT run_id, sum(CASE WHEN under_replicated_final THEN w_us ELSE 0 END) AS w_us
        FROM isr_events GROUP BY run_id
    ) e ON e.run_id = r.run_id
    WHERE r.status = 'done'
"""


def same(rows: list[tuple[str, int, float, float]]) -> Found:
    assert all(value == pytest.approx(summed) for _strategy, _seed, value, summed in rows)
    return {(strategy, seed): value for strategy, seed, value, _summed in rows}


def in_pandas(root: Path) -> Found:
    runs, figures, events = (pd.read_parquet(root / table) for table in ("runs", "figures", "isr_events"))
    events = events[events.under_replicated_final]
    runs = runs[runs.status == "done"].set_index("run_id")
    runs["value"] = figures[figures.name == METRIC].set_index("run_id").value
    runs["summed"] = events.groupby("run_id").w_us.sum().reindex(runs.index, fill_value=0) / 1e6
    return same(list(runs[["strategy", "seed", "value", "summed"]].itertuples(index=False, name=None)))


def in_polars(root: Path) -> Found:
    runs, figures, events = (
        pl.scan_parquet(root / table / "**/*.parquet", hive_partitioning=True)
        for table in ("runs", "figures", "isr_events")
    )
    summed = events.filter("under_replicated_final").group_by("run_id").agg(pl.col("w_us").sum() / 1e6)
    found = (
        runs.filter(pl.col("status") == "done")
        .join(figures.filter(pl.col("name") == METRIC), on="run_id")
        .join(summed, on="run_id", how="left")
        .select("strategy", "seed", "value", pl.col("w_us").fill_null(0))
    )
    return same(found.collect().rows())


def in_duckdb(root: Path) -> Found:
    with duckdb.connect() as connection:
        for table in ("runs", "figures", "isr_events"):
            files = f"read_parquet('{root}/{table}/*/*/*.parquet', hive_partitioning = true)"
            connection.execute(f"CREATE VIEW {table} AS SELECT * FROM {files}")
        return same(connection.execute(QUERY).fetchall())


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for arm, seeds in SEEDS.items():
        write_arm(tmp_path, arm, *seeds)
    return tmp_path


def own(root: Path) -> Found:
    found = {(run.arm.strategy, run.seed): run.metrics[METRIC] for run in own_figures(open_data_set(root))}
    assert len(found) == 6
    assert len(set(found.values())) == 4, "each seed has its own"
    return {key: float(value) for key, value in found.items() if value is not None}


@pytest.mark.parametrize("read", [in_pandas, in_polars, in_duckdb])
def test_the_same_figures_in(read: Callable[[Path], Found], root: Path) -> None:
    assert read(root) == own(root)


@pytest.mark.spark
def test_the_same_figures_in_spark_sql(spark: SparkSession, root: Path) -> None:
    for table in ("runs", "figures", "isr_events"):
        spark.read.parquet(f"file://{root}/{table}").createOrReplaceTempView(table)
    assert same([tuple(row) for row in spark.sql(QUERY).collect()]) == own(root)
