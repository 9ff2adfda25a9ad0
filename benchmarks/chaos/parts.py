"""``python -m benchmarks.chaos.parts [--seeds 4] [--repeats 7] [--write]``: what single parts of a chaos seed cost:
how much CPU time it takes without them.

The seeds are run in turn with each part left out. A ratio is that of a seed without the part to the same seed with all,
in the same round, so that a noisy machine shifts it little. Without a part a run may end otherwise: the figures say
what could be gained at most, and nothing is judged.
"""

import gc
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from statistics import median
from unittest.mock import patch

from attrs import evolve

from benchmarks.chaos.__main__ import swarm
from benchmarks.program import conclude, parser_of
from benchmarks.results import machine
from benchmarks.tables import table
from emulator.metrics.metrics import Meter
from emulator.trace import trace
from scenarios.chaos.kinds.shape import Healing
from scenarios.runs import runner
from scenarios.studies.chaos.seed_run import Drawn, run_seed


@contextmanager
def _no_meters() -> Iterator[None]:
    with ExitStack() as patches:
        for name in ("mark", "mark_idly", "add_since"):
            patches.enter_context(patch.object(Meter, name, lambda *_: None))
        yield


@contextmanager
def _no_collector() -> Iterator[None]:
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


PARTS: dict[str, Callable[[], AbstractContextManager[object]]] = {
    "everything": nullcontext,
    "meters": _no_meters,
    "nine of ten looks (one each second)": lambda: patch.object(runner, "LOOK_US", 1_000_000),
    "the digest": lambda: patch.object(trace, "as_bytes", lambda _: bytes(8)),
    "freeing what the run leaves": _no_collector,
    "faults": nullcontext,
    "load": nullcontext,
}
"""The parts that can be left out, and how; ``everything`` is the run with all of them."""


def drawn(part: str) -> Drawn:
    """The file and settings from which the seeds are drawn, without ``part``."""
    scenario = swarm()
    if part == "faults":
        return Drawn(scenario=evolve(scenario, chaos=[kind for kind in scenario.chaos if isinstance(kind, Healing)]))
    return Drawn(scenario=evolve(scenario, workloads=[]) if part == "load" else scenario)


def cpu_s(part: str, what: Drawn, seed: int) -> float:
    """The CPU time of a seed without ``part``."""
    with PARTS[part]():
        began = time.process_time()
        run_seed(what, seed)
        taken = time.process_time() - began
    gc.collect()
    return taken


def main() -> int:
    parser = parser_of("chaos.parts", __doc__, repeats=7)
    parser.add_argument("--seeds", type=int, default=4)
    options = parser.parse_args()
    of = {part: drawn(part) for part in PARTS}
    ratios: dict[str, list[float]] = {part: [] for part in PARTS}
    run_seed(of["everything"], 0)
    for turn in range(options.repeats):
        order = list(PARTS) if turn % 2 else list(reversed(PARTS))
        for seed in range(options.seeds):
            taken = {part: cpu_s(part, of[part], seed) for part in order}
            for part, found in ratios.items():
                found.append(taken[part] / taken["everything"])
    rows = [(part, f"{1 - median(found):.1%}") for part, found in ratios.items() if part != "everything"]
    command = f"python -m benchmarks.chaos.parts --seeds {options.seeds} --repeats {options.repeats} --write"
    lines = [machine(command), "", *table(("part", "share of the CPU time of a seed"), rows)]
    return conclude("chaos-parts", lines, write=options.write)


if __name__ == "__main__":
    sys.exit(main())
