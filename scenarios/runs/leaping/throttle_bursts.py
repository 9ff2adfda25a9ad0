"""Bursts of throttles. A stretch begins and ends outside of one, else it has a part of one less than its cycle has."""

from collections.abc import Sequence

from attrs import define, field

from scenarios.runs.leaping.followed import FetchedReplica, Key
from scenarios.runs.leaping.sharing import bounds

BURST_US = 1_000_000
"""How long a stretch waits for the end of a burst, at most."""


@define
class ThrottleBursts:
    """The bursts of throttles: copies get more between two looks than in the mean of all looks."""

    _before: dict[Key, int] = field(factory=dict)
    _got: int = 0
    _looks: int = 0
    _passes: bool = False

    def look(self, copies: Sequence[FetchedReplica]) -> None:
        before, self._before = self._before, {each.key: each.state.offset for each in copies}
        got = sum([offset - before.get(key, offset) for key, offset in self._before.items()])
        self._got += got
        self._looks += 1
        self._passes = got * self._looks > self._got

    def longer_us(self, copies: Sequence[FetchedReplica], fetched: Sequence[FetchedReplica], warm_us: int = 0) -> int:
        """How much longer a stretch is that would be over now. Copies that share a card alone have no bursts.

        Args:
            warm_us: how much longer it is under a throttle anyway.
        """
        longest_us = warm_us + (BURST_US if self._passes else 0)
        return longest_us if longest_us and bounds(copies, fetched, {}) else 0

    def pass_now(self, copies: Sequence[FetchedReplica], fetched: Sequence[FetchedReplica]) -> bool:
        """Look at the copies. Returns whether a burst passes."""
        self.look(copies)
        return self.longer_us(copies, fetched) > 0

    def forget(self) -> None:
        """Forget where copies are: a leap brings them on before the next look."""
        self._before = {}
