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

    def pass_now(self, copies: Sequence[FetchedReplica], fetched: Sequence[FetchedReplica]) -> bool:
        """Look at the copies. Returns whether a burst passes. Copies that share a card alone have another rhythm."""
        before, self._before = self._before, {each.key: each.state.offset for each in copies}
        got = sum([offset - before.get(key, offset) for key, offset in self._before.items()])
        self._got += got
        self._looks += 1
        return got * self._looks > self._got and bool(bounds(copies, fetched, {}))

    def forget(self) -> None:
        """Forget where copies are: a leap brings them on before the next look."""
        self._before = {}
