"""Instants at which what changes often is written."""

from collections.abc import Callable
from typing import Protocol

METERS_US = 1_000_000
"""How often the count of a meter is written, at most."""

IDLE_METERS_US = 60_000_000
"""The same while all that it counts is routine, such as polls that find nothing."""

GAUGES_US = 100_000
"""How often a gauge that follows the data is written, at most; the grid of replica lag (readings, 10)."""


class Due(Protocol):
    """Something that has changed and is to be written."""

    def write(self) -> None: ...


class Grid:
    """The multiples of ``period_us`` in virtual time. Nobody waits for one at which nothing is due: an idle process
    costs nothing.

    ``later``: the process's own timer; what a dead process had to write is not written.
    """

    __slots__ = ("_due", "_later", "_now", "_period_us")

    def __init__(
        self, period_us: int, now: Callable[[], int], later: Callable[[int, Callable[[object], None]], object]
    ) -> None:
        self._period_us = period_us
        self._now = now
        self._later = later
        self._due: list[Due] = []

    def add(self, due: Due) -> None:
        """Write ``due`` at the next instant. Who calls sees to it that nothing is added twice."""
        if not self._due:
            self._later(self._period_us - self._now() % self._period_us, self._write)
        self._due.append(due)

    def _write(self, _: object) -> None:
        due, self._due = self._due, []
        for each in due:
            each.write()
