"""A comparison as one JSON object for programs."""

from __future__ import annotations

import json
from enum import Enum
from math import isfinite
from typing import Any

from attrs import asdict, fields, has

from scenarios.runs.dataset.arm import Arm
from scenarios.studies.statistics.result import Comparison


def as_json(comparison: Comparison) -> str:
    """Every field of the comparison and of what is in it, by name, and the sentences; an arm with its name, a verdict
    as its words."""
    return json.dumps({**_plain(comparison), "headlines": comparison.headlines}, indent=1, allow_nan=False)


def _plain(value: Any) -> Any:
    if isinstance(value, Arm):
        return {"name": value.name, **asdict(value, recurse=False), "grid": dict(value.grid)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, float):
        return value if isfinite(value) else None
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(one) for one in value]
    if has(type(value)):
        return {field.name: _plain(getattr(value, field.name)) for field in fields(type(value))}
    return value
