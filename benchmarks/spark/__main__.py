"""``python -m benchmarks.spark [--rows 10000000] [--cores 1 2 4] [--write]``: the lag percentiles of ``compare`` over
synthetic rows, by Spark and by DuckDB, over the same files.

Every line is a process of its own, and the median of ``--repeats`` queries after the first. Spark is measured with the
session of a small data set (*brief*: fast to start, queries not compiled; not for 10 million rows) and with that of a
large one (*long*); where their lines cross is where ``compare`` should change over.

Exit code 1 when the percentiles differ, or when Spark's long session needs more than four times as long as DuckDB for
10 million rows or more.
"""

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from benchmarks.program import conclude, parser_of
from benchmarks.results import machine
from benchmarks.spark.measuring import DUCKDB, FILES, RUNS_PER_FILE, Measured, of_duckdb, of_spark, write
from benchmarks.tables import table

LARGE = 10_000_000
MOST_TIMES_DUCKDB = 4.0


def alone(measure: Callable[..., Measured], *arguments: object) -> Measured:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(measure, *arguments).result()


def ways(folder: Path, rows: int, repeats: int, cores: int) -> Iterator[tuple[str, Measured]]:
    """Each way to the percentiles, DuckDB first."""
    yield DUCKDB, alone(of_duckdb, folder, repeats, cores)
    if rows < LARGE:
        yield "Spark, brief", alone(of_spark, folder, repeats, cores, True)
    yield "Spark, long", alone(of_spark, folder, repeats, cores, False)


def main() -> int:
    parser = parser_of("spark", __doc__, repeats=5)
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000, LARGE])
    parser.add_argument("--cores", type=int, nargs="+", default=[1, 2, 4])
    options = parser.parse_args()
    rows, problems, wins = [], [], list[str]()
    for count in options.rows:
        with tempfile.TemporaryDirectory() as name:
            size = write(Path(name), count)
            for cores in options.cores:
                peer = None
                for way, got in ways(Path(name), count, options.repeats, cores):
                    peer = peer or got
                    times = got.warm_s / peer.warm_s
                    if any(abs(got.answer[key] - value) > 1e-6 for key, value in peer.answer.items()):
                        problems.append(f"{way} has other percentiles than {DUCKDB} for {count:,} rows")
                    if count >= LARGE and way == "Spark, long" and times > MOST_TIMES_DUCKDB:
                        problems.append(
                            f"Spark takes {times:.1f} x as long as {DUCKDB} for {count:,} rows, {cores} cores"
                        )
                    if way != DUCKDB and times < 1:
                        wins.append(f"{count:,} rows on {cores} ({way})")
                    of_cpu = got.warm_cpu_s / peer.warm_cpu_s
                    numbers = (got.start_s, got.first_s, got.warm_s, got.warm_cpu_s, times, of_cpu)
                    rows.append((f"{count:,}", f"{size / count:.1f}", str(cores), way, *(f"{n:.2f}" for n in numbers)))
    columns = (
        "rows",
        "bytes per row",
        "threads",
        "way",
        "start",
        "first",
        "warm",
        "warm, CPU",
        f"times {DUCKDB}",
        "of CPU",
    )
    command = f"--rows {' '.join(map(str, options.rows))} --cores {' '.join(map(str, options.cores))}"
    lines = [
        machine(f"python -m benchmarks.spark --repeats {options.repeats} {command} --write"),
        "",
        f"Time-weighted lag percentiles of {FILES * RUNS_PER_FILE} runs, s; threads are those of DuckDB, and N in",
        f"Spark's `local[N]`. The last columns compare the warm ones. Load at the end: {os.getloadavg()[0]:.1f}.",
        "",
        *table(columns, rows),
        "",
        f"Spark was faster at: {', '.join(wins)}." if wins else f"Spark was not faster than {DUCKDB} anywhere here.",
        *([] if problems else ["The percentiles of all ways are equal."]),
    ]
    return conclude("spark", lines, problems, write=options.write)


if __name__ == "__main__":
    sys.exit(main())
