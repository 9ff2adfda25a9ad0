"""A sweep in a process of its own: ``python -m tests.scenarios.studies.spark.sweeping OUT MASTER SCENARIO SEEDS``.

``SCENARIO``: a file, one of the library, or ``synthetic``. ``MASTER``: ``none`` is this process, without Spark. Exit
code 130 on Ctrl-C, as the command line has it.
"""

from __future__ import annotations

import sys
from pathlib import Path

from scenarios import plugins
from scenarios.language.files import load
from scenarios.runs.dataset.manifest import write_manifest
from scenarios.runs.dataset.reader import finished_runs
from scenarios.runs.dataset.run_record import RunRecord, RunSpec
from scenarios.studies.design import Design
from scenarios.studies.planning import manifest_of
from scenarios.studies.spark.chunk import DoneChunk, plan, run_chunk
from scenarios.studies.spark.sweep import SweepInterrupted, Swept, sweep
from tests.scenarios.studies.spark.synthetic import STRATEGIES, synthetic_design

SPIN_S = 0.2
SYNTHETIC = "tests.scenarios.studies.spark.synthetic:run_record"
WITHOUT_SPARK = "none"
REAL = "tests.scenarios.studies.spark.sweeping:real_record"


def real_record(spec: RunSpec) -> RunRecord:
    """The real runner, by way of a package that executors have only if the sweep ships it."""
    from scenarios.runs import run_record

    return run_record(spec)


def _show(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def design_of(name: str, seeds: int) -> Design:
    """Both strategies over the first seeds."""
    if name == "synthetic":
        return synthetic_design(range(seeds), spin_s=SPIN_S)
    return Design.of(load(name, ()), seeds=range(seeds), strategies=STRATEGIES)


def swept(out: Path, master: str, name: str, seeds: int) -> Swept:
    runner = SYNTHETIC if name == "synthetic" else REAL
    if master == WITHOUT_SPARK:
        design = design_of(name, seeds)
        write_manifest(out, manifest_of(design, "sweep"))
        done = finished_runs(out)
        missing = plan(design, out, experiment="sweep", runner=runner, done=done)
        for chunk in missing:
            assert isinstance(run_chunk(chunk), DoneChunk)
        return Swept(out, sum(len(chunk.items) for chunk in missing), len(done))
    return sweep(design_of(name, seeds), out, master=master, runner=runner, progress=_show)


def main(out: str, master: str, name: str, seeds: str) -> int:
    plugins.load()
    try:
        done = swept(Path(out), master, name, int(seeds))
    except SweepInterrupted as interrupted:
        print(interrupted)
        return 130
    print(f"{done.runs} runs")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
