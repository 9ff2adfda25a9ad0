"""Bursts of throttles. A stretch begins and ends outside of one, else it has a part of one less than its cycle has."""

from collections.abc import Sequence

from attrs import define, field

from scenarios.runs.leaping.followed import FetchedReplica, Key


@define
class Bursts:
    """The bursts in which a throttle lets data pass: copies get more between two looks than in the mean of all looks."""

    _before: dict[Key, int] = field(factory=dict)
    _got: int = 0
    _looks: int = 0

    def pass_now(self, copies: Sequence[FetchedReplica]) -> bool:
        """Look at the copies. Returns whether they have got more since the last look than between two looks usually."""
        before, self._before = self._before, {each.key: each.state.offset for each in copies}
        got = sum([offset - before.get(key, offset) for key, offset in self._before.items()])
        self._got += got
        self._looks += 1
        return got * self._looks > self._got

    def forget(self) -> None:
        """What copies have got until the next look is not looked at: a leap has brought it."""
        self._before = {}
