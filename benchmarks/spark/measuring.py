"""Synthetic lag rows, and one session's times over them. Apart from the command, so that a new process finds it."""

import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from attrs import frozen

from scenarios.observe.measures.percentile import weighted_percentiles
from scenarios.runs.dataset.schema import SCHEMAS
from scenarios.studies.spark.figures import lags
from scenarios.studies.spark.session import compile_queries, session
from scenarios.studies.spark.tables import spark_schema

TABLE = "replica_lag"
FILES = 8
RUNS_PER_FILE = 5
REPEATS = 3
QUANTILES = (0.5, 0.95, 0.99)


@frozen
class Measured:
    """Seconds: until the session has started, of the first aggregation, of the fastest later one."""

    start_s: float
    first_s: float
    warm_s: float
    same: bool

    @property
    def once_s(self) -> float:
        """The wait of a user who compares once."""
        return self.start_s + self.first_s


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
    }
    schema = SCHEMAS[TABLE]
    return pa.table({name: pa.array(columns[name], schema.field(name).type) for name in schema.names}, schema=schema)


def write(folder: Path, rows: int) -> int:
    """Write ``rows`` rows; returns the bytes they take."""
    for file in range(FILES):
        pq.write_table(rows_of(file, rows // FILES), folder / f"part-{file}.parquet", compression="zstd")
    return sum(path.stat().st_size for path in folder.iterdir())


def expected(folder: Path, run_id: str) -> list[float | None]:
    """The percentiles of one run, without Spark."""
    table = pq.read_table(folder / "part-0.parquet", filters=[("run_id", "=", run_id)])
    weights: dict[int, int] = {}
    for lag, weight in zip(table["lag"].to_numpy().tolist(), table["w_us"].to_numpy().tolist(), strict=True):
        weights[lag] = weights.get(lag, 0) + weight
    return list(weighted_percentiles(weights, QUANTILES))


def measure(folder: Path, brief: bool) -> Measured:
    """In a process of its own: a JVM keeps its options."""
    began = time.perf_counter()
    took = []
    with session(brief=brief) as spark:
        compile_queries(spark, not brief)
        start_s = time.perf_counter() - began
        for _ in range(REPEATS):
            began = time.perf_counter()
            frame = spark.read.schema(spark_schema(TABLE)).parquet(str(folder))
            found = {row["run_id"]: row for row in lags(frame).collect()}
            took.append(time.perf_counter() - began)
    run_id = min(found)
    same = [found[run_id][name] for name in ("lag_p50", "lag_p95", "lag_p99")] == expected(folder, run_id)
    return Measured(start_s, took[0], min(took[1:]), same and len(found) == FILES * RUNS_PER_FILE)
