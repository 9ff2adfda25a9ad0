"""A value, or a range from which the run's seed draws one: ``"30s"``, ``"30s..60s"``, ``3``, ``"1..20"``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from attrs import frozen

from emulator.streams import Stream
from scenarios.errors import BadInput
from scenarios.language.schema.kinds import Integer, Kind, Quantity, Schema, at, refuse

SEPARATOR = ".."
RANGE_SCHEMA: Schema = {"type": "string", "pattern": r"^\s*\S+\s*\.\.\s*\S+\s*$"}
"""A range in quotes, whatever its ends are."""


@frozen
class Span:
    """The values from ``low`` to ``high``, both included."""

    low: int
    high: int

    def draw(self, stream: Stream) -> int:
        """One of the values, each as likely. Where both ends are multiples of 1,000, such as whole milliseconds, so is
        it."""
        step = 1_000 if self.low % 1_000 == 0 and self.high % 1_000 == 0 else 1
        return self.low + step * stream.below((self.high - self.low) // step + 1)


Drawable = int | Span


def at_most(value: Drawable) -> int:
    """The largest value that it can have."""
    return value.high if isinstance(value, Span) else value


def ends(value: Drawable) -> tuple[int, int]:
    """The least and the largest value that it can have."""
    return (value.low, value.high) if isinstance(value, Span) else (value, value)


def drawn(value: Drawable, stream: Stream) -> int:
    """The value itself, or one drawn from its range."""
    return value.draw(stream) if isinstance(value, Span) else value


def certain(value: Drawable) -> int:
    """A value that has been drawn, or was never a range."""
    assert isinstance(value, int)
    return value


@frozen
class SpanOf(Kind[Drawable]):
    """One value of a kind, or a range of them."""

    kind: Quantity | Integer

    def read(self, value: object) -> Drawable:
        if not isinstance(value, str) or SEPARATOR not in value:
            return self.kind.read(value)
        ends = value.split(SEPARATOR)
        if len(ends) != 2 or not all(end.strip() for end in ends):
            raise refuse(value, f'both ends of a range, such as "{self._example}"')
        low, high = (self._end(end.strip()) for end in ends)
        if low >= high:
            raise BadInput(f"{value!r} begins at its end or after it; write the lower end first")
        return Span(low, high)

    def checked(self, value: object) -> Drawable:
        if not isinstance(value, Span):
            return self.kind.checked(value)
        low, high = (self.kind.checked(end) for end in (value.low, value.high))
        if low >= high:
            raise BadInput(f"Span({low}, {high}) begins at its end or after it; write the lower end first")
        return value

    def _end(self, text: str) -> int:
        if isinstance(self.kind, Integer):
            return self.kind.read(int(text) if text.isdecimal() and len(text) < 19 else text)
        return self.kind.read(text)

    @property
    def _example(self) -> str:
        return "1..20" if isinstance(self.kind, Integer) else "1s..5s"

    def dump(self, value: Drawable) -> object:
        if isinstance(value, Span):
            return f"{self._text(value.low)}{SEPARATOR}{self._text(value.high)}"
        return self.kind.dump(value)

    def _text(self, value: int) -> Any:
        return self.kind.dump(value)

    def schema(self) -> Schema:
        return {"anyOf": [self.kind.schema(), RANGE_SCHEMA]}


Range = tuple[int, int]
"""The least and the most, both included."""


@frozen
class RangeOf(Kind[Range]):
    """One value, or the least and the most of a value that a ``[[chaos]]`` block draws: ``[1, 3]``."""

    item: Kind[int]

    def read(self, value: object) -> Range:
        return self._taken(value, self.item.read)

    def checked(self, value: object) -> Range:
        return self._taken(value, self.item.checked)

    def _taken(self, value: object, take: Callable[[object], int]) -> Range:
        if not isinstance(value, (list, tuple)):
            only = take(value)
            return only, only
        if len(value) != 2:
            raise BadInput(f"{len(value)} values where two are needed; write the least and the most")
        low, high = (at(f"[{index}]", take, one) for index, one in enumerate(value))
        if low > high:
            raise BadInput("the first value is more than the second; write the least first")
        return low, high

    def dump(self, value: Range) -> object:
        low, high = value
        return self.item.dump(low) if low == high else [self.item.dump(low), self.item.dump(high)]

    def schema(self) -> Schema:
        one = self.item.schema()
        return {"anyOf": [one, {"type": "array", "items": one, "minItems": 2, "maxItems": 2}]}
