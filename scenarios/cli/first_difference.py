"""The first event at which two runs of one scenario differ, side by side."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from attrs import frozen

from scenarios.cli.output import table

_WIDTH = 40
_BEFORE = 12
"""The characters shown before the first that differs, when a value is too long to be shown whole."""

Event = dict[str, Any] | None
"""An event by its fields; None where a run has ended."""


@frozen
class FirstDifference:
    """The first difference. ``index``: the number of the event, counted from 1; 0 when only the digests differ."""

    index: int
    first: Event
    second: Event

    def to_json(self) -> dict[str, Any]:
        return {"index": self.index, "first": self.first, "second": self.second}


def parse_event(line: str | None) -> Event:
    """A line of the recorded stream; payloads that are JSON in a text are opened too."""
    if line is None:
        return None
    found = json.loads(line)
    if not isinstance(found, dict):
        return {"event": found}
    fields = found.pop("fields", {})
    opened = json.loads(fields) if isinstance(fields, str) else fields
    return {**found, **opened} if isinstance(opened, dict) else {**found, "fields": fields}


def difference_lines(found: FirstDifference, hash_seeds: tuple[str, str]) -> Iterator[str]:
    """The report: which event differs, then every field with both values; ``*`` marks those that differ."""
    yield f"NOT DETERMINISTIC: {_place(found)}"
    first, second = found.first or {}, found.second or {}
    heads = [f"PYTHONHASHSEED={seed}" for seed in hash_seeds]
    rows = [("", "", *heads)]
    for name in {**first, **second}:
        left, right = _text(found.first, name), _text(found.second, name)
        rows.append(("*" if left != right else "", name, *_clip(left, right)))
    yield from table(rows)


def _place(found: FirstDifference) -> str:
    if found.index == 0:
        return "the events are equal and the digests are not"
    event = found.first or found.second or {}
    name = f"event {found.index}"
    if "t_us" in event:
        name += f", seq {event.get('seq')}, at {event['t_us'] / 1e6:.6f} s, {event.get('kind')}"
    if found.first is None or found.second is None:
        return f"one run ended, the other went on with {name}"
    return f"the first event that differs is {name}"


def _text(event: Event, name: str) -> str:
    if event is None:
        return "(ended)"
    return json.dumps(event[name], ensure_ascii=False) if name in event else "(none)"


def _clip(left: str, right: str) -> tuple[str, str]:
    """Both values, shortened so that the first difference can be seen."""
    same = next((i for i, (a, b) in enumerate(zip(left, right, strict=False)) if a != b), 0)
    start = max(0, same - _BEFORE) if max(len(left), len(right)) > _WIDTH else 0
    return _window(left, start), _window(right, start)


def _window(text: str, start: int) -> str:
    head = "…" if start else ""
    rest = text[start:]
    room = _WIDTH - len(head)
    return head + (rest if len(rest) <= room else rest[: room - 1] + "…")
