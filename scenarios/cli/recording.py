"""One of the two processes of ``run --check``: reads a request from standard input, records the run's events
into a file and prints the run's digest.

``recorder`` names the function that does it, as ``module:function``; tests name one with an injected fault.
"""

from __future__ import annotations

import importlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from scenarios.cli.start import quick_start

RECORDER = f"{__package__.removesuffix('.cli')}.runs:record_events"  # in a wheel the packages have another name


def main() -> int:
    from scenarios.cli import exits, log_output  # after the start is prepared, like every import that needs attrs

    log_output.configure()
    try:
        print(_record(json.load(sys.stdin)))
    except BaseException as error:
        return exits.explain(error)
    return exits.PASSED


def _record(request: dict[str, Any]) -> str:
    from scenarios import plugins
    from scenarios.language import Scenario

    plugins.restore(plugins.Plugin(*words) for words in request["plugins"])
    module, _, function = request["recorder"].partition(":")  # by name: a function is sent to another process by it
    record: Callable[..., str] = getattr(importlib.import_module(module), function)
    scenario = Scenario.from_table(request["scenario"], source=request["source"])
    return record(
        scenario,
        Path(request["path"]),
        seed=scenario.seed,
        strategy=scenario.strategy.name,
        profile=scenario.profile,
    )


if __name__ == "__main__":
    # Classes differ in their hashes, too, so that a set of values without texts has another order in each process.
    with quick_start(lasting_hashes=False):
        code = main()
    sys.exit(code)
