"""The chance that the next seed shows something that no seed of a campaign has shown.

A thing is a finding, by its checker and tickets, or a name that a seed can reach. The estimate is that of Good and
Turing (Good 1953): the share of seeds that show something which no other seed has shown, since each seed is the next
one after all others.
"""

from __future__ import annotations

import math
from collections.abc import Collection

from attrs import define, field, frozen

from scenarios.studies.statistics.counted_share import SURE, wilson

MISSED = 0.05


@frozen
class Chance:
    """The chance that the next seed shows something new, with its interval of 95 %.

    Attributes:
        seeds: the number of seeds that it is estimated from; 0: nothing is known.
        unseen: how many things there are, at least, that no seed has shown yet (Chao 1987); rounded.
    """

    seeds: int
    estimate: float
    low: float
    high: float
    unseen: int

    def __str__(self) -> str:
        return f"{self.estimate:.2g} (95 %: {self.low:.2g} to {self.high:.2g})"


@define(eq=False)
class Shown:
    """The things that the seeds of a campaign have shown, and how many seeds have shown each.

    It grows with the things, not with the seeds: of a thing that several seeds have shown only their number is kept.
    """

    seeds: int = 0
    _once: dict[str, int] = field(factory=dict)
    """A thing that one seed has shown, and the place of that seed."""
    _twice: set[str] = field(factory=set)
    _often: set[str] = field(factory=set)

    def add(self, things: Collection[str]) -> None:
        """Add a seed that has shown these."""
        for thing in things if isinstance(things, (set, frozenset)) else dict.fromkeys(things):
            if thing in self._often:
                continue
            if thing in self._twice:
                self._twice.remove(thing)
                self._often.add(thing)
            elif thing in self._once:
                del self._once[thing]
                self._twice.add(thing)
            else:
                self._once[thing] = self.seeds
        self.seeds += 1

    def __contains__(self, thing: str) -> bool:
        return thing in self._once or thing in self._twice or thing in self._often

    def chance(self) -> Chance:
        """The chance that the next seed shows something new.

        Its interval is that of Esty (1983), whose variance grows by what two seeds alone have shown, and never narrower
        than Wilson's of so large a share of so many seeds: where each seed has something to itself, or where none has,
        the variance is 0. Where none has, the upper end is also at least the largest chance that is compatible, at
        95 %, with that.
        """
        n = self.seeds
        if not n:
            return Chance(0, 1.0, 0.0, 1.0, 0)
        alone = len(set(self._once.values()))
        estimate = alone / n
        spread = SURE * math.sqrt(alone * (1 - estimate) + 2 * min(len(self._twice), n)) / n
        low, high = wilson(alone, n)
        high = max(high, estimate + spread, 1 - MISSED ** (1 / n))
        return Chance(n, estimate, max(0.0, min(low, estimate - spread)), min(1.0, high), self._unseen())

    def _unseen(self) -> int:
        """Chao's bound for what several samples have not shown (Chao2), as it is corrected for small numbers."""
        once, twice = len(self._once), len(self._twice)
        return round((self.seeds - 1) / self.seeds * once * (once - 1) / (2 * (twice + 1)))
