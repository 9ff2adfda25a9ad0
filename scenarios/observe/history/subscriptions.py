"""The events that a checker or a shared fold subscribes to: the annotations of its ``on_...`` methods.

``StateWritten`` and ``AssignmentWritten`` are kinds of their own: writes to a partition's state znode and to its
topic's znode, decoded once for all checkers.
"""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterator
from functools import lru_cache
from operator import length_hint
from typing import Any, NamedTuple

from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import LeaderAndIsr
from emulator.trace import Trace
from scenarios.observe.measures.topology import Topology
from scenarios.plugins import check_rule

PREFIX = "on_"


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
    """ZooKeeper applied a write to the znode of a topic that gives ``tp`` other replicas; none: it is gone.

    ``t_us, seq, cause, client`` are those of the ``ZkWritten`` that it was read from.
    """

    t_us: int
    seq: int
    cause: int
    tp: TopicPartition
    replicas: tuple[int, ...]
    client: int


def index_of(event: Any, taken: Iterator[int]) -> int:
    """The index of the row whose partition was the last to be taken from ``taken``, an iterator over
    ``event.partitions``. Few rows are asked for it, so a loop over all rows does not count them."""
    return len(event.partitions) - length_hint(taken) - 1


def subscriptions(subscriber: object) -> Iterator[tuple[type, Callable[[Any], None]]]:
    """The (kind, method) pairs of ``subscriber``, in the order of the methods' names.

    Raises: TypeError for an ``on_...`` method that is asynchronous, or whose one parameter is not annotated with an
        event kind.
    """
    of: Any = type(subscriber)
    for name, kind in _subscriptions(of):
        yield kind, getattr(subscriber, name)


def check_subscriptions(of: Any) -> None:
    """Raises: TypeError, or NameError for an annotation of what is not there, as ``subscriptions`` would."""
    _subscriptions(of)


@lru_cache(None)
def _subscriptions(of: type[Any]) -> tuple[tuple[str, type], ...]:
    """The names of the methods and their kinds. Kept, since each run arms the same classes, and annotations are slow to
    read."""
    found = []
    for name, method in inspect.getmembers(of, inspect.isfunction):
        if name.startswith(PREFIX):
            check_rule(f"{of.__name__}.{name}", method)
            hints = typing.get_type_hints(method)
            hints.pop("return", None)
            kinds = list(hints.values())
            if len(kinds) != 1 or not isinstance(kinds[0], type):
                raise TypeError(f"{of.__name__}.{name}: annotate its one parameter with an event kind")
            found.append((name, kinds[0]))
    return tuple(found)


def arm(subscriber: object, trace: Trace, topology: Topology) -> None:
    """Let ``subscriber`` see every later event that it subscribes to."""
    for kind, see in subscriptions(subscriber):
        if kind is StateWritten:
            topology.subscribe(_no_interest, _as_state_written(see, topology))
        elif kind is AssignmentWritten:
            topology.subscribe(_as_assignment_written(see), _no_interest)
        else:
            trace.fold(kind, see)


def _as_state_written(see: Callable[[StateWritten], None], topology: Topology) -> Callable[[Any, Any, Any], None]:
    return lambda event, tp, state: see(
        StateWritten(event.t_us, event.seq, event.cause, tp, state, topology.state(tp), event.client)
    )


def _as_assignment_written(see: Callable[[AssignmentWritten], None]) -> Callable[[Any, Any, Any], None]:
    return lambda event, tp, replicas: see(
        AssignmentWritten(event.t_us, event.seq, event.cause, tp, replicas, event.client)
    )


def _no_interest(event: Any, tp: TopicPartition, content: Any) -> None:
    """For the one of two callbacks that a subscription does not need."""
