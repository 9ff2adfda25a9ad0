"""Prints the digests of library scenarios as JSON: run in fresh processes, without Hypothesis and pytest-trio, which
switch on what makes Trio itself deterministic.

Usage: python -m tests.scenarios.determinism.digests NAME:STRATEGY...
"""

import json
import sys
from pathlib import Path

from scenarios.cli.start import quick_start

LIBRARY = Path(__file__).parents[3] / "scenarios" / "library"
UNWANTED = ("hypothesis", "pytest", "pytest_trio")


def main(runs: list[str]) -> None:
    from scenarios.language import Scenario  # once the start is prepared, as all that needs attrs
    from scenarios.runs import run_scenario

    digests = {}
    for run in runs:
        name, strategy = run.split(":")
        digests[run] = run_scenario(Scenario.load(LIBRARY / f"{name}.toml"), strategy=strategy).digest
    print(json.dumps({"digests": digests, "unwanted": [name for name in UNWANTED if name in sys.modules]}))


if __name__ == "__main__":
    with quick_start(lasting_hashes=False):
        main(sys.argv[1:])
