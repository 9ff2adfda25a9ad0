"""Changes that a ``Past`` announces: what an event has changed, decoded, with what was there before."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import LeaderAndIsr
from scenarios.observe.past.knowledge import LedPartition, Replicas


class StateWritten(NamedTuple):
    """ZooKeeper applied a write to the state znode of ``tp``; ``state`` is None when it was deleted, ``before`` where
    there was none.

    ``t_us, seq, cause, client`` are those of the ``ZkWritten`` that it was read from.
    """

    t_us: int
    seq: int
    cause: int
    tp: TopicPartition
    state: LeaderAndIsr | None
    before: LeaderAndIsr | None
    client: int


class AssignmentWritten(NamedTuple):
    """ZooKeeper applied a write to the znode of a topic that gives ``tp`` other replicas than it had ``before``; none:
    it is gone, or was not there.

    ``t_us, seq, cause, client`` are those of the ``ZkWritten`` that it was read from.
    """

    t_us: int
    seq: int
    cause: int
    tp: TopicPartition
    replicas: Replicas
    before: Replicas
    client: int


class ReassigningWritten(NamedTuple):
    """ZooKeeper applied a write to the znode of a topic that names other adding or removing replicas of ``tp`` than
    before, or none any more (KIP-455).

    Attributes:
        moves: whether it names any.
    """

    t_us: int
    seq: int
    cause: int
    tp: TopicPartition
    moves: bool


class LedChanged(NamedTuple):
    """A change of what a broker knows of a partition that it leads; None: it does, or did, not lead it.

    ``t_us, seq, cause`` are those of the event that showed it.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    tp: TopicPartition
    before: LedPartition | None
    now: LedPartition | None


CHANGES = (StateWritten, AssignmentWritten, ReassigningWritten, LedChanged)
"""All kinds. ``Past.subscribe`` is to them what ``Trace.fold`` is to events."""


class Announces(Protocol):
    """Announces the changes of a cluster: a ``Past``."""

    def subscribe(self, kind: type[Any], see: Callable[[Any], None]) -> None: ...
