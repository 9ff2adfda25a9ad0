"""``python -m benchmarks.spark [--rows 10000000] [--write]``: the lag percentiles of ``compare`` over synthetic rows.

Every number of rows is aggregated in two new processes: with the session of a small data set (fast to start, queries
not compiled), and with that of a large one. Where their lines cross is where ``compare`` should change over. Exit code
1 when Spark's percentiles differ from those computed beside it.
"""

import argparse
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from benchmarks.results import machine, write_section
from benchmarks.spark.measuring import FILES, RUNS_PER_FILE, Measured, measure, write


def alone(folder: Path, brief: bool) -> Measured:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(measure, folder, brief).result()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.spark", description=__doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000, 10_000_000])
    parser.add_argument("--write", action="store_true", help="write the table into benchmarks/RESULTS.md")
    options = parser.parse_args()
    lines = [
        machine(f"python -m benchmarks.spark --rows {' '.join(map(str, options.rows))} --write"),
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
