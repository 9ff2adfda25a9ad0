"""Partitions read on a grid of instants (every 100 ms; readings §10), for lags of followers and of consumers.

A value at an instant is the state after all events up to and including it. The cost is that of the partitions that
changed since the last instant; an idle one costs nothing, however long it is idle.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Generic, Protocol, TypeVar

from scenarios.observe.measures.fold import Fold, Source

GRID_US = 100_000


class Sampled(Protocol):
    """The state of one partition.

    Attributes:
        dirty: it has changed since the last instant.
        open: the rows that still hold, by replica or consumer.
    """

    dirty: bool

    @property
    def open(self) -> dict[int, Any]: ...


P = TypeVar("P", bound=Sampled)


class OnGrid(Fold, ABC, Generic[P]):
    """A fold that changes partitions with events and reads them at instants."""

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._partitions: dict[tuple[str, int], P] = {}
        self._instant_us = 0
        self._dirty: list[P] = []

    @abstractmethod
    def _create(self, topic: str, number: int) -> P:
        """A new partition."""

    @abstractmethod
    def _read(self, partition: P, instant_us: int) -> None:
        """It has changed: close the rows that no longer hold at ``instant_us``, and open others."""

    @abstractmethod
    def _close(self, row: Any, t_us: int) -> None:
        """``row`` held until ``t_us``."""

    def finish(self, end_us: int) -> None:
        """Read a last time, at the last instant within the run, and close what is open."""
        if self._instant_us <= end_us:
            self._sample(end_us)
        for partition in self._partitions.values():
            for row in partition.open.values():
                self._close(row, end_us)
            partition.open.clear()

    def _touch(self, t_us: int, topic: str, number: int) -> P:
        """The partition, which an event at ``t_us`` is about to change."""
        if t_us > self._instant_us:
            self._sample(t_us)
        partition = self._partitions.get((topic, number))
        if partition is None:
            partition = self._partitions[topic, number] = self._create(topic, number)
        if not partition.dirty:
            partition.dirty = True
            self._dirty.append(partition)
        return partition

    def _sample(self, t_us: int) -> None:
        """Read what changed up to the instant that is due, and find the one that an event at ``t_us`` belongs to."""
        for partition in self._dirty:
            partition.dirty = False
            self._read(partition, self._instant_us)
        self._dirty.clear()
        self._instant_us = -(-t_us // GRID_US) * GRID_US
