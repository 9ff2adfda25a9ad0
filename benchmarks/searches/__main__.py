"""``python -m benchmarks.searches [--bug TICKET ...] [--budget SECONDS] [--write]``: which search finds more bugs in
the same CPU time, plain or branching?

Each bug of the museum is switched on in the profile of its case, and searched for by both, one run after the other in
this process, until a run has a finding that no known behaviour of the release explains, or the budget is over. The CPU
time of forks counts. Without ``--bug`` it is a slice of bugs that few seeds show: the default swarm finds the others
before a search has learnt what is rare.
"""

import math
import os
from collections.abc import Iterator
from typing import NamedTuple

from attrs import evolve

from benchmarks.program import conclude, parser_of
from benchmarks.results import machine
from benchmarks.tables import table
from scenarios.chaos.draw import default_swarm
from scenarios.museum.densities import densities
from scenarios.museum.exhibits import exhibit
from scenarios.observe.branch_visits import can_watch
from scenarios.runs.batch import ThisProcess
from scenarios.studies.chaos.leaning import names_of
from scenarios.studies.chaos.search import Search
from scenarios.studies.chaos.seed_run import Drawn, SeedResult, run_seed

RARE = (4, 30)
"""The bugs of the slice: so many of 1,000 seeds show them."""
SLICE = 4
FIRST_SEED = 5_000
"""Seeds that no other measurement uses."""


class Found(NamedTuple):
    """The outcome of one search: the CPU seconds until its first finding, or all that it had; its runs."""

    seen: str
    cpu_s: float
    runs: int


def cpu_s() -> float:
    """The CPU time of this process and of its forks."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def plain(drawn: Drawn) -> Iterator[SeedResult]:
    for seed in range(FIRST_SEED, 2 * FIRST_SEED):
        yield run_seed(drawn, seed)


def branching(drawn: Drawn) -> Iterator[SeedResult]:
    seeds = range(FIRST_SEED, 2 * FIRST_SEED)
    search = Search(drawn=drawn, seeds=seeds, done={}, ends_s=math.inf, is_over=lambda: False)
    for results in search.results(ThisProcess()):
        yield from results


def hunt(results: Iterator[SeedResult], budget_s: float) -> Found:
    began, runs = cpu_s(), 0
    for result in results:
        runs += 1
        if result.new:
            return Found(f"{result.new[0].checker}{' (branch)' if result.path else ''}", cpu_s() - began, runs)
        if cpu_s() - began >= budget_s:
            break
    return Found("", cpu_s() - began, runs)


def drawn_with(ticket: str) -> Drawn:
    profile = exhibit(ticket).scenario.profile
    scenario = evolve(default_swarm(), bugs=(ticket,)).for_run(profile=profile)
    return Drawn(scenario=scenario, names=names_of(profile, scenario.strategy.parsed.protocol))


def sliced() -> list[str]:
    """The slice: bugs of the museum that few seeds show, spread over the alphabet."""
    rare = sorted(name for name, one in densities().items() if RARE[0] <= one.per_1000 <= RARE[1])
    return rare[:: max(1, len(rare) // SLICE)][:SLICE]


def main() -> int:
    parser = parser_of("searches", __doc__)
    parser.add_argument("--bug", action="append", help="only this one; repeatable (default: the slice)")
    parser.add_argument("--budget", type=float, default=40.0, help="CPU seconds of a search (default: 40)")
    options = parser.parse_args()
    rows, found, spent = [], {"plain": 0, "branching": 0}, {"plain": 0.0, "branching": 0.0}
    for ticket in options.bug or sliced():
        drawn, cells = drawn_with(ticket), []
        for name, search in (("plain", plain), ("branching", branching)):
            one = hunt(search(drawn), options.budget)
            found[name] += bool(one.seen)
            spent[name] += one.cpu_s
            cells.append(f"{one.seen or 'nothing'}: {one.cpu_s:.0f} s, {one.runs} runs")
        rows.append((ticket, *cells))
        print(*rows[-1], sep=" | ", flush=True)
    watched = "branches (sys.monitoring)" if can_watch() else "reach names (Python before 3.12)"
    total = [f"{found[name]} bugs in {spent[name]:.0f} CPU s: {3600 * found[name] / spent[name]:.0f} an hour"
             for name in found]  # fmt: skip
    lines = [
        machine(f"python -m benchmarks.searches --budget {options.budget:g}"), "",
        f"What is rare is told by {watched}.", "",
        *table(("bug", "plain", "branching"), [*rows, ("all", *total)]),
    ]  # fmt: skip
    return conclude("searches", lines, write=options.write)


if __name__ == "__main__":
    raise SystemExit(main())
