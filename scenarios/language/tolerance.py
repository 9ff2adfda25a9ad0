"""Limits on a metric, in Chaos Toolkit's forms: a scalar, `[low, high]`, or `{ type = "range", range =
[low, high] }`."""

from __future__ import annotations

import math

from attrs import field, frozen

from scenarios.errors import BadInput
from scenarios.language.kinds import Choice, Kind, Schema, refuse
from scenarios.language.reader import Reader

_FORMS = 'a number, [low, high] or { type = "range", range = [low, high] }'


def _plain(number: float) -> float:
    """1.0 and 1 are one limit, and are written in one way."""
    return int(number) if math.isfinite(number) and number == int(number) else number


@frozen
class Tolerance:
    """Both ends belong to the range; `inf` leaves one open."""

    low: float = field(converter=_plain)
    high: float = field(converter=_plain)

    def __attrs_post_init__(self) -> None:
        if math.isnan(self.low) or math.isnan(self.high):
            raise BadInput(f"nan is no limit; write {_FORMS}")
        if self.low > self.high:
            raise BadInput(f"{self.low} is more than {self.high}; write the lower end first")

    def holds(self, value: float) -> bool:
        return self.low <= value <= self.high

    def __str__(self) -> str:
        return str(self.low) if self.low == self.high else f"{self.low} to {self.high}"


class ToleranceKind(Kind[Tolerance]):
    def read(self, value: object) -> Tolerance:
        if isinstance(value, (list, tuple)):
            return _from_pair(value)
        if isinstance(value, dict):
            reader = Reader(value)
            reader.take("type", Choice(("range",), "tolerance type"))
            tolerance = reader.take("range", self)
            reader.finish()
            return tolerance
        number = _number(value)
        return Tolerance(number, number)

    def dump(self, value: Tolerance) -> object:
        return value.low if value.low == value.high else [value.low, value.high]

    def schema(self) -> Schema:
        pair: Schema = {"type": "array", "items": {"type": "number"}, "minItems": 2, "maxItems": 2}
        table: Schema = {
            "type": "object",
            "properties": {"type": {"const": "range"}, "range": pair},
            "required": ["type", "range"],
            "additionalProperties": False,
        }
        return {"anyOf": [{"type": "number"}, pair, table]}


def _from_pair(value: list[object] | tuple[object, ...]) -> Tolerance:
    if len(value) != 2:
        raise BadInput(f"{len(value)} numbers where two are needed; write {_FORMS}")
    return Tolerance(_number(value[0]), _number(value[1]))


def _number(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise refuse(value, _FORMS)
    return value


TOLERANCE = ToleranceKind()
