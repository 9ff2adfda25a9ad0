"""``python -m benchmarks.sweep [--repeats 5] [--seeds 48] [--cores 1 2 4] [--write]``: what a sweep on ``local[N]``
costs, with a warm session, beside N bare processes that do the same runs and write the same rows.

Exit code 1 where Spark takes more than 1.1 times the CPU time of the bare processes, or the rows of the two differ.
"""

import os
import statistics
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from attrs import frozen

from benchmarks.cpu import cpu
from benchmarks.program import conclude, parser_of
from benchmarks.results import machine
from benchmarks.tables import table
from scenarios.language import Scenario
from scenarios.runs.dataset.manifest import write_manifest
from scenarios.runs.dataset.reader import open_data_set, read_table
from scenarios.runs.dataset.table_schemas import SCHEMAS
from scenarios.studies.design import Design
from scenarios.studies.planning import manifest_of
from scenarios.studies.spark.chunk import RUNNER, DoneChunk, plan, run_chunk
from scenarios.studies.spark.session import session
from scenarios.studies.spark.sweep import sweep

SCENARIO = """
schema = "scenario/1"
title = "A move under load, for the benchmark of sweeps"
horizon = "2m"
[cluster]
brokers = 6
config = { "min.insync.replicas" = 2 }
[[topics]]
name = "orders"
partitions = 12
size = "8MiB"
[[workloads]]
topic = "orders"
producerRate = 12000
[plan]
version = 1
partitions = [{ topic = "orders", partition = 0, replicas = [3, 4, 5] }]
[[method]]
at = "2s"
action = "reassign.execute"
[[method]]
after = "12s"
action = "controller.crash"
[[rollbacks]]
action = "broker.start"
target = { mode = "all", state = "down" }
[[expect]]
within = "1m"
assignment = { "orders-0" = [3, 4, 5] }
"""
STRATEGIES = ("wiki", "kafka-6794")
MOST_COST = 1.10


@frozen
class Took:
    """Seconds on the wall, and of CPU in all processes."""

    wall: float
    cpu: float


def bare(pool: ProcessPoolExecutor, design: Design, root: Path) -> Took:
    """The time that two processes take; they begin with everything imported."""
    write_manifest(root, manifest_of(design, "sweep"))
    chunks = plan(design, root, experiment="sweep", runner=RUNNER)
    began = time.perf_counter()
    with cpu() as spent:
        done = list(pool.map(run_chunk, chunks))
    assert all(isinstance(one, DoneChunk) and not one.failures for one in done), done
    return Took(time.perf_counter() - began, spent.seconds)


def on_spark(design: Design, root: Path) -> Took:
    """The time that a sweep takes on the running session."""
    began = time.perf_counter()
    with cpu() as spent:
        swept = sweep(design, root)
    assert not swept.failures, swept.failures
    return Took(time.perf_counter() - began, spent.seconds)


def contents(root: Path) -> Counter[str]:
    """Every row of a data set, whatever file it is in."""
    data = open_data_set(root)
    return Counter(f"{name} {row}" for name in SCHEMAS for row in read_table(data, name).to_pylist())


def main() -> int:
    parser = parser_of("sweep", __doc__, repeats=5)
    parser.add_argument("--seeds", type=int, default=48)
    parser.add_argument("--cores", type=int, nargs="+", default=[1, 2, 4])
    options = parser.parse_args()
    design = Design.of(Scenario.loads(SCENARIO, source="benchmark"), seeds=range(options.seeds), strategies=STRATEGIES)
    runs, rows, problems = options.seeds * len(STRATEGIES), [], []
    for cores in options.cores:
        bare_took, spark_took, same = rounds(design, cores, options.repeats)
        cost = statistics.median(s.cpu / b.cpu for s, b in zip(spark_took, bare_took, strict=True))
        slower = statistics.median(s.wall / b.wall for s, b in zip(spark_took, bare_took, strict=True))
        for way, took, ratios in (
            (f"{cores} bare processes", bare_took, ("", "")),
            (f"Spark, `local[{cores}]`", spark_took, (f"{slower:.2f}", f"{cost:.2f}")),
        ):
            wall, of_cpu = (statistics.median(getattr(one, kind) for one in took) for kind in ("wall", "cpu"))
            rows.append((way, f"{wall:.2f}", f"{runs / wall:.1f}", f"{of_cpu / runs * 1000:.0f}", *ratios))
        if cost > MOST_COST:
            problems.append(f"{cost:.2f} times the CPU time of {cores} bare processes")
        if not same:
            problems.append(f"the data sets of local[{cores}] and of bare processes differ")
    asked = f"--repeats {options.repeats} --seeds {options.seeds} --cores {' '.join(map(str, options.cores))}"
    lines = [
        machine(f"python -m benchmarks.sweep {asked} --write"),
        "",
        f"{runs} runs, {len(STRATEGIES)} strategies; medians of {options.repeats} rounds, the two in turn, with warm",
        f"sessions. CPU is that of all processes, Spark's JVM included. Load at the end: {os.getloadavg()[0]:.1f}.",
        "",
        *table(("way", "s", "runs per s", "CPU ms per run", "times the bare s", "times the bare CPU"), rows),
        "",
        f"Target: at most {MOST_COST:.2f} times the CPU time. "
        + ("The data sets differ." if any("differ" in one for one in problems) else "The data sets have equal rows."),
    ]
    return conclude("sweep", lines, problems, write=options.write)


def rounds(design: Design, cores: int, repeats: int) -> tuple[list[Took], list[Took], bool]:
    """Bare processes and Spark in turn; whether their data sets are equal. The first round warms both up."""
    bare_took, spark_took, same = [], [], True
    with (
        tempfile.TemporaryDirectory() as folder,
        session(f"local[{cores}]"),
        ProcessPoolExecutor(cores, mp_context=get_context("spawn")) as pool,
    ):
        for number in range(repeats + 1):
            roots = Path(folder, f"spark-{number}"), Path(folder, f"bare-{number}")
            spark_took.append(on_spark(design, roots[0]))
            bare_took.append(bare(pool, design, roots[1]))
            same = same and contents(roots[0]) == contents(roots[1])
    return bare_took[1:], spark_took[1:], same


if __name__ == "__main__":
    sys.exit(main())
