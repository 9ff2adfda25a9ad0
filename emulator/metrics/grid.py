"""Instants at which values that change often are written."""

from collections.abc import Callable
from typing import Any, Protocol

from attrs import define, field

METERS_US = 1_000_000
"""The least time between two writes of the count of a meter."""

REQUESTS_US = 5_000_000
"""The least time between two writes of a count of requests: the tick of the rates that readers compute (Yammer's). Each
request is in several such counts."""

IDLE_METERS_US = 60_000_000
"""The least time between two writes while all that a meter counts is routine, such as polls that find nothing."""

GAUGES_US = 100_000
"""The least time between two writes of a gauge that follows the data; the grid of replica lag (readings §10)."""


class Due(Protocol):
    """A metric that changed and has to be written."""

    def write(self) -> None: ...


@define(eq=False, repr=False, weakref_slot=False)
class Grid:
    """The multiples of ``period_us`` in virtual time. No timer is set for an instant at which nothing is due: an idle
    process costs nothing.

    Attributes:
        later: sets a timer of the process. A process that dies before the instant writes nothing.
    """

    period_us: int
    now: Callable[[], int]
    later: Callable[[int, Callable[[Any], object]], object]
    _due: list[Due] = field(factory=list)

    def add(self, due: Due) -> None:
        """Write ``due`` at the next instant. The caller makes sure that nothing is added twice."""
        if not self._due:
            self.later(self.period_us - self.now() % self.period_us, lambda _: self.write())
        self._due.append(due)

    def write(self) -> None:
        """Write what is due before the next instant, for a reader that needs the values of now."""
        due, self._due = self._due, []
        for each in due:
            each.write()
