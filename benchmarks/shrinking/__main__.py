"""``python -m benchmarks.shrinking [--cases 10] [--runs N] [--jobs N] [--out FOLDER] [--write]``: how small does
``understudy shrink`` make what chaos finds?

A case is a bug of the museum that chaos is known to find (``scenarios/museum/densities.json``), every n-th of them by
name. The first seed of the default chaos that shows it, with a finding which the same run without the bug does not
have, is shrunk. What comes out is written to a file, read again and run: it has to have the same finding. ``--out``
keeps the files, and a line for each case that is done, so that a broken-off run goes on.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

from attrs import evolve

from benchmarks.program import conclude, parser_of, quiet
from benchmarks.results import machine
from benchmarks.tables import table
from scenarios.chaos.draw import concrete, default_swarm
from scenarios.language import Scenario
from scenarios.language.files import load
from scenarios.museum.densities import densities
from scenarios.museum.exhibits import exhibit
from scenarios.runs.finding import Finding
from scenarios.studies.shrink import Limits, Shrinker
from scenarios.studies.shrink.trial import found_in

MOST_BROKERS, MOST_PARTITIONS, MOST_FAULTS, SCREEN = 3, 1, 2, 50
"""The targets: the most that half of the files may have; a screen has so many lines."""


class Case(NamedTuple):
    """One finding, shrunk.

    Attributes:
        before, after: faults, partitions, brokers, and lines of the file.
        same: the file, read again, has the finding.
        finished: nothing smaller was found in a whole round.
    """

    bug: str
    seed: int
    checker: str
    before: tuple[int, int, int, int]
    after: tuple[int, int, int, int]
    runs: int
    finished: bool
    same: bool


def bugs(cases: int) -> list[str]:
    """Every n-th of those that chaos finds."""
    found = [bug for bug, density in sorted(densities().items()) if density.found]
    return found[:: max(1, len(found) // cases)][:cases]


def first_finding(bug: str) -> tuple[Scenario, Finding]:
    """The scenario and finding of the first seed that shows the bug, in the profile of its case."""
    swarm = evolve(default_swarm(), profile=exhibit(bug).scenario.profile, bugs=(bug,))
    for seed in count():
        drawn = concrete(swarm, seed)
        found = found_in(drawn, by_itself=True)
        if found:
            without = found_in(evolve(drawn, bugs=()))
            new = [one for one in found if one not in without]
            if new:
                return drawn, new[0]
    raise AssertionError("seeds do not end")


def shrink(bug: str, limits: Limits, folder: Path) -> Case:
    """One case; its file is put into ``folder``."""
    drawn, finding = first_finding(bug)
    shrunk = Shrinker(drawn, finding, limits).shrink()
    file = folder / f"{bug}.toml"
    file.write_text(shrunk.scenario.to_toml(), encoding="utf-8")
    same = finding in found_in(load(str(file)))
    (before, after) = (
        (size.faults, size.partitions, size.brokers, size.lines) for size in (shrunk.before, shrunk.after)
    )
    return Case(bug, drawn.seed, finding.checker, before, after, shrunk.runs, shrunk.finished, same)


def cases(wanted: Sequence[str], limits: Limits, folder: Path) -> Iterator[Case]:
    """The cases of which ``folder`` has a line, then the others, each as soon as it is done."""
    kept = folder / "cases.jsonl"
    done = [Case(**json.loads(line)) for line in kept.read_text().splitlines()] if kept.exists() else []
    by_bug = {case.bug: case for case in done}
    for bug in wanted:
        case = by_bug.get(bug) or shrink(bug, limits, folder)
        if bug not in by_bug:
            with kept.open("a", encoding="utf-8") as file:
                file.write(json.dumps(case._asdict()) + "\n")
            print(f"{bug}: {case.before} -> {case.after}, {case.runs} runs", file=sys.stderr, flush=True)
        yield case


def lines(done: Sequence[Case]) -> list[str]:
    """The lines of the table: one for each case, and the medians."""
    heads = ("Bug", "Seed", "Checker", "Faults", "Partitions", "Brokers", "Lines of the file", "Runs", "Same finding")
    rows = [
        (
            case.bug, str(case.seed), f"`{case.checker}`",
            *(f"{was} → {now}" for was, now in zip(case.before, case.after, strict=True)),
            f"{case.runs:,}" + ("" if case.finished else ", stopped"), "yes" if case.same else "no",
        )
        for case in done
    ]  # fmt: skip
    middle = ("median", "", "", *(f"{was:g} → {now:g}" for was, now in _medians(done)), "", "")
    limits = (f"≤ {most}" for most in (MOST_FAULTS, MOST_PARTITIONS, MOST_BROKERS, SCREEN))
    return table(heads, [*rows, middle, ("target of the median", "", "", *limits, "", "all")])


def _medians(done: Sequence[Case]) -> list[tuple[float, float]]:
    return [
        (median(case.before[part] for case in done), median(case.after[part] for case in done)) for part in range(4)
    ]


def problems(done: Sequence[Case]) -> list[str]:
    """The missed targets, in words."""
    names = ("faults", "partitions", "brokers", "lines")
    targets = (MOST_FAULTS, MOST_PARTITIONS, MOST_BROKERS, SCREEN)
    found = [
        f"the median file has {after:g} {name}, {most} at most are wanted"
        for name, most, (_, after) in zip(names, targets, _medians(done), strict=True)
        if after > most
    ]
    return found + [f"{case.bug}: its file does not have the finding" for case in done if not case.same]


def main() -> int:
    parser = parser_of("shrinking", __doc__)
    parser.add_argument("--cases", type=int, default=10, help="how many (default: 10)")
    parser.add_argument("--runs", type=int, help="stop each after so many runs (default: at the smallest)")
    parser.add_argument("--jobs", type=int, default=1, help="processes that try (default: 1)")
    parser.add_argument("--out", type=Path, help="a folder for the files and for what is done")
    arguments = parser.parse_args()
    quiet()
    limits = Limits(runs=arguments.runs, jobs=arguments.jobs)
    with TemporaryDirectory(prefix="understudy-shrinking-") as temporary:
        folder = arguments.out or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        done = list(cases(bugs(arguments.cases), limits, folder))
    some = f" --runs {arguments.runs}" if arguments.runs else ""
    found = [machine(f"python -m benchmarks.shrinking --cases {arguments.cases}{some}"), "", *lines(done)]
    return conclude("shrinking", found, problems(done), write=arguments.write)


if __name__ == "__main__":
    sys.exit(main())
