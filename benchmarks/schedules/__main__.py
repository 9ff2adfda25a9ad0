"""``python -m benchmarks.schedules [--seeds 40] [--bug BUG]... [--keep FILE] [--write]``: which schedule finds which
bug of the museum sooner.

Each bug is switched on, in the profile of its case, in the same random scenarios under each schedule. A seed finds it
when the bug's checker fires, and does not fire in the same run without the bug. The scenarios differ in nothing but the
schedule: where and when faults strike comes from other streams.
"""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from attrs import evolve, frozen

from benchmarks.program import conclude, parser_of, quiet
from benchmarks.results import machine
from benchmarks.tables import table
from emulator.kernel import KernelError
from scenarios.chaos.draw import concrete, default_swarm
from scenarios.errors import BadInput
from scenarios.language import Scenario
from scenarios.language.schedules import FIFO
from scenarios.museum.exhibits import exhibit
from scenarios.profiles.tickets import BUGS
from scenarios.runs import run_scenario

SHORT_US, LONG_US = 10_000, 300_000
SCHEDULES = {
    FIFO: (FIFO, SHORT_US),
    **{f"{name} {SHORT_US // 1000}ms": (name, SHORT_US) for name in ("random", "pct-3", "pos")},
    **{f"{name} {LONG_US // 1000}ms": (name, LONG_US) for name in ("random", "pct-3", "pos")},
}
"""The schedule and its jitter, by the head of the column."""

INTRODUCTION = """
The bugs of `understudy museum`, each switched on in random scenarios of `understudy chaos`. A cell is how many of the
seeds find the bug, and the first that does. A seed finds it when the bug's checker fires with the bug and not without.
Each schedule has a `schedule_jitter` of 10 ms and one of 300 ms. In bold: those with the most.
"""


@frozen
class Hunt:
    """The seeds that found a bug under a schedule."""

    bug: str
    schedule: str
    found: tuple[int, ...]


def finds(bug: str, schedule: str, seed: int) -> bool:
    """Whether a seed finds a bug under a schedule. A run that the program cannot finish finds nothing."""
    shown = exhibit(bug)
    base = evolve(default_swarm(), profile=shown.scenario.profile, bugs=(bug,))
    try:
        name, jitter_us = SCHEDULES[schedule]
        drawn = evolve(concrete(base, seed), schedule=name, schedule_jitter_us=jitter_us)
        return _fires(drawn, shown.entry.checker) and not _fires(evolve(drawn, bugs=()), shown.entry.checker)
    except (BadInput, KernelError) as error:
        print(f"{bug}, {schedule}, seed {seed}: {type(error).__name__}: {error}", file=sys.stderr)
        return False


def _fires(scenario: Scenario, checker: str) -> bool:
    return any(violation.invariant == checker for violation in run_scenario(scenario).violations)


def hunts(bugs: Iterable[str], seeds: int, keep: Path | None) -> Mapping[tuple[str, str], Hunt]:
    """All hunts. ``keep``: a file for the results, so that an interrupted benchmark goes on."""
    done: dict[tuple[str, str], Hunt] = {}
    if keep is not None and keep.exists():
        for line in keep.read_text(encoding="utf-8").splitlines():
            bug, schedule, of, found = json.loads(line)
            if of == seeds:
                done[bug, schedule] = Hunt(bug, schedule, tuple(found))
    for bug in bugs:
        for schedule in SCHEDULES:
            if (bug, schedule) in done:
                continue
            found = tuple(seed for seed in range(seeds) if finds(bug, schedule, seed))
            done[bug, schedule] = Hunt(bug, schedule, found)
            print(f"{bug} {schedule}: {len(found)} of {seeds}", file=sys.stderr, flush=True)
            if keep is not None:
                with keep.open("a", encoding="utf-8") as file:
                    file.write(json.dumps((bug, schedule, seeds, found)) + "\n")
    return done


def lines(done: Mapping[tuple[str, str], Hunt], bugs: Sequence[str], seeds: int) -> list[str]:
    """The table, a bug a line; those that nothing found come last, in one sentence."""
    rows, never = [], []
    for bug in bugs:
        row = [done[bug, schedule].found for schedule in SCHEDULES]
        most = max(map(len, row))
        if most:
            rows.append((bug, BUGS[bug].checker, *(_cell(found, most) for found in row)))
        else:
            never.append(bug)
    total = ("all", "", *(str(sum(len(done[bug, schedule].found) for bug in bugs)) for schedule in SCHEDULES))
    bugs_found = ("bugs found", "", *(str(sum(bool(done[bug, s].found) for bug in bugs)) for s in SCHEDULES))
    heads = ("Bug", "Checker", *(f"`{schedule}`" for schedule in SCHEDULES))
    found = [*table(heads, [*rows, total, bugs_found])]
    if never:
        found += ["", f"Under none of them in {seeds} seeds: {', '.join(never)}."]
    return found


def _cell(found: Sequence[int], most: int) -> str:
    if not found:
        return "-"
    text = f"{len(found)} (seed {found[0]})"
    return f"**{text}**" if len(found) == most else text


def main() -> int:
    parser = parser_of("schedules", __doc__)
    parser.add_argument("--seeds", type=int, default=40, help="of each bug and schedule, from 0 on (default: 40)")
    parser.add_argument("--bug", action="append", choices=list(BUGS), help="only this one; repeatable")
    parser.add_argument("--keep", type=Path, help="write what is done into this file, and leave out what it holds")
    arguments = parser.parse_args()
    quiet()
    bugs = arguments.bug or list(BUGS)
    done = hunts(bugs, arguments.seeds, arguments.keep)
    command = f"python -m benchmarks.schedules --seeds {arguments.seeds}"
    found = [machine(command), *INTRODUCTION.splitlines(), "", *lines(done, bugs, arguments.seeds)]
    return conclude("schedules", found, write=arguments.write)


if __name__ == "__main__":
    sys.exit(main())
