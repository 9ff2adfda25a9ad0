"""A grid of instants (every 100 ms; readings §10) at which the lags of followers and of consumers are read.

A value at an instant is the state after all events up to and including it. The cost is that of the partitions that
changed since the last instant; an idle one costs nothing, however long it is idle.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

from scenarios.observe.measures.fold import Fold, RunParts

GRID_US = 100_000


class OnGrid(Fold, ABC):
    """A fold that notes what events change, and reads the changed values at instants.

    A subclass calls ``_read_before(t_us)`` before it takes in an event at ``t_us``, if that is after ``_instant_us``,
    the instant that is due.
    """

    def __init__(self, source: RunParts) -> None:
        super().__init__(source)
        self._instant_us = 0

    @abstractmethod
    def _read(self, instant_us: int) -> None:
        """Close the rows that no longer hold at ``instant_us``, open others, and forget the changes."""

    @abstractmethod
    def _close_all(self, end_us: int) -> None:
        """Close every row that is open: the run is over."""

    def finish(self, end_us: int) -> None:
        """Read a last time, at the last instant within the run, and close the open rows."""
        if self._instant_us <= end_us:
            self._read_before(end_us)
        self._close_all(end_us)

    def _read_before(self, t_us: int) -> None:
        """Read what changed up to the instant that is due, and find the one that an event at ``t_us`` belongs to."""
        self._read(self._instant_us)
        self._instant_us = -(-t_us // GRID_US) * GRID_US
