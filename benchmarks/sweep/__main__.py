"""``python -m benchmarks.sweep [--repeats 5] [--seeds 48] [--write]``: throughput of a sweep on ``local[2]``, with a
warm session, beside two bare processes that do the same runs and write the same files.

Exit code 1 where Spark reaches less than 85 % of the bare processes, or the two data sets differ.
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

from benchmarks.program import conclude, parser_of
from benchmarks.results import machine
from benchmarks.tables import table
from scenarios.language import Scenario
from scenarios.studies.spark.session import session
from scenarios.studies.spark.sweep import RUNNER, plan, run_chunk, sweep

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
    failures = list(pool.map(run_chunk, chunks))
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
    parser = parser_of("sweep", __doc__, repeats=5)
    parser.add_argument("--seeds", type=int, default=48)
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
    ways = {"two bare processes": bare_s, "Spark, `local[2]`, warm session": spark_s}
    rows = [(way, f"{(s := statistics.median(took)):.2f}", f"{runs / s:.1f}") for way, took in ways.items()]
    equal = "equal, byte for byte" if same else "DIFFERENT"
    lines = [
        machine(f"python -m benchmarks.sweep --repeats {options.repeats} --seeds {options.seeds} --write"),
        "",
        f"{runs} runs, {len(STRATEGIES)} strategies; medians of {options.repeats} rounds, the two in turn.",
        "",
        *table(("way", "s", "runs per s"), rows),
        "",
        f"Spark: {share:.0%} of the bare processes' throughput (target {TARGET:.0%}); the data sets are {equal}.",
    ]
    problems = [f"{share:.0%} of the bare processes' throughput"] if share < TARGET else []
    problems += [] if same else ["the data sets differ"]
    return conclude("sweep", lines, problems, write=options.write)


if __name__ == "__main__":
    sys.exit(main())
