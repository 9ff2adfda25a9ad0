"""Prints the digests of library scenarios as JSON: run in fresh processes, without Hypothesis and pytest-trio, which
switch on what makes Trio itself deterministic.

Usage: python -m tests.scenarios.determinism.digests NAME:STRATEGY...
"""

import json
import sys
from pathlib import Path

from scenarios.language import Scenario
from scenarios.runs import run_scenario

LIBRARY = Path(__file__).parents[3] / "scenarios" / "library"
UNWANTED = ("hypothesis", "pytest", "pytest_trio")


def main(runs: list[str]) -> None:
    digests = {}
    for run in runs:
        name, strategy = run.split(":")
        digests[run] = run_scenario(Scenario.load(LIBRARY / f"{name}.toml"), strategy=strategy).digest
    print(json.dumps({"digests": digests, "unwanted": [name for name in UNWANTED if name in sys.modules]}))


if __name__ == "__main__":
    main(sys.argv[1:])
