"""The events, and the changes of a cluster, that a checker or a shared fold subscribes to: the annotations of its
``on_...`` methods."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterator
from functools import lru_cache
from operator import length_hint
from types import UnionType
from typing import Any

from emulator.trace import Trace
from scenarios.observe.past.changes import CHANGES, Announces
from scenarios.plugins import check_rule

PREFIX = "on_"


def index_of(event: Any, taken: Iterator[int]) -> int:
    """The index of the row whose partition was the last to be taken from ``taken``, an iterator over
    ``event.partitions``. Few rows are asked for it, so a loop over all rows does not count them."""
    return len(event.partitions) - length_hint(taken) - 1


def subscriptions(subscriber: object) -> Iterator[tuple[type, Callable[[Any], None]]]:
    """The (kind, method) pairs of ``subscriber``, in the order of the methods' names.

    Raises: TypeError for an ``on_...`` method that is asynchronous, or whose one parameter is not annotated with an
        event kind or a union of several.
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
    found: list[tuple[str, type]] = []
    for name, method in inspect.getmembers(of, inspect.isfunction):
        if name.startswith(PREFIX):
            check_rule(f"{of.__name__}.{name}", method)
            hints = typing.get_type_hints(method)
            hints.pop("return", None)
            (hint,) = hints.values() if len(hints) == 1 else (None,)
            kinds = typing.get_args(hint) if isinstance(hint, UnionType) else (hint,)
            if not all(isinstance(kind, type) for kind in kinds):
                raise TypeError(f"{of.__name__}.{name}: annotate its one parameter with an event kind")
            found.extend((name, kind) for kind in kinds)
    return tuple(found)


def arm(subscriber: object, trace: Trace, past: Announces) -> None:
    """Let ``subscriber`` see every later event, and change that ``past`` announces, to which it subscribes."""
    for kind, see in subscriptions(subscriber):
        (past.subscribe if kind in CHANGES else trace.fold)(kind, see)
