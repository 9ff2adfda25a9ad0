"""``python -m benchmarks.density [--seeds N] [--enough K] [--jobs N] [--bug TICKET] [--out FILE] [--write]``: how many
of 1,000 seeds of the default chaos find each bug of the museum?

Each bug is switched on in the profile of its case, and seeds are run from 0 on until ``--enough`` of them find it, or
``--seeds`` are over. A seed finds a bug if it has a finding that no known behaviour of the release explains, and the
same seed without the bug has none, or none of the checker that the bug's entry names. A bug also changes the times of
events, so a defect of the profile itself may appear only in a seed with the bug. The table therefore has the number of
seeds of each profile with such a finding without a bug (``--noise``). ``--write`` writes the table into RESULTS.md, and
the figures into ``scenarios/museum/densities.json``, which ``understudy museum`` and docs/reference/bugs-and-guards.md
show. ``--out`` keeps a line for each bug that is done, so that an interrupted run goes on.
"""

from __future__ import annotations

import json
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from attrs import evolve

from benchmarks.program import conclude, parser_of
from benchmarks.results import machine
from benchmarks.tables import table
from scenarios.chaos.draw import default_swarm, swarm_digest
from scenarios.museum.densities import FILE, Density, write_densities
from scenarios.museum.exhibits import exhibit
from scenarios.profiles.tickets import BUGS
from scenarios.runs.batch import FailedItem, Processes
from scenarios.studies.chaos.seed_run import Drawn, SeedChunk, work

ENOUGH = 5
WANTED = 56


def checkers(profile: str, bugs: tuple[str, ...], seed: int) -> frozenset[str]:
    """The checkers with a finding in a seed that the release does not explain; ``tool``: the program raises an
    exception."""
    swarm = evolve(default_swarm(), bugs=bugs).for_run(profile=profile)
    done = work(SeedChunk(Drawn(scenario=swarm), (seed,)))
    assert not isinstance(done, FailedItem)
    return frozenset(one.checker for one in done[0].new)


@cache
def without(profile: str, seed: int) -> frozenset[str]:
    """The checkers with a finding in a seed without a bug."""
    return checkers(profile, (), seed)


def news(ticket: str, profile: str, seed: int) -> frozenset[str]:
    """The checkers that find the bug in a seed."""
    seen = checkers(profile, (ticket,), seed)
    before = without(profile, seed) if seen else frozenset()
    return seen if not before else seen & {BUGS[ticket].checker} - before


def noise(tickets: Sequence[str], seeds: int) -> dict[str, int]:
    """The number of the first seeds that have a finding without a bug, by profile."""
    profiles = sorted({exhibit(ticket).scenario.profile for ticket in tickets})
    return {profile: sum(bool(without(profile, seed)) for seed in range(seeds)) for profile in profiles}


def measure(task: tuple[str, int, int]) -> Density:
    """The density of one bug."""
    ticket, most, enough = task
    profile = exhibit(ticket).scenario.profile
    by: Counter[str] = Counter()
    found = seed = 0
    while seed < most and found < enough:
        seen = news(ticket, profile, seed)
        found += bool(seen)
        by.update(sorted(seen))
        seed += 1
    return Density(ticket, seed, found, dict(by), stopped=found == enough)


def measured(tickets: Sequence[str], most: int, enough: int, jobs: int, out: Path) -> Iterator[Density]:
    """The densities that ``out`` has already, then the others, each as soon as it and those before it are measured."""
    done = [Density(**json.loads(line)) for line in out.read_text().splitlines()] if out.exists() else []
    yield from done
    known = {one.bug for one in done}
    tasks = [(ticket, most, enough) for ticket in tickets if ticket not in known]
    with out.open("a") as file:
        for one in Processes(jobs).in_order(measure, tasks):
            file.write(json.dumps(one._asdict()) + "\n")
            file.flush()
            print(f"{one.bug}: {one.found} of {one.seeds} seeds", flush=True)
            yield one


def report(
    found: Sequence[Density], most: int, enough: int, without_bugs: Mapping[str, int], of: int
) -> tuple[list[str], list[str]]:
    """The lines of the section, and what is missed."""
    seen = [one for one in found if one.found]
    rows = [
        (one.bug, f"{one.found} of {one.seeds}", f"{one.per_1000:.0f}" if one.found else "-", _by(one))
        for one in sorted(found, key=lambda one: (-one.per_1000, one.bug))
    ]
    noisy = ", ".join(f"{profile} {count}" for profile, count in without_bugs.items())
    lines = [
        machine(f"python -m benchmarks.density --seeds {most} --enough {enough} --write"),
        "",
        f"{len(seen)} of {len(found)} bugs are found by the default chaos within {most} seeds"
        + (f"; {len(BUGS) - len(found)} were not measured." if len(found) < len(BUGS) else "."),
        *([f"Seeds that have a finding without a bug, of {of}: {noisy}."] if of else []),
        "",
        *table(("bug", "seeds that find it", "of 1,000", "what sees it"), rows),
    ]
    missed = [f"{len(seen)} bugs are found within {most} seeds, fewer than {WANTED}"] if len(seen) < WANTED else []
    return lines, missed


def _by(one: Density) -> str:
    return ", ".join(f"`{name}` {count}" for name, count in Counter(one.by).most_common(4))


def main() -> int:
    parser = parser_of("density", __doc__)
    parser.add_argument("--seeds", type=int, default=1000, help="at most so many for each bug (default: 1000)")
    parser.add_argument("--enough", type=int, default=ENOUGH, help=f"stop at so many that find it (default: {ENOUGH})")
    parser.add_argument("--noise", type=int, default=60, help="seeds of each profile without a bug (default: 60)")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--bug", action="append", default=[], help="only this one; repeatable")
    parser.add_argument("--out", type=Path, default=None, help="keep a line of JSON for each bug that is done")
    arguments = parser.parse_args()
    tickets: list[Any] = arguments.bug or list(BUGS)
    with tempfile.TemporaryDirectory() as folder:
        out = arguments.out or Path(folder) / "density.jsonl"
        found = list(measured(tickets, arguments.seeds, arguments.enough, arguments.jobs, out))
    if arguments.write:
        write_densities(FILE, swarm_digest(), found)
    without_bugs = noise([one.bug for one in found], arguments.noise)
    lines = report(found, arguments.seeds, arguments.enough, without_bugs, arguments.noise)
    return conclude("density", *lines, write=arguments.write)


if __name__ == "__main__":
    raise SystemExit(main())
