"""Many seeds of one file: run by workers, written as they are done, each reported once."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing
from pathlib import Path

from attrs import define, field, frozen

from scenarios.chaos.draw import kinds_of
from scenarios.runs.batch import Workers
from scenarios.runs.dataset.identity import VERSION, code_digest
from scenarios.studies.chaos.campaign_results import CampaignResults
from scenarios.studies.chaos.chance import Shown
from scenarios.studies.chaos.leaning import Reached, unpacked
from scenarios.studies.chaos.paths import name_of, on_path
from scenarios.studies.chaos.search import Key, Search
from scenarios.studies.chaos.seed_run import Drawn, SeedChunk, SeedResult, work
from scenarios.whole_files import save

CHUNK = 4
"""The seeds of a chunk: about a second of work, which an interruption can cost each worker."""

PLAIN, BRANCHING = "plain", "branching"
SEARCHES = (PLAIN, BRANCHING)

KEPT = 20
"""The most seeds that are named for each known behaviour."""


@frozen(kw_only=True)
class Campaign:
    """The request.

    Attributes:
        seeds: the seeds to run, in this order.
        for_s: the real time, in seconds, after which no further seed begins; None: run all.
        out: the folder of the results; None: they are not kept.
        until: the name of a thing to be reached: no further seed begins once one has reached it.
        until_chance: no further seed begins once the chance that the next one has a finding of another kind is below
            this, with 95 %; 0: that does not matter.
        leans: whether kinds are drawn more often whose seeds have reached rarely reached things. Each result has the
            weights that it was drawn with.
        search: how it goes on: seed after seed, or also from where runs came to something new (``SEARCHES``).
    """

    drawn: Drawn
    seeds: Sequence[int]
    for_s: float | None = None
    out: Path | None = None
    until: str = ""
    until_chance: float = 0.0
    leans: bool = False
    search: str = PLAIN

    def kinds_of(self, result: SeedResult) -> Sequence[str]:
        return kinds_of(self.drawn.scenario, result.seed, result.weights)

    def is_over(self, tally: Tally) -> bool:
        """Whether the campaign has what it waits for."""
        if tally.reached.seeds[self.until]:
            return True
        return self.until_chance > 0 and tally.findings.chance().high <= self.until_chance

    def identity(self) -> dict[str, object]:
        """The properties that all results in one folder share."""
        scenario = self.drawn.scenario
        return {
            "scenario": scenario.digest(),
            "profile": scenario.profile,
            "leans": self.leans,
            "search": self.search,
            "against_specification": self.drawn.against_specification,
            "version": VERSION,
            "code": code_digest(),
        }


@define(eq=False)
class Tally:
    """The findings of a campaign so far. It grows with the failures, and not with the seeds.

    Attributes:
        seeds, before: the number of seeds that are done, and of those that were done before the campaign went on.
        failed: the seeds with new findings.
        checkers: the number of seeds in which each checker has a new finding.
        reached: the things that its seeds have reached.
        findings, reaches: the kinds of findings, and the names reached, by how many seeds have shown each.
        kinds: returns the kinds that a seed had.
        continued: the number of runs that are continuations of others; ``seeds`` does not count them.
        known, known_in: for each ticket, some of the seeds whose findings it explains, and their number.
    """

    reached: Reached
    kinds: Callable[[SeedResult], Sequence[str]] = lambda _: ()
    seeds: int = 0
    before: int = 0
    continued: int = 0
    virtual_us: int = 0
    events: int = 0
    failed: list[SeedResult] = field(factory=list)
    checkers: Counter[str] = field(factory=Counter)
    known: dict[str, list[int]] = field(factory=dict)
    known_in: Counter[str] = field(factory=Counter)
    findings: Shown = field(factory=Shown)
    reaches: Shown = field(factory=Shown)

    def add(self, result: SeedResult) -> None:
        if result.path:
            self.continued += 1
        else:  # the chances are those of a fresh seed
            self.seeds += 1
            self.findings.add({found.kind for found in result.found})
            self.reaches.add(unpacked(result.reach, self.reached.names))
        self.virtual_us += result.virtual_us
        self.events += result.events
        self.reached.add(result.seed, result.reach, self.kinds(result))
        if result.new:
            self.failed.append(result)
            self.checkers.update(dict.fromkeys(found.checker for found in result.new).keys())
        for ticket in dict.fromkeys(ticket for found in result.found for ticket in found.tickets):
            self.known_in[ticket] += 1
            self.known.setdefault(ticket, [])
            if len(self.known[ticket]) < KEPT:
                self.known[ticket].append(result.seed)

    @property
    def passed(self) -> int:
        """The number of runs without a new finding."""
        return self.seeds + self.continued - len(self.failed)


def run(campaign: Campaign, workers: Workers, tell: Callable[[SeedResult, Tally], object]) -> Tally:
    """Run the seeds of a campaign that are not done yet. ``tell`` is called with each result, first with those that are
    done.

    Raises: BadInput where a seed does not fit the file, or the folder cannot be used.
    """
    tally = Tally(Reached(campaign.drawn.names))
    if campaign.leans:
        tally.kinds = campaign.kinds_of
    results = None if campaign.out is None else CampaignResults(campaign.out, campaign.identity(), SeedResult.from_line)
    try:
        done = bytearray(len(campaign.seeds))
        known: dict[Key, SeedResult] = {}
        if results is not None:
            for result in results.read():
                if campaign.search == BRANCHING:
                    known[result.seed, result.path] = result
                    tally.add(result)
                    tell(result, tally)
                else:
                    _count(campaign, done, tally, result, tell)
            tally.before = tally.seeds
        if campaign.search == BRANCHING:
            search = Search(
                drawn=campaign.drawn, seeds=campaign.seeds, done=known, ends_s=_ends_s(campaign),
                is_over=lambda: campaign.is_over(tally),
            )  # fmt: skip
            made = search.results(workers)
        else:
            made = _chunks_done(campaign, workers, done, tally)
        with closing(made) as finished:
            for chunk in finished:
                if results is not None:
                    results.add(chunk)
                for result in chunk:
                    tally.add(result)
                    tell(result, tally)
                if campaign.is_over(tally):
                    break  # the chunks that were handed out ahead of it are dropped
    finally:
        if results is not None:
            results.close()
    return tally


def _count(
    campaign: Campaign, done: bytearray, tally: Tally, result: SeedResult, tell: Callable[[SeedResult, Tally], object]
) -> None:
    """Count a result that is done already: of a requested seed, or of another, which is left alone."""
    try:
        place = campaign.seeds.index(result.seed)
    except ValueError:
        return
    if not done[place]:
        done[place] = 1
        tally.add(result)
        tell(result, tally)


def _chunks_done(
    campaign: Campaign, workers: Workers, done: bytearray, tally: Tally
) -> Generator[tuple[SeedResult, ...], None, None]:
    with closing(workers.in_order(work, _tasks(campaign, done, tally))) as finished:
        yield from finished


def _ends_s(campaign: Campaign) -> float:
    return math.inf if campaign.for_s is None else time.time() + campaign.for_s


def _tasks(campaign: Campaign, done: bytearray, tally: Tally) -> Iterator[SeedChunk]:
    """The seeds that are missing, in chunks, up to the campaign's end."""
    ends_s = _ends_s(campaign)
    for start in range(0, len(campaign.seeds), CHUNK):
        if time.time() >= ends_s or campaign.is_over(tally):
            return
        places = range(start, min(start + CHUNK, len(campaign.seeds)))
        missing = tuple(campaign.seeds[place] for place in places if not done[place])
        if missing:
            weights = tally.reached.weights(campaign.drawn.scenario.chaos) if campaign.leans else {}
            yield SeedChunk(campaign.drawn.with_weights(weights), missing, ends_s, campaign.until)


def write_failing(campaign: Campaign, result: SeedResult) -> Path | None:
    """Write the scenario of a seed into the campaign's folder. Returns its path; None where nothing is kept."""
    if campaign.out is None:
        return None
    path = campaign.out / f"{name_of(result.seed, result.path)}.toml"
    if not path.exists():
        drawn = campaign.drawn.with_weights(result.weights)
        scenario = on_path(drawn, result.seed, result.path) if result.path else drawn.concrete(result.seed)
        save(path, scenario.to_toml())
    return path
