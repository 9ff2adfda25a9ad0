"""The whole trace as a table, and back: ``timeline`` reads it, and replays are compared with it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from emulator.metrics import metric_events as metric_events
from emulator.protocol import events as protocol_events
from emulator.trace import events as ground_events
from scenarios.runs.dataset.table_rows import EventRow

if TYPE_CHECKING:
    import pyarrow as pa


def _kinds(*modules: Any) -> dict[str, type[Any]]:
    found = [value for module in modules for value in vars(module).values()]
    return {kind.__name__: kind for kind in found if isinstance(kind, type) and _is_event(kind)}


def _is_event(kind: type[Any]) -> bool:
    return kind is not NamedTuple and tuple(getattr(kind, "_fields", ()))[:3] == ("t_us", "seq", "cause")


KINDS: Mapping[str, type[Any]] = _kinds(ground_events, metric_events, protocol_events)
"""Every kind of event, by name."""


class EventRows:
    """A sink for ``Trace.sink`` that keeps every event as a row."""

    def __init__(self) -> None:
        self.rows: list[EventRow] = []

    def __call__(self, chunk: list[Any]) -> None:
        self.rows += map(event_row, chunk)


def event_row(event: Any) -> EventRow:
    values = dict(zip(event._fields[3:], event[3:], strict=True))
    node, topic, partition = (values.pop(name, None) for name in ("node", "topic", "partition"))
    fields = json.dumps(values, separators=(",", ":"), ensure_ascii=False)
    t_us, seq, cause = event[:3]
    return EventRow(t_us, seq, cause, type(event).__name__, node, topic, partition, fields)


def read_events(table: pa.Table) -> Iterator[Any]:
    """The events of the table's rows, equal to those that were written. Raises: KeyError for an unknown kind."""
    for batch in table.to_batches():
        yield from map(_event, batch.to_pylist())


def _event(row: Mapping[str, Any]) -> Any:
    kind = KINDS[row["kind"]]
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in _fields(row).items()}
    return kind(**{name: values[name] if name in values else row[name] for name in kind._fields})


def _fields(row: Mapping[str, Any]) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads(row["fields"])
    return fields
