"""``python -m benchmarks.forecast [--cases N] [--write]``: how far off is the arithmetic of ``understudy forecast``?

Drawn moves are carried out by exact runs. A run must not take less than the bound; what is said never to end must not
end. Exit code 1 where either is wrong. The other figures are shown, not judged.

``--by-runs SEEDS``: instead, the forecast's sampled runs against exact ones, so many seeds each.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Sequence
from statistics import median

from attrs import frozen

from benchmarks.forecast.by_runs import HEAD, rows
from benchmarks.forecast.cases import KINDS, Case, drawn
from benchmarks.program import conclude, parser_of
from benchmarks.results import machine
from benchmarks.tables import table
from scenarios.forecasting.arithmetic import Outlook, forecast
from scenarios.forecasting.cpu_cost import cost_of
from scenarios.runs import run_scenario


@frozen
class Measured:
    """A case, what was forecast, and what the exact run took: None if it did not end."""

    case: Case
    outlook: Outlook
    took_s: float | None
    cpu_s: float
    estimated_cpu_s: float

    @property
    def off(self) -> float:
        """The estimate against the run, as a share of the run."""
        assert self.outlook.estimate_s is not None
        assert self.took_s is not None
        return self.outlook.estimate_s / self.took_s - 1


def measured(case: Case) -> Measured:
    scenario = case.scenario
    [outlook] = forecast(scenario, scenario.plans[0]).outlooks
    began = time.process_time()
    run = run_scenario(scenario)
    took_s = run.metrics["time_to_complete_s"]
    assert took_s is None or isinstance(took_s, float)
    cpu_s, cost = time.process_time() - began, cost_of(scenario, precise=True)
    assert cost is not None
    return Measured(case, outlook, took_s, cpu_s, cost.cpu_s)


def problems_of(all_: Iterable[Measured]) -> list[str]:
    """The cases that contradict the forecast."""
    found = []
    for one in all_:
        name = f"{one.case.kind}, case {one.case.number}"
        if one.took_s is not None and one.took_s < one.outlook.at_least_s:
            found.append(f"{name}: took {one.took_s:.1f} s, at least {one.outlook.at_least_s:.1f} s were forecast")
        if one.outlook.never_ends is not (one.took_s is None):
            found.append(f"{name}: forecast to end: {not one.outlook.never_ends}, ended: {one.took_s is not None}")
    return found


def row(kind: str, ones: Sequence[Measured]) -> tuple[str, ...]:
    ended = [one for one in ones if one.took_s is not None and not one.outlook.never_ends]
    cpu_s = sum(one.cpu_s for one in ones)
    costs = [one.estimated_cpu_s / one.cpu_s for one in ones]
    cost = f"{median(costs):.2f} ({min(costs):.2f} to {max(costs):.2f})"
    if not ended:
        right = sum(one.took_s is None and one.outlook.never_ends for one in ones)
        return kind, str(len(ones)), f"{right} do not end", "", "", "", f"{cpu_s:.0f}", cost
    offs = [one.off for one in ended]
    bounds = [one.outlook.at_least_s / one.took_s for one in ended if one.took_s]
    return (
        kind,
        str(len(ones)),
        f"{median(map(abs, offs)):.1%}",
        f"{median(offs):+.1%}",
        f"{min(offs):+.1%} to {max(offs):+.1%}",
        f"{median(bounds):.0%}, at most {max(bounds):.0%}",
        f"{cpu_s:.0f}",
        cost,
    )


def main() -> int:
    parser = parser_of("forecast", __doc__)
    parser.add_argument("--cases", type=int, default=12, help="how many of each kind")
    parser.add_argument("--kind", choices=tuple(KINDS), help="this kind alone")
    parser.add_argument("--by-runs", type=int, metavar="SEEDS", help="sampled runs against exact ones")
    options = parser.parse_args()
    if options.by_runs is not None:
        kinds = KINDS if options.kind is None else (options.kind,)
        found = [one for kind in kinds for case in drawn(kind, options.cases) for one in rows(case, options.by_runs)]
        return conclude("forecast, by runs", table(HEAD, found), write=False)
    if options.kind is not None and options.write:
        parser.error("--write writes the table of all kinds; leave --kind out")
    of_kinds, all_ = [], []
    for kind in KINDS if options.kind is None else (options.kind,):
        ones = [measured(case) for case in drawn(kind, options.cases)]
        all_ += ones
        wide, narrow = [one for one in ones if not one.outlook.near], [one for one in ones if one.outlook.near]
        if kind == "never ends":
            wide, narrow = ones, []
        of_kinds += [row(kind, wide)] if wide else []
        of_kinds += [row(f"{kind}, throttle nearer", narrow)] if narrow else []
    more = "" if options.cases == 12 else f" --cases {options.cases}"
    lines = [
        machine(f"python -m benchmarks.forecast{more} --write"),
        "",
        "The estimate of `understudy forecast` against exact runs of drawn moves. *Throttle nearer*: one of less",
        "than 1.5 times the one below which the move does not end.",
        "",
        *table(
            (
                "moves",
                "cases",
                "median error",
                "median",
                "from",
                "bound / run",
                "CPU s of the runs",
                "estimated / used, each",
            ),
            of_kinds,
        ),
    ]
    return conclude("forecast", lines, problems_of(all_), write=options.write)


if __name__ == "__main__":
    sys.exit(main())
