"""JSON as tools print it: with headings above it, lines below it, and several objects in one file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from scenarios.errors import BadInput
from scenarios.reading import parse_json_objects, read_text


@frozen
class JsonObject:
    """A JSON object in a file.

    Attributes:
        heading: the line above it that is not empty; "" where there is none.
        line: the line in which it begins.
    """

    value: dict[str, Any]
    heading: str
    line: int


def read_objects(path: Path, wanted: str) -> list[JsonObject]:
    """The JSON objects in a file, at least one."""
    text, found = read_text(path, wanted), list[JsonObject]()
    try:
        line, before = 1, 0
        for begin, value in parse_json_objects(text):
            line, before = line + text.count("\n", before, begin), begin
            above = text[max(0, begin - 1000) : begin].rstrip().rpartition("\n")[2]
            found.append(JsonObject(value, above.strip(), line))
    except json.JSONDecodeError as error:
        raise BadInput(f"broken JSON: {error.msg}; name {wanted}", source=str(path), line=error.lineno) from None
    except BadInput as error:
        raise error.in_file(str(path)) from None
    if not found:
        raise BadInput(f"holds no JSON; name {wanted}", source=str(path))
    return found


def read_object(path: Path, wanted: str) -> dict[str, Any]:
    """The JSON object in a file that holds no other one."""
    first, *others = read_objects(path, wanted)
    if others:
        raise BadInput(
            f"a second JSON text, after the one in line {first.line}; write each to a file of its own",
            source=str(path),
            line=others[0].line,
        )
    return first.value


def entries(table: object, name: str, source: str, wanted: str) -> list[dict[str, Any]]:
    """The list of tables under a key of JSON."""
    value = table.get(name) if isinstance(table, dict) else None
    if not isinstance(value, list) or not all(isinstance(each, dict) for each in value):
        raise BadInput(f"has no list {name!r} of objects; name {wanted}", source=source)
    return value


def whole(table: Mapping[str, Any], name: str, source: str, wanted: str) -> int:
    """A whole number under a key of JSON."""
    value = table.get(name)
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise BadInput(f"{name!r} is {str(value)[:50]} and no whole number; name {wanted}", source=source)
    return value
