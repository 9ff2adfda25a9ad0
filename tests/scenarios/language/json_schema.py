"""A validator for the part of JSON Schema that the scenario schema uses; a keyword it does not know is an
error."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

Schema = dict[str, Any]
_TYPES: dict[str, Callable[[Any], bool]] = {
    "object": lambda v: isinstance(v, dict),
    "array": lambda v: isinstance(v, list),
    "string": lambda v: isinstance(v, str),
    "boolean": lambda v: isinstance(v, bool),
    "integer": lambda v: isinstance(v, int) and not isinstance(v, bool),
    "number": lambda v: isinstance(v, (int, float)) and not isinstance(v, bool),
}
_NOTES = {"$schema", "$defs", "title", "description", "default", "examples", "additionalProperties"}


def violations(value: Any, schema: Schema, root: Schema, path: str = "$") -> list[str]:
    """Where ``value`` does not fit ``schema``, empty when it does."""
    return [f"{path}: {found}" for found in _found(value, schema, root, path)]


def _found(value: Any, schema: Schema, root: Schema, path: str) -> Iterator[str]:
    for keyword, wanted in schema.items():
        if keyword == "$ref":
            yield from violations(value, root["$defs"][wanted.removeprefix("#/$defs/")], root, path)
        elif keyword == "type":
            if not _TYPES[wanted](value):
                yield f"not of type {wanted}"
        elif keyword in {"anyOf", "oneOf"}:
            fits = sum(not violations(value, option, root, path) for option in wanted)
            if fits == 0 or (keyword == "oneOf" and fits > 1):
                yield f"fits {fits} of {keyword}"
        elif keyword in _LIMITS:
            if not _LIMITS[keyword](value, wanted):
                yield f"breaks {keyword} {wanted}"
        elif keyword in {"properties", "items"}:
            yield from _inside(value, keyword, wanted, root, path)
        else:
            assert keyword in _NOTES, f"the validator does not know {keyword}"
    extra = schema.get("additionalProperties", True)
    if isinstance(value, dict) and extra is not True:
        for name in value.keys() - schema.get("properties", {}).keys():
            yield from [f"unknown {name}"] if extra is False else violations(value[name], extra, root, path)


def _inside(value: Any, keyword: str, wanted: Any, root: Schema, path: str) -> Iterator[str]:
    if keyword == "items" and isinstance(value, list):
        for index, item in enumerate(value):
            yield from violations(item, wanted, root, f"{path}[{index}]")
    if keyword == "properties" and isinstance(value, dict):
        for name in wanted.keys() & value.keys():
            yield from violations(value[name], wanted[name], root, f"{path}.{name}")


_LIMITS: dict[str, Callable[[Any, Any], bool]] = {
    "const": lambda v, wanted: bool(v == wanted),
    "enum": lambda v, wanted: v in wanted,
    "required": lambda v, wanted: not isinstance(v, dict) or set(wanted) <= set(v),
    "minimum": lambda v, wanted: not isinstance(v, (int, float)) or v >= wanted,
    "maximum": lambda v, wanted: not isinstance(v, (int, float)) or v <= wanted,
    "minItems": lambda v, wanted: not isinstance(v, list) or len(v) >= wanted,
    "maxItems": lambda v, wanted: not isinstance(v, list) or len(v) <= wanted,
    "uniqueItems": lambda v, _: not isinstance(v, list) or len(v) == len({str(item) for item in v}),
    "pattern": lambda v, wanted: not isinstance(v, str) or re.search(wanted, v) is not None,
}
