"""The things that the seeds of a campaign have reached, and weights that prefer the kinds by which rarely reached
things are reached."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from attrs import define, field

from scenarios.chaos.draw import Weights
from scenarios.language.chaos import Chaos
from scenarios.observe.reach import reachable
from scenarios.profiles import PROFILES

LEAST, MOST = 0.02, 0.95
"""The least and the largest weight: no kind is left out of all seeds, and none is in all of them."""
SOME = 30
"""The number of done seeds from which on it is known which things are rarely reached."""


def names_of(profile: str, protocol: str | None = None) -> tuple[str, ...]:
    """All that a campaign can reach, in a fixed order."""
    assert profile in PROFILES
    return reachable(profile, protocol)


def packed(reached: Iterable[str], names: Sequence[str]) -> str:
    """The names that a seed has reached, as bits in hex; those that were not foreseen are left out."""
    place = {name: index for index, name in enumerate(names)}
    return f"{sum(1 << place[name] for name in reached if name in place):x}"


def unpacked(bits: str, names: Sequence[str]) -> list[str]:
    """The names that ``packed`` has packed."""
    number = int(bits or "0", 16)
    return [name for index, name in enumerate(names) if number >> index & 1]


@define(eq=False)
class Reached:
    """The things that the seeds done so far have reached.

    Attributes:
        names: the names of all things that can be reached.
        seeds: the number of seeds that have reached each.
        first: the first of them.
    """

    names: tuple[str, ...]
    seeds: Counter[str] = field(factory=Counter)
    first: dict[str, int] = field(factory=dict)
    _kinds: Counter[str] = field(factory=Counter)
    _rare: Counter[str] = field(factory=Counter)
    _done: int = 0
    _rare_in_all: float = 0

    def add(self, seed: int, bits: str, kinds: Sequence[str]) -> None:
        """Add a seed that had these kinds."""
        rare = 0.0
        for name in unpacked(bits, self.names):
            self.seeds[name] += 1
            self.first.setdefault(name, seed)
            rare += 1 / self.seeds[name]
        self._done += 1
        self._rare_in_all += rare
        for kind in dict.fromkeys(kinds):
            self._kinds[kind] += 1
            self._rare[kind] += rare  # type: ignore[assignment]

    @property
    def never(self) -> tuple[str, ...]:
        """The names that no seed has reached."""
        return tuple(name for name in self.names if not self.seeds[name])

    def weights(self, blocks: Iterable[Chaos]) -> Weights:
        """The share of seeds that each kind should have: more than its own, if the seeds that had it have reached more
        rarely reached things than others have."""
        if self._done < SOME or not self._rare_in_all:
            return {}
        mean = self._rare_in_all / self._done
        found = {}
        for block in blocks:
            count = self._kinds[block.kind]
            if 0 < block.share < 1 and count:
                found[block.kind] = round(min(MOST, max(LEAST, block.share * self._rare[block.kind] / count / mean)), 3)
        return found
