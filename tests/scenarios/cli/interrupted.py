"""``understudy sweep`` whose runs from seed 3 on never end: the process that a test interrupts.

``python -m tests.scenarios.cli.interrupted sweep ...``
"""

from __future__ import annotations

import functools
import signal
import sys

from scenarios.cli import main
from scenarios.runs.dataset.run_record import RunRecord, RunSpec

ENDLESS_FROM = 3


def run_record(spec: RunSpec) -> RunRecord:
    """The real runner for the first seeds."""
    from scenarios.runs import run_record as real

    while spec.seed >= ENDLESS_FROM:
        signal.pause()
    return real(spec)


if __name__ == "__main__":
    import scenarios.studies.spark.sweep as module

    module.sweep = functools.partial(module.sweep, runner="tests.scenarios.cli.interrupted:run_record")
    sys.exit(main())
