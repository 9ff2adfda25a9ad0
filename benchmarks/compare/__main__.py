"""``python -m benchmarks.compare [--runs 5000] [--repeats 5] [--write]``: how long ``understudy compare`` takes, from
nothing to its last line, with the figures of the runs and, ``--recount``, with those of Spark.

Two data sets of as many runs: few arms over many seeds, and many arms of a grid over 100 seeds. 200 runs are real; the
others are copies of them with seeds exchanged, so that arms differ on every seed. Their files are joined, as a sweep
that has ended leaves them. Exit code 1 where ``compare`` without ``--recount`` takes more than 15 s of CPU time.
"""

import ctypes
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from attrs import evolve

from benchmarks.program import conclude, parser_of, quiet
from benchmarks.results import machine
from benchmarks.tables import table
from scenarios.language.files import load
from scenarios.runs import run_record
from scenarios.runs.dataset.arm import Arm
from scenarios.runs.dataset.compaction import join_chunks, small_chunks
from scenarios.runs.dataset.manifest import Manifest, write_manifest
from scenarios.runs.dataset.run_record import RunRecord, RunSpec
from scenarios.runs.dataset.writer import chunk_name, write_chunk
from scenarios.studies.design import Design
from scenarios.studies.planning import manifest_of, plan_runs

STRATEGIES = ("wiki", "kafka-6794")
SEEDS = 100
TARGET_S = 15.0
_PER_CHUNK = 25
_EXPERIMENT = "sweep"
_KEY = "strategy.throttle"
_SUBREAPER = 36
"""PR_SET_CHILD_SUBREAPER of linux/prctl.h."""


def real_runs(design: Design) -> dict[Arm, list[RunRecord]]:
    """The runs that all others are copies of."""
    quiet()
    return {arm: list(map(run_record, specs)) for arm, specs in plan_runs(design).specs.items()}


def copies(found: dict[Arm, list[RunRecord]], times: int, *, grid: bool) -> Iterator[tuple[Arm, list[RunRecord]]]:
    """Every arm's runs ``times`` times: as arms of a grid, or as more seeds."""
    for arm, records in found.items():
        for number in range(times):
            copied = Arm(arm.strategy, arm.profile, [(_KEY, f"{number + 1}MB/s")]) if grid else arm
            yield copied, [_copy(records, copied, seed, number, grid) for seed in range(len(records))]


def _copy(records: list[RunRecord], arm: Arm, seed: int, number: int, grid: bool) -> RunRecord:
    like = records[(seed * (1 + number)) % len(records)]
    spec = like.spec
    plan = RunSpec.plan(
        scenario=spec.scenario,
        scenario_digest=spec.scenario_digest,
        arm=arm,
        seed=seed if grid else seed + number * len(records),
        code=spec.code,
    )
    return evolve(like, spec=plan)


def write(root: Path, manifest: Manifest, found: dict[Arm, list[RunRecord]], times: int, *, grid: bool) -> int:
    """Write the data set as a sweep does. Returns the number of arms."""
    arms: dict[Arm, None] = {}
    for arm, records in copies(found, times, grid=grid):
        arms[arm] = None
        for first in range(0, len(records), _PER_CHUNK):
            chunk = records[first : first + _PER_CHUNK]
            name = chunk_name([record.spec.run_id for record in chunk])
            write_chunk(root, _EXPERIMENT, arm.strategy, name, chunk)
    for parts in small_chunks(root):
        join_chunks(root, parts)
    seeds = range(SEEDS if grid else SEEDS * times)
    write_manifest(root, evolve(manifest, arms=tuple(arms), seeds=tuple(seeds)))
    return len(arms)


def compare(root: Path, *options: str) -> tuple[float, float]:
    """Seconds that the command takes in a process of its own: by the clock, and of all processors together."""
    began, before = time.perf_counter(), _children_s()
    command = [sys.executable, "-m", "understudy", "compare", str(root), *options]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _wait_for_orphans()
    return time.perf_counter() - began, _children_s() - before


def _adopt_orphans() -> None:
    """The JVM outlives the process that starts it, and its CPU time would not count: it becomes a child of this one."""
    ctypes.CDLL(None).prctl(_SUBREAPER, 1, 0, 0, 0)


def _wait_for_orphans() -> None:
    with suppress(ChildProcessError):
        while True:
            os.wait()


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main() -> int:
    parser = parser_of("compare", __doc__, repeats=5)
    parser.add_argument("--runs", type=int, default=5_000)
    options = parser.parse_args()
    times = max(1, options.runs // (SEEDS * len(STRATEGIES)))
    design = Design.of(load("quick-move", ()), seeds=range(SEEDS), strategies=STRATEGIES)
    found, manifest = real_runs(design), manifest_of(design, _EXPERIMENT)
    _adopt_orphans()
    rows, problems = [], []
    with tempfile.TemporaryDirectory() as folder:
        for grid in (False, True):
            root = Path(folder, "grid" if grid else "seeds")
            arms = write(root, manifest, found, times, grid=grid)
            shape = f"{arms} arms x {SEEDS * len(STRATEGIES) * times // arms:,} seeds"
            for way, words in (("the runs", ()), ("Spark", ("--recount",))):
                measured = [compare(root, *words) for _ in range(options.repeats)]
                took, used = (statistics.median(each) for each in zip(*measured, strict=True))
                rows.append((shape, way, f"{took:.1f}", f"{used:.1f}"))
                if not words and used > TARGET_S:
                    problems.append(f"{shape}: {used:.1f} s of CPU, more than {TARGET_S:.0f}")
    lines = [
        machine(f"python -m benchmarks.compare --runs {options.runs} --repeats {options.repeats} --write"),
        "",
        f"Seconds for {SEEDS * len(STRATEGIES) * times:,} runs, medians of {options.repeats}; with the figures of the",
        f"runs at most {TARGET_S:.0f} of CPU time, which is that of all processes, Spark's JVM included.",
        "",
        *table(("runs", "figures by", "s", "CPU s"), rows),
    ]
    return conclude("compare", lines, problems, write=options.write)


if __name__ == "__main__":
    sys.exit(main())
