"""A branching search: rounds of fresh seeds and of continuations of runs that came to something new.

What a round does follows from the results of the rounds before it, and from nothing else: the number of workers does
not matter, and a search that was stopped goes on as if it had not been.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing

from attrs import define, field, frozen

from scenarios.runs.batch import Workers
from scenarios.studies.chaos.branching_run import LIVE_WAYS, Searched, Ways, WaysChunk, work
from scenarios.studies.chaos.paths import Path
from scenarios.studies.chaos.seed_run import Drawn, SeedResult

ROUND = 8
"""The fresh seeds of a round."""
PICKED = 4
"""The prefixes of the corpus that a round continues."""
WAYS = 3
"""The continuations of each."""
COMMON = 3
"""A place that so many runs have visited is rare no more."""
WARM = 24
"""The runs after which it is known what is rare."""
KEPT_OF_RUN = 2
"""The prefixes of one run that the corpus keeps."""
FIRST_US = 3_000_000
"""A prefix is worth to be kept only once faults have begun."""

Key = tuple[int, Path]


@define(eq=False)
class Prefix:
    """A run up to the instant at which it came to places that no run had visited before.

    Attributes:
        places: those places.
        picked: how often it was continued.
    """

    seed: int
    path: Path
    at_us: int
    places: tuple[int, ...]
    picked: int = 0

    def energy(self, visits: Mapping[int, int]) -> float:
        """How much it is worth to continue it: its rare places, less each time."""
        return sum(1 / (1 + visits.get(place, 0)) for place in self.places) / (1 + self.picked) ** 2


@define(eq=False)
class Corpus:
    """The state of a search between two rounds.

    Attributes:
        visits: the number of runs that have visited each place, up to ``COMMON``.
        runs: the number of runs so far.
    """

    visits: Counter[int] = field(factory=Counter)
    prefixes: list[Prefix] = field(factory=list)
    runs: int = 0

    def searched(self, drawn: Drawn) -> Searched:
        """The object that the tasks of the next round share."""
        common = frozenset(place for place, count in self.visits.items() if count >= COMMON)
        return Searched(drawn=drawn, common=common, seen=frozenset(self.visits), splits=self.runs >= WARM)

    def picks(self) -> list[Ways]:
        """The prefixes with the most energy, and the continuations that come next of each."""
        order = sorted(self.prefixes, key=lambda one: (-one.energy(self.visits), one.seed, one.path, one.at_us))
        found = []
        for one in order[:PICKED]:
            first = LIVE_WAYS + one.picked * WAYS  # the numbers before it are those of forks as the run was played
            found.append(Ways(one.seed, one.path, one.at_us, tuple(range(first, first + WAYS))))
            one.picked += 1
        return found

    def add(self, results: Sequence[SeedResult]) -> None:
        """Add the results of a round, in the order of its tasks."""
        before, warm = frozenset(self.visits), self.runs >= WARM
        for result in results:
            self.runs += 1
            self.visits.update(dict.fromkeys(place for place, _ in result.rare).keys())
            if warm:
                self._keep(result, before)

    def _keep(self, result: SeedResult, before: frozenset[int]) -> None:
        """Keep the prefixes of a run that end where most new places were visited at once."""
        new: dict[int, list[int]] = {}
        for place, t_us in result.rare:
            if place not in before and t_us > FIRST_US:
                new.setdefault(t_us, []).append(place)
        most = sorted(new.items(), key=lambda one: (-len(one[1]), one[0]))
        for t_us, places in most[:KEPT_OF_RUN]:
            self.prefixes.append(Prefix(result.seed, result.path, t_us + 1, tuple(sorted(places))))


@frozen(kw_only=True)
class Search:
    """A search over the seeds of a campaign.

    Attributes:
        done: the results that are there already, by seed and path.
        ends_s: the time from which on no task begins.
        is_over: whether the campaign has what it waits for.
    """

    drawn: Drawn
    seeds: Sequence[int]
    done: Mapping[Key, SeedResult]
    ends_s: float
    is_over: Callable[[], bool]

    def results(self, workers: Workers) -> Generator[tuple[SeedResult, ...], None, None]:
        """The results of each task that was not done before, in the order of the tasks."""
        corpus = Corpus()
        for first in range(0, len(self.seeds), ROUND):
            tasks = [Ways(seed) for seed in self.seeds[first : first + ROUND]]
            tasks += corpus.picks()
            of_task = {task: self._known(task) for task in tasks}
            missing = [task for task, known in of_task.items() if not known]
            searched = corpus.searched(self.drawn)
            chunks = (WaysChunk(searched, (task,), self.ends_s) for task in missing if self._goes_on())
            with closing(workers.in_order(work, chunks)) as finished:
                for task, results in zip(missing, finished, strict=False):
                    of_task[task] = results
                    if results:
                        yield tuple(one for one in results if (one.seed, one.path) not in self.done)
            if not all(of_task.values()) or self.is_over():
                return
            corpus.add([one for results in of_task.values() for one in results])

    def _goes_on(self) -> bool:
        return time.time() < self.ends_s and not self.is_over()

    def _known(self, task: Ways) -> tuple[SeedResult, ...]:
        """The results of a task that is done; empty: it is not."""
        keys = [(task.seed, (*task.path, (task.at_us, number))) for number in task.numbers]
        if not task.numbers:
            if (task.seed, ()) not in self.done:  # it is written after its continuations
                return ()
            keys = [key for key in self.done if key[0] == task.seed and _is_live(key[1])] + [(task.seed, ())]
        return tuple(self.done[key] for key in keys) if all(key in self.done for key in keys) else ()


def _is_live(path: Path) -> bool:
    """Whether a run was forked from one of a seed as that was played, and is not a continuation of a prefix."""
    return len(path) == 1 and path[0][1] < LIVE_WAYS
