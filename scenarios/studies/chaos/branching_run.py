"""One run of a branching search: watched, forked where it does what few runs have done, and judged."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from itertools import chain
from zlib import crc32

from attrs import define, evolve, field, frozen

from emulator.kernel.collector import collector_off
from emulator.trace.events import Step
from scenarios.errors import BadInput
from scenarios.observe.branch_visits import BranchVisits, can_watch
from scenarios.runs.batch import Chunk
from scenarios.runs.continuing import Enough, ForkingStage
from scenarios.runs.forking import can_fork_runs
from scenarios.runs.runner import conclude, prepare
from scenarios.studies.chaos.paths import BEFORE_HEALING_US, FIRST_US, Path, branch_at, healing_us, on_path
from scenarios.studies.chaos.seed_run import Drawn, SeedResult, failed_result, result_of

LIVE_WAYS = 2
"""The continuations of a run at its first rare place."""

_visits = BranchVisits()
"""The watch of this process: it knows the code of the floors."""


@frozen(kw_only=True)
class Searched:
    """The object that all tasks of a round share.

    Attributes:
        common: the places that enough runs have visited. The others are rare, and results name them.
        splits: whether runs are forked at places that no run has visited; not before some runs are done.
        seen: the places that some run has visited.
    """

    drawn: Drawn
    common: frozenset[int]
    seen: frozenset[int]
    splits: bool


@frozen
class Ways:
    """One task: a run from its start, or continuations of one from an instant.

    Attributes:
        at_us: that instant; 0: the start, with the path empty.
        numbers: the numbers of the continuations.
    """

    seed: int
    path: Path = ()
    at_us: int = 0
    numbers: tuple[int, ...] = ()


@frozen
class WaysChunk(Chunk[Searched, Ways]):
    """Tasks that one worker does, none after ``ends_s`` (as ``SeedChunk`` has it)."""

    ends_s: float = math.inf


def work(chunk: WaysChunk) -> tuple[SeedResult, ...]:
    """Do the tasks of a chunk, in any process. The results of a task end with that of its run from the start, if it is
    one. Raises: BadInput."""
    return tuple(_results(chunk))


def _results(chunk: WaysChunk) -> Iterator[SeedResult]:
    for ways in chunk.items:
        if time.time() >= chunk.ends_s:
            return
        yield from _of_ways(chunk.common, ways)


def _of_ways(searched: Searched, ways: Ways) -> list[SeedResult]:
    if ways.at_us and not can_fork_runs():
        paths = [(*ways.path, (ways.at_us, number)) for number in ways.numbers]
        return [one for path in paths for one in _played(searched, ways.seed, path, ())]
    return _played(searched, ways.seed, ways.path, ways.numbers, ways.at_us)


@define(eq=False)
class _Watched(ForkingStage):
    """A run that is watched.

    Attributes:
        rare: the rare places that it has visited, each with the time of its first visit.
    """

    searched: Searched = field(kw_only=True)
    path: Path = field(default=(), kw_only=True)
    numbers: tuple[int, ...] = field(default=(), kw_only=True)
    at_us: int = field(default=0, kw_only=True)
    rare: dict[int, int] = field(factory=dict, kw_only=True)
    _step: str = ""
    _ends_us: int = 0
    _may_split: bool = False

    def begin(self) -> None:
        super().begin()
        self._ends_us = healing_us(self.scenario) - BEFORE_HEALING_US
        self._may_split = self.searched.splits and not self.path and not self.at_us and can_fork_runs()
        self.cluster.trace.fold(Step, self._stepped)
        if self.at_us:
            self.world.call_first(max(self.at_us, self.world.now + 1), self._continue)

    def _stepped(self, event: Step) -> None:
        self._step = event.step if event.edge == "before" else ""

    def visited(self, place: int) -> None:
        """A place is visited for the first time: by itself, and while this step is in progress."""
        common, now = self.searched.common, self.world.now
        pair = crc32(f"{place}@{self._step}".encode()) if self._step else place
        for one in (place, pair):
            if one not in common and one not in self.rare:
                self.rare[one] = now
        if self._may_split and place not in self.searched.seen and FIRST_US < now < self._ends_us:
            self._may_split = False
            self.world.call_first(now + 1, self._split)

    def _continue(self, _: object) -> None:
        if not self._forks(self.numbers):
            raise Enough

    def _split(self, _: object) -> None:
        self._forks(tuple(range(LIVE_WAYS)))

    def _forks(self, numbers: tuple[int, ...]) -> bool:
        """Fork the run. Returns whether this is one of the forks."""
        at_us = self.world.now
        number = self.fork_each(numbers)
        if number is None:
            return False
        self.go_on(branch_at(self.searched.drawn, self.scenario, at_us, number))
        self.path = (*self.path, (at_us, number))
        self.rare.clear()
        return True


@collector_off()
def _played(searched: Searched, seed: int, path: Path, numbers: tuple[int, ...], at_us: int = 0) -> list[SeedResult]:
    """The results of a run's continuations, then its own where that is wanted."""
    drawn = searched.drawn
    try:
        scenario = prepare(on_path(drawn, seed, path))
    except BadInput as error:
        raise error.in_file(f"{drawn.scenario.source or 'the file'}, seed {seed}") from None
    stage = _Watched(
        scenario, counts_reach=bool(drawn.names), figures=False, searched=searched, path=path, numbers=numbers,
        at_us=at_us,
    )  # fmt: skip
    end = _watch(stage)
    try:
        stage.play()
        end()
        own = [evolve(result_of(conclude(stage, stage.scenario, 0.0)[0], drawn, seed), path=stage.path,
                      rare=tuple(stage.rare.items()))]  # fmt: skip
    except Enough:
        own = []
    except Exception as error:  # a defect of the program is a result too: it has a path
        own = [evolve(failed_result(error, seed), path=stage.path)]
    finally:
        end()
    results = [*chain.from_iterable(stage.results), *own]
    if stage.own is not None:
        stage.own.finish(lambda: results)
    return results


def _watch(stage: _Watched) -> Callable[[], None]:
    """Watch the branches that a run visits, or, where that cannot be done, the names that it reaches. Returns what ends
    that, and may be called again."""
    if not can_watch():
        stage.on_reach(lambda name: stage.visited(crc32(name.encode())))
        return lambda: None
    _visits.begin(stage.visited)
    return _visits.end
