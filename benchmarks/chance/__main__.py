"""``python -m benchmarks.chance [--seeds N] [--profile NAME ...] [--jobs N] [--data DIR] [--write]``: does the chance
that a campaign states cover what came next?

A campaign of the default swarm is cut at several places. From the seeds before the cut the chance is estimated that the
next seed shows something new; of the seeds after it the share is counted that do, each against the seeds before the
cut. That share has an error of its own: it is covered where its interval of 95 % (Wilson) and the stated one meet, and
strictly covered where the stated one holds the share itself. ``--data`` keeps the campaigns.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from benchmarks.program import conclude, parser_of
from benchmarks.results import machine
from benchmarks.tables import table
from emulator import logger
from scenarios.chaos.draw import default_swarm
from scenarios.runs.batch import local_workers
from scenarios.studies.chaos.campaign import Campaign, run
from scenarios.studies.chaos.chance import Chance, Shown
from scenarios.studies.chaos.leaning import names_of, unpacked
from scenarios.studies.chaos.seed_run import Drawn, SeedResult
from scenarios.studies.statistics.counted_share import wilson

PROFILES = ("kafka-0.8", "kafka-1.1", "kafka-2.3", "kafka-2.4", "kafka-2.7")
CUTS = (0.25, 0.5, 0.75)
WANTED = 0.9
"""The share of cuts whose chance has to be covered."""


class Check(NamedTuple):
    """One estimate beside what came next."""

    profile: str
    of: str
    before: int
    chance: Chance
    found: int
    after: int

    @property
    def share(self) -> float:
        return self.found / self.after

    @property
    def is_strictly_covered(self) -> bool:
        return self.chance.low <= self.share <= self.chance.high

    @property
    def is_covered(self) -> bool:
        low, high = wilson(self.found, self.after)
        return low <= self.chance.high and self.chance.low <= high


def checks(profile: str, seeds: Sequence[tuple[frozenset[str], frozenset[str]]]) -> Iterator[Check]:
    """The checks of one campaign, of the findings and of the names that its seeds have reached."""
    for kind, name in enumerate(("findings", "reached")):
        for cut in CUTS:
            before = round(cut * len(seeds))
            shown = Shown()
            for each in seeds[:before]:
                shown.add(each[kind])
            found = sum(any(thing not in shown for thing in each[kind]) for each in seeds[before:])
            yield Check(profile, name, before, shown.chance(), found, len(seeds) - before)


def campaign(profile: str, seeds: int, jobs: int, data: Path) -> list[tuple[frozenset[str], frozenset[str]]]:
    """The things that each seed of a campaign has shown: its kinds of findings, and the names that it has reached."""
    scenario = default_swarm().for_run(profile=profile)
    names = names_of(profile, scenario.strategy.parsed.protocol)
    results: dict[int, SeedResult] = {}
    asked = Campaign(drawn=Drawn(scenario=scenario, names=names), seeds=range(seeds), out=data / profile)
    run(asked, local_workers(jobs, partial(logger.silence)), lambda one, _: results.setdefault(one.seed, one))
    return [
        (frozenset(found.kind for found in one.found), frozenset(unpacked(one.reach, names)))
        for _, one in sorted(results.items())
    ]


def main() -> int:
    parser = parser_of("chance", __doc__)
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--profile", action="append", help="such as kafka-2.3; several (default: five)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--data", type=Path, help="the folder of the campaigns; absent: they are not kept")
    options = parser.parse_args()
    found: list[Check] = []
    with tempfile.TemporaryDirectory(prefix="understudy-chance-") as folder:
        for profile in options.profile or PROFILES:
            found += checks(profile, campaign(profile, options.seeds, options.jobs, options.data or Path(folder)))
    covered = sum(one.is_covered for one in found)
    strictly = sum(one.is_strictly_covered for one in found)
    rows = [
        (one.profile, one.of, str(one.before), str(one.chance), f"{one.share:.2g} ({one.found} of {one.after})",
         "yes" if one.is_covered else "no")
        for one in found
    ]  # fmt: skip
    lines = [
        machine(f"python -m benchmarks.chance --seeds {options.seeds}"), "",
        *table(("profile", "of", "seeds before", "stated chance", "share of those after", "covered"), rows), "",
        f"{covered} of {len(found)} are covered, {strictly} strictly.",
    ]  # fmt: skip
    problems = [] if covered >= WANTED * len(found) else [f"{covered} of {len(found)} covered, {WANTED:.0%} wanted"]
    return conclude("chance", lines, problems, write=options.write)


if __name__ == "__main__":
    raise SystemExit(main())
