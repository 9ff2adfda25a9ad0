"""A sweep in a process of its own: ``python -m tests.scenarios.studies.spark.sweeping OUT MASTER SCENARIO SEEDS``.

``SCENARIO``: one of the library, or ``synthetic``. Exit code 130 on Ctrl-C, as the command line has it.
"""

from __future__ import annotations

import sys
from pathlib import Path

from scenarios.cli.files import load
from scenarios.runs.dataset.record import RunRecord, RunSpec
from scenarios.studies.spark.sweep import Sweepable, SweepInterrupted, Swept, sweep
from tests.scenarios.studies.spark.synthetic import SyntheticScenario

SPIN_S = 0.4
STRATEGIES = ("wiki", "kafka-6794")
SYNTHETIC = "tests.scenarios.studies.spark.synthetic:run_record"
REAL = "tests.scenarios.studies.spark.sweeping:real_record"


def real_record(spec: RunSpec) -> RunRecord:
    """The real runner, by way of a package that executors have only if the sweep ships it."""
    from scenarios.runs import run_record

    return run_record(spec)


def _show(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def swept(out: Path, master: str, name: str, seeds: int) -> Swept:
    scenario: Sweepable = SyntheticScenario(spin_s=SPIN_S) if name == "synthetic" else load(name, ())
    runner = SYNTHETIC if name == "synthetic" else REAL
    return sweep(scenario, range(seeds), STRATEGIES, out, master=master, runner=runner, progress=_show)


def main(out: str, master: str, name: str, seeds: str) -> int:
    try:
        done = swept(Path(out), master, name, int(seeds))
    except SweepInterrupted as interrupted:
        print(interrupted)
        return 130
    print(f"{done.runs} runs")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
