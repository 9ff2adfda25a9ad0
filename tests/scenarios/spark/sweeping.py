"""A sweep in a process of its own: ``python -m tests.scenarios.spark.sweeping OUT MASTER SEEDS SPIN_S``.

Exit code 130 on Ctrl-C, as the command line has it.
"""

from __future__ import annotations

import sys
from pathlib import Path

from scenarios.spark.sweep import SweepInterrupted, sweep
from tests.scenarios.spark.synthetic import SyntheticScenario

RUNNER = "tests.scenarios.spark.synthetic:run_record"


def main(out: str, master: str, seeds: str, spin_s: str) -> int:
    scenario = SyntheticScenario(spin_s=float(spin_s))
    strategies = ("wiki", "kafka-6794")
    try:
        done = sweep(
            scenario,
            range(int(seeds)),
            strategies,
            Path(out),
            master=master,
            runner=RUNNER,
            progress=sys.stderr,
        )
    except SweepInterrupted as interrupted:
        print(interrupted)
        return 130
    print(f"{done.runs} runs")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
