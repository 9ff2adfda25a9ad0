"""``python -m benchmarks.spark [--rows 10000000] [--write]``: the lag percentiles of ``compare`` over synthetic rows.

Every number of rows is aggregated in two new processes: with the session of a small data set (fast to start, queries
not compiled), and with that of a large one. Where their lines cross is where ``compare`` should change over. Exit code
1 when Spark's percentiles differ from those computed beside it.
"""

import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from benchmarks.program import conclude, parser_of
from benchmarks.results import machine
from benchmarks.spark.measuring import FILES, RUNS_PER_FILE, Measured, measure, write
from benchmarks.tables import table


def alone(folder: Path, brief: bool) -> Measured:
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(measure, folder, brief).result()


def main() -> int:
    parser = parser_of("spark", __doc__)
    parser.add_argument("--rows", type=int, nargs="+", default=[100_000, 1_000_000, 10_000_000])
    options = parser.parse_args()
    rows, same = [], True
    for count in options.rows:
        with tempfile.TemporaryDirectory() as name:
            size = write(Path(name), count) / 2**20
            for kind, brief in (("brief", True), ("long", False)):
                got = alone(Path(name), brief)
                same = same and got.same
                times = (f"{each:.1f}" for each in (got.start_s, got.first_s, got.warm_s, got.once_s))
                rows.append((f"{count:,}", f"{size:.1f}", kind, *times))
    lines = [
        machine(f"python -m benchmarks.spark --rows {' '.join(map(str, options.rows))} --write"),
        "",
        f"Time-weighted lag percentiles of {FILES * RUNS_PER_FILE} runs on `local[2]`, s.",
        "",
        *table(("rows", "MiB", "session", "start", "first", "warm", "start and first"), rows),
        "",
        f"The percentiles are {'equal to' if same else 'DIFFERENT from'} those computed without Spark.",
    ]
    return conclude("spark", lines, [] if same else ["the percentiles differ"], write=options.write)


if __name__ == "__main__":
    sys.exit(main())
