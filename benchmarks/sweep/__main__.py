"""``python -m benchmarks.sweep [--repeats 5] [--seeds 48] [--write]``: throughput of a sweep on ``local[2]``, with a
warm session, beside two bare processes that do the same runs and write the same files.

Exit code 1 where Spark reaches less than 85 % of the bare processes, or the two data sets differ.
"""

import argparse
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from benchmarks.results import machine, write_section
from scenarios.model import Scenario
from scenarios.spark.session import session
from scenarios.spark.sweep import RUNNER, plan, sweep
from scenarios.spark.task import Failure, run_chunk

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
TARGET = 0.85


def bare(pool: ProcessPoolExecutor, scenario: Scenario, seeds: Sequence[int], root: Path) -> float:
    """Seconds that two processes take; they begin with everything imported."""
    chunks = plan(scenario, seeds, STRATEGIES, root, experiment="sweep", runner=RUNNER)
    began = time.perf_counter()
    failures: list[Failure | None] = list(pool.map(run_chunk, chunks))
    took = time.perf_counter() - began
    assert not any(failures), failures
    return took


def on_spark(scenario: Scenario, seeds: Sequence[int], root: Path) -> float:
    """Seconds that a sweep takes on the session that is running."""
    began = time.perf_counter()
    sweep(scenario, seeds, STRATEGIES, root)
    return time.perf_counter() - began


def contents(root: Path) -> dict[str, bytes]:
    """Every Parquet file of a data set."""
    return {str(path.relative_to(root)): path.read_bytes() for path in sorted(root.rglob("*.parquet"))}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.sweep", description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seeds", type=int, default=48)
    parser.add_argument("--write", action="store_true", help="write the table into benchmarks/RESULTS.md")
    options = parser.parse_args()
    scenario, seeds = Scenario.loads(SCENARIO, source="benchmark"), range(options.seeds)
    spark_s, bare_s, same = [], [], True
    with (
        tempfile.TemporaryDirectory() as folder,
        session(),
        ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool,
    ):
        for number in range(options.repeats + 1):
            roots = Path(folder, f"spark-{number}"), Path(folder, f"bare-{number}")
            spark_s.append(on_spark(scenario, seeds, roots[0]))
            bare_s.append(bare(pool, scenario, seeds, roots[1]))
            same = same and contents(roots[0]) == contents(roots[1])
    spark_s, bare_s = spark_s[1:], bare_s[1:]  # the first round warms both up
    runs = len(seeds) * len(STRATEGIES)
    share = statistics.median(b / s for s, b in zip(spark_s, bare_s, strict=True))
    bare_median, spark_median = statistics.median(bare_s), statistics.median(spark_s)
    equal = "equal, byte for byte" if same else "DIFFERENT"
    lines = [
        machine(f"python -m benchmarks.sweep --repeats {options.repeats} --seeds {options.seeds} --write"),
        "",
        f"{runs} runs, {len(STRATEGIES)} strategies; medians of {options.repeats} rounds, the two in turn.",
        "",
        "| way | s | runs per s |",
        "|---|---|---|",
        f"| two bare processes | {bare_median:.2f} | {runs / bare_median:.1f} |",
        f"| Spark, `local[2]`, warm session | {spark_median:.2f} | {runs / spark_median:.1f} |",
        "",
        f"Spark: {share:.0%} of the bare processes' throughput (target {TARGET:.0%}); the data sets are {equal}.",
    ]
    print("\n".join(lines))
    if options.write:
        write_section("sweep", lines)
    return 0 if share >= TARGET and same else 1


if __name__ == "__main__":
    sys.exit(main())
