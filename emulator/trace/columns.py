"""Events with columns: one event describes a transition of many partitions.

Examples are a request handled, an answer received, a pass over high watermarks. Each is one event for each topic, with
a column for each fact that differs between partitions. It is recorded, digested and folded once. A reader that wants
one event for each partition (the timeline, Parquet, a checker that folds rows) gets *rows*: typed events with the same
time and cause. Their ``seq`` count upwards from that of the event.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol, TypeVar


class Columns(Protocol):
    """An event with columns, beside the fields of every event."""

    def rows(self) -> Sequence[Any]:
        """One event for each partition, in order. Their ``seq`` count upwards from the ``seq`` of this event."""


C = TypeVar("C", bound=Columns)

COLUMNS_OF: dict[type, type[Any]] = {}
"""The kind of event that records each kind of row."""
_ROW_OF: dict[type[Any], type] = {}


def columns_of(row: type) -> Callable[[type[C]], type[C]]:
    """Declare that the decorated kind of event records rows of kind ``row``."""

    def declare(kind: type[C]) -> type[C]:
        COLUMNS_OF[row] = kind
        _ROW_OF[kind] = row
        return kind

    return declare


def rows(events: Iterable[Any]) -> list[Any]:
    """``events`` with the rows of those that have columns in their place."""
    found: list[Any] = []
    for event in events:
        kind: type[Any] = type(event)
        if kind in _ROW_OF:
            found.extend(event.rows())
        else:
            found.append(event)
    return found


def kind_of_rows(kind: type[Any]) -> type[Any]:
    """The kind of the rows of an event of ``kind``; ``kind`` itself where it has no columns."""
    return _ROW_OF.get(kind, kind)
