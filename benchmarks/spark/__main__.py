"""``python -m benchmarks.spark [--rows 10000000] [--write]``: the lag percentiles of ``compare`` over synthetic rows.

Every number of rows is aggregated in two new processes: with the session of a small data set (fast to start, queries
not compiled), and with that of a large one. Where their lines cross is where ``compare`` should change over. Exit code
1 when Spark's percentiles differ from those computed beside it.
"""

import argparse
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from attrs import frozen

from benchmarks.results import machine, write_section
from scenarios.dataset.schema import SCHEMAS
from scenarios.statistics.percentile import weighted_percentiles

TABLE = "replica_lag"
FILES = 8
RUNS_PER_FILE = 5
REPEATS = 3
QUANTILES = (0.5, 0.95, 0.99)


@frozen
class Measured:
    """Seconds: until the session stands, of the first aggregation, of the fastest later one."""

    start_s: float
    first_s: float
    warm_s: float
    same: bool

    @property
    def once_s(self) -> float:
        """What a user waits for who compares once."""
        return self.start_s + self.first_s


def rows_of(file: int, rows: int) -> pa.Table:
    """Lag as it comes: mostly small, at times in the thousands, each value for some tenths of a second."""
    draw = np.random.default_rng(file)
    runs = np.arange(rows) * RUNS_PER_FILE // rows + file * RUNS_PER_FILE
    lag = np.where(draw.random(rows) < 0.9, draw.integers(0, 20, rows), draw.integers(0, 20_000, rows))
    columns: dict[str, object] = {
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


def expected(folder: Path, run_id: str) -> list[float]:
    """The percentiles of one run, without Spark."""
    table = pq.read_table(folder / "part-0.parquet", filters=[("run_id", "=", run_id)])
    weights: dict[int, int] = {}
    for lag, weight in zip(table["lag"].to_pylist(), table["w_us"].to_pylist(), strict=True):
        weights[lag] = weights.get(lag, 0) + weight
    return list(weighted_percentiles(weights, QUANTILES))


def measure(folder: Path, brief: bool) -> Measured:
    """In a process of its own: a JVM keeps its options."""
    from scenarios.spark.figures import lags
    from scenarios.spark.session import compile_queries, session
    from scenarios.spark.tables import spark_schema

    began = time.perf_counter()
    took = []
    with session(brief=brief) as spark:
        compile_queries(spark, not brief)
        start_s = time.perf_counter() - began
        for _ in range(REPEATS):
            began = time.perf_counter()
            found = {
                row["run_id"]: row
                for row in lags(spark.read.schema(spark_schema(TABLE)).parquet(str(folder))).collect()
            }
            took.append(time.perf_counter() - began)
    run_id = min(found)
    same = [found[run_id][name] for name in ("lag_p50", "lag_p95", "lag_p99")] == expected(folder, run_id)
    return Measured(start_s, took[0], min(took[1:]), same and len(found) == FILES * RUNS_PER_FILE)


def alone(folder: Path, brief: bool) -> Measured:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(measure, folder, brief).result()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.spark", description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000, 10_000_000])
    parser.add_argument("--write", action="store_true", help="write the table into benchmarks/RESULTS.md")
    options = parser.parse_args()
    lines = [
        machine("python -m benchmarks.spark --write"),
        "",
        f"Time-weighted lag percentiles of {FILES * RUNS_PER_FILE} runs on `local[2]`, s.",
        "",
        "| rows | MiB | session | start | first | warm | start and first |",
        "|---|---|---|---|---|---|---|",
    ]
    same = True
    for rows in options.rows:
        with tempfile.TemporaryDirectory() as name:
            size = write(Path(name), rows) / 2**20
            for kind, brief in (("brief", True), ("long", False)):
                got = alone(Path(name), brief)
                same = same and got.same
                times = f"{got.start_s:.1f} | {got.first_s:.1f} | {got.warm_s:.1f} | {got.once_s:.1f}"
                lines.append(f"| {rows:,} | {size:.1f} | {kind} | {times} |")
    said = "equal to" if same else "DIFFERENT from"
    lines += ["", f"The percentiles are {said} those computed without Spark."]
    print("\n".join(lines))
    if options.write:
        write_section("spark", lines)
    return 0 if same else 1


if __name__ == "__main__":
    sys.exit(main())
