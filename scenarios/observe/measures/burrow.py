"""Burrow's rules for the lag of consumers (LinkedIn, ``core/internal/evaluator/caching.go``), applied to followers.

Burrow looks at the last ten commits of a consumer. Here each second of virtual time is a look at a follower, and its
fetch offset what it has committed; while it does not fetch (its broker is down, its thread dead, the partition failed),
it commits nothing. Once there are ten looks in a row, the first rule that holds says how the follower is:

- no lag: OK. While it does not fetch, its lag is the distance of the two logs;
- STOP: it has not fetched at any of the ten looks, and had a lag at each;
- REWIND: its fetch offset has gone back, and has not recovered;
- STALL: it had a lag at each of the ten looks, and its fetch offset has not moved;
- WARN: it had a lag at each of them, and it never became smaller;
- otherwise OK.

There are no thresholds: a follower that catches up is OK however large its lag, one that gets no nearer is not.
"""

from __future__ import annotations

from enum import Enum
from itertools import pairwise
from typing import NamedTuple, Protocol

from attrs import Factory, define

LOOK_US = 1_000_000
LOOKS = 10


class Status(Enum):
    """The bad statuses of a follower by Burrow's rules."""

    STOP = "stop"
    REWIND = "rewind"
    STALL = "stall"
    WARN = "warn"


STATUSES = {
    Status.STOP: "lagged and did not fetch",
    Status.REWIND: "had to go back and have not recovered",
    Status.STALL: "lagged and got nothing",
    Status.WARN: "lagged and came no nearer",
}
"""The statuses in words."""


class Lagging(Protocol):
    """A row of ``replica_lag``, as far as the rules need it."""

    @property
    def t_us(self) -> int: ...
    @property
    def topic(self) -> str: ...
    @property
    def partition(self) -> int: ...
    @property
    def node(self) -> int: ...
    @property
    def lag(self) -> int | None: ...
    @property
    def true_lag(self) -> int: ...
    @property
    def fetch_offset(self) -> int | None: ...


class _Look(NamedTuple):
    """One look at a follower. ``number``: the second."""

    number: int
    lag: int | None
    true_lag: int
    fetch_offset: int | None

    @property
    def is_even(self) -> bool:
        """Whether there is no lag."""
        return (self.true_lag if self.lag is None else self.lag) == 0


@define(eq=False)
class FollowerStatus:
    """Looks at followers, from the rows of ``replica_lag`` as they end.

    Attributes:
        held_us: the time that followers were in each status, in sum.
    """

    held_us: dict[Status, int] = Factory(lambda: dict.fromkeys(Status, 0))
    _looks: dict[tuple[str, int, int], list[_Look]] = Factory(dict)
    """The last looks at each follower that was looked at since it first lagged."""

    def ended(self, row: Lagging, t_us: int) -> None:
        """Take in ``row``, which held until ``t_us``. The rows of a follower end in their order."""
        first, end = -(-row.t_us // LOOK_US), -(-t_us // LOOK_US)
        if first == end:
            return
        key = (row.topic, row.partition, row.node)
        look = _Look(first, row.lag, row.true_lag, row.fetch_offset)
        if look.is_even:
            first = max(first, end - LOOKS)  # earlier looks change no status, and the rules do not use them
        looks = self._looks.setdefault(key, [])
        for number in range(first, end):
            looks.append(look._replace(number=number))
            del looks[:-LOOKS]
            if look.is_even:
                continue
            status = status_of(looks)
            if status is not None:
                # After as many looks as the rules use, a row that goes on keeps its status.
                rest = end - number if number - look.number + 1 >= LOOKS else 1
                self.held_us[status] += rest * LOOK_US
            if number - look.number + 1 >= LOOKS:
                looks[:] = [look._replace(number=end - back) for back in range(LOOKS, 0, -1)]
                break


def status_of(looks: list[_Look]) -> Status | None:
    """The status at the last look, which found a lag; None for OK."""
    if len(looks) < LOOKS or looks[0].number != looks[-1].number - LOOKS + 1:
        return None
    offsets = [look.fetch_offset for look in looks if look.fetch_offset is not None]
    lags = [look.lag for look in looks if look.lag is not None]
    if not lags:
        return Status.STOP if all(look.true_lag for look in looks) else None
    if offsets and offsets[-1] < max(offsets):
        return Status.REWIND
    if len(lags) < LOOKS or not all(lags):
        return None
    if min(offsets) == max(offsets):
        return Status.STALL
    if all(later >= earlier for earlier, later in pairwise(lags)):
        return Status.WARN
    return None
