"""``python -m benchmarks.cost [SHAPE ...] [--write]``: how far off is the CPU time that ``validate`` and ``run`` say of
sampled runs?

Each shape is run once, and its estimate is made beforehand. Exit code 1 where an estimate is less than half or more
than twice what the run took. Some six minutes of CPU for all; name shapes for less.
"""

from __future__ import annotations

import sys
import time

from benchmarks.program import conclude, parser_of
from benchmarks.results import machine
from benchmarks.sampled.long_moves import LONG_MOVES
from benchmarks.tables import table
from scenarios.forecasting.cpu_cost import cost_of
from scenarios.language import Scenario
from scenarios.runs import run_scenario

MOST = 2.0
"""The factor by which an estimate may be off."""


def _row(name: str, scenario: Scenario) -> tuple[float, tuple[str, ...]]:
    """The ratio of the estimate to what the run took, and the row of the table."""
    drawn = scenario.for_run(seed=0)
    cost = cost_of(drawn, precise=True)
    assert cost is not None
    began = time.process_time()
    run = run_scenario(drawn)
    took_s = time.process_time() - began
    assert run.leaping is not None
    moves = 0 if drawn.plan is None else len(drawn.plan.targets())
    ratio = cost.cpu_s / took_s
    measured_s = run.virtual_s - run.leaping.leapt_us / 1e6
    return ratio, (
        name,
        str(moves),
        f"{run.virtual_s:,.0f}",
        f"{measured_s:,.0f}",
        f"{cost.simulated * cost.virtual_s:,.0f}",
        f"{took_s:.0f}",
        f"{cost.cpu_s:.0f}",
        f"{ratio:.2f}",
    )


def main() -> int:
    parser = parser_of("cost", __doc__)
    parser.add_argument("shapes", nargs="*", metavar="SHAPE", help=f"of {', '.join(LONG_MOVES)}; none: all")
    options = parser.parse_args()
    unknown = [name for name in options.shapes if name not in LONG_MOVES]
    if unknown or (options.shapes and options.write):
        parser.error(f"no shape {unknown[0]!r}" if unknown else "--write writes the table of all shapes; name none")
    found = {name: _row(name, LONG_MOVES[name]()) for name in options.shapes or LONG_MOVES}
    heads = ("shape", "moves", "virtual s", "simulated", "estimated", "CPU s", "estimated", "estimated / taken")
    lines = [
        machine("python -m benchmarks.cost --write"),
        "",
        "One sampled run of each shape, seed 0, and what was estimated beforehand.",
        "",
        *table(heads, [row for _, row in found.values()]),
    ]
    far = [f"{name}: {ratio:.2f}" for name, (ratio, _) in found.items() if not 1 / MOST <= ratio <= MOST]
    return conclude("cost", lines, far, write=options.write)


if __name__ == "__main__":
    sys.exit(main())
