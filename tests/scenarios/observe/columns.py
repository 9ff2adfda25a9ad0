"""Rows written by hand become events with columns, as the emulator records them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from emulator.trace import Trace
from emulator.trace.columns import COLUMNS_OF

_PLURALS = {"latency_us": "latencies_us", "wait_us": "waits_us", "attempts": "attempts", "ids": "ids"}


def emit(trace: Trace, kind: Any, *fields: Any) -> Any:
    """Like ``Trace.emit``; a row is emitted as columns with one row."""
    if kind not in COLUMNS_OF:
        return trace.emit(kind, *fields)
    return emit_columns(trace, kind, [fields])


def emit_columns(trace: Trace, kind: Any, rows: Sequence[tuple[Any, ...]]) -> Any:
    """Emit rows of ``kind``, which differ only in what columns hold, as one event."""
    columns = COLUMNS_OF[kind]
    values: dict[str, Any] = {}
    for name, column in zip(kind._fields[3:], zip(*rows, strict=True), strict=True):
        plural = _PLURALS.get(name, f"{name}s")
        if plural in columns._fields:
            values[plural] = column
        else:
            assert len(set(column)) == 1, f"the rows differ in {name}"
            values[name] = column[0]
    return trace.emit_columns(columns, len(rows), *(values[name] for name in columns._fields[3:]))
