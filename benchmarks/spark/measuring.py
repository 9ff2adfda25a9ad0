"""Synthetic lag rows, and the times that Spark and DuckDB take for queries over them.

This is a module of its own, so that a new process can import it without the command.

``python -m benchmarks.spark.measuring /tmp/lag10m 10000000`` only writes the rows, the same each time. Use it
to measure by hand.
"""

import math
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from attrs import frozen

from benchmarks.cpu import cpu
from scenarios.runs.dataset.table_schemas import SCHEMAS
from scenarios.studies.spark.aggregations.lag import LAGS, PLACES, lags
from scenarios.studies.spark.session import compile_queries, session
from scenarios.studies.spark.tables import spark_schema

TABLE = "replica_lag"
FILES = 8
RUNS_PER_FILE = 5
DUCKDB = "DuckDB"

Answer = dict[tuple[str, str], float]
"""A run and the name of a percentile, to its value."""

_SQL = """
WITH
    sums AS (
        SELECT run_id, lag, true_lag, sum(w_us) AS w FROM read_parquet('{files}') WHERE w_us > 0 GROUP BY ALL
    ),
    each_lag AS (
        SELECT run_id, 'lag' AS which, lag AS v, w FROM sums
        UNION ALL SELECT run_id, 'true_lag', true_lag, w FROM sums
    ),
    distinct_values AS (SELECT run_id, which, v, sum(w) AS w FROM each_lag WHERE v IS NOT NULL GROUP BY ALL),
    placed AS (
        SELECT run_id, which, v, sum(w) OVER (PARTITION BY run_id, which ORDER BY v) AS upto,
            sum(w) OVER (PARTITION BY run_id, which) AS total
        FROM distinct_values
    )
SELECT run_id, which, max(total)::BIGINT AS total, {columns} FROM placed GROUP BY ALL
"""


@frozen
class Measured:
    """Seconds: until the engine has started, of the first aggregation, and of the later ones, on the wall and of CPU.

    Attributes:
        answer: the result.
    """

    start_s: float
    first_s: float
    warm_s: float
    warm_cpu_s: float
    answer: Answer


def rows_of(file: int, rows: int) -> pa.Table:
    """Lag as it comes: mostly small, at times in the thousands, each value for some tenths of a second."""
    draw = np.random.default_rng(file)
    runs = np.arange(rows) * RUNS_PER_FILE // rows + file * RUNS_PER_FILE
    lag = np.where(draw.random(rows) < 0.9, draw.integers(0, 20, rows), draw.integers(0, 20_000, rows))
    columns: dict[str, Any] = {
        "run_id": [f"{run:016x}" for run in runs],
        "t_us": np.arange(rows) * 100_000,
        "w_us": draw.integers(1, 20, rows) * 100_000,
        "topic": ["orders"] * rows,
        "partition": draw.integers(0, 12, rows),
        "node": draw.integers(0, 6, rows),
        "leader": draw.integers(0, 6, rows),
        "lag": lag,
        "true_lag": lag + draw.integers(0, 5, rows),
        "fetch_offset": np.arange(rows) * 3,
    }
    schema = SCHEMAS[TABLE]
    return pa.table({name: pa.array(columns[name], schema.field(name).type) for name in schema.names}, schema=schema)


def write(folder: Path, rows: int) -> int:
    """Write ``rows`` rows as a sweep does; returns the bytes they take."""
    for file in range(FILES):
        pq.write_table(rows_of(file, rows // FILES), folder / f"part-{file}.parquet", compression="zstd")
    return sum(path.stat().st_size for path in folder.iterdir())


def of_spark(folder: Path, repeats: int, cores: int, brief: bool) -> Measured:
    """In a process of its own: a JVM keeps its options."""
    began = time.perf_counter()
    with session(f"local[{cores}]", brief=brief) as spark:
        compile_queries(spark, not brief)

        def ask() -> Answer:
            frame = spark.read.schema(spark_schema(TABLE)).parquet(str(folder))
            rows = (row.asDict() for row in lags(frame).collect())
            return {(row["run_id"], name): row[name] for row in rows for name in row if name != "run_id"}

        return _measure(ask, repeats, began)


def of_duckdb(folder: Path, repeats: int, cores: int) -> Measured:
    """The measurement of DuckDB: the percentiles by the steps of Spark's query, in SQL."""
    import duckdb

    began = time.perf_counter()
    columns = ", ".join(
        f"min(v) FILTER (upto >= {side}((total - 1) * {place}::DOUBLE) + 1) AS {side}_{name}"
        for name, place in PLACES.items()
        for side in ("floor", "ceil")
    )
    query = _SQL.format(files=folder / "*.parquet", columns=columns)
    with duckdb.connect(config={"threads": cores}) as connection:

        def ask() -> Answer:
            found = connection.execute(query)
            names = [column[0] for column in found.description]
            rows = [dict(zip(names, row, strict=True)) for row in found.fetchall()]
            return {
                (row["run_id"], f"{row['which']}_{name}"): _between(row, name, place)
                for row in rows
                for name, place in PLACES.items()
            }

        return _measure(ask, repeats, began)


def _between(row: dict[str, Any], name: str, place: float) -> float:
    low, high = row[f"floor_{name}"], row[f"ceil_{name}"]
    exact = (row["total"] - 1) * place
    return float(low + (high - low) * (exact - math.floor(exact))) if low != high else float(low)


def _measure(ask: Callable[[], Answer], repeats: int, began: float) -> Measured:
    start_s = time.perf_counter() - began
    walls, cpus, answers = [], [], []
    for _ in range(repeats + 1):
        began = time.perf_counter()
        with cpu() as spent:
            answers.append(ask())
        walls.append(time.perf_counter() - began)
        cpus.append(spent.seconds)
    first, *later = answers
    assert all(answer == first for answer in later), "two answers to one query"
    assert len(first) == FILES * RUNS_PER_FILE * len(LAGS) * len(PLACES), f"{len(first)} percentiles"
    return Measured(start_s, walls[0], statistics.median(walls[1:]), statistics.median(cpus[1:]), first)


if __name__ == "__main__":
    target = Path(sys.argv[1])
    target.mkdir(parents=True)
    write(target, int(sys.argv[2]))
