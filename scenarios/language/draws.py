"""``[draws]``: values of the scenario that each seed draws, by their paths.

A draw comes from a stream with the path's name, so the same seed has the same value under every strategy and profile,
and one more draw moves none of the others.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from attrs import frozen

from emulator.streams import Streams
from scenarios.errors import BadInput
from scenarios.language.schema.kinds import (
    DURATION,
    RATE,
    SIZE,
    AnyValue,
    Integer,
    Kind,
    ListOf,
    MapOf,
    Quantity,
    Schema,
    Text,
)
from scenarios.language.schema.spans import RANGE_SCHEMA, SEPARATOR, Span, SpanOf

if TYPE_CHECKING:
    from emulator.streams import Stream

_ENOUGH = 100
"""The fewest different values of a draw that is fine enough."""
_KINDS: tuple[Quantity | Integer, ...] = (Integer(), DURATION, SIZE, RATE)


_CHOICES = ListOf(AnyValue(), empty=False)


@frozen
class Range:
    """The values from one to another, both of one kind, in that kind's unit."""

    span: Span
    kind: Quantity | Integer

    def draw(self, stream: Stream) -> object:
        """One of the values, each as likely: whole mebibytes, kilobytes or milliseconds where there are enough of
        these."""
        low, high = self.span.low, self.span.high
        coarse = (one for one in self._steps if low % one == high % one == 0 and high - low >= _ENOUGH * one)
        step = next(coarse, 1)
        return self.kind.dump(low + step * stream.below((high - low) // step + 1))

    @property
    def _steps(self) -> tuple[int, ...]:
        if isinstance(self.kind, Integer):
            return ()
        return (1_000,) if self.kind is DURATION else (1 << 20, 1_000_000, 1 << 10, 1_000)

    @property
    def ends(self) -> tuple[object, ...]:
        """The values that are checked in place of all of them."""
        return self.kind.dump(self.span.low), self.kind.dump(self.span.high)


@frozen
class Choices:
    """A list of values, each as likely."""

    values: tuple[object, ...]

    def draw(self, stream: Stream) -> object:
        return self.values[stream.below(len(self.values))]

    @property
    def ends(self) -> tuple[object, ...]:
        return self.values


Draw = Range | Choices


class DrawKind(Kind[Draw]):
    """A range in quotes, or a list."""

    def read(self, value: object) -> Draw:
        if isinstance(value, list):
            return Choices(_CHOICES.read(value))
        if not isinstance(value, str) or SEPARATOR not in value:
            raise BadInput(f'{value!r} is neither a range such as "1s..5s" nor a list of values to draw one from')
        for kind in _KINDS:
            try:
                span = SpanOf(kind).read(value)
            except BadInput as error:
                refused = error
            else:
                assert isinstance(span, Span)
                return Range(span, kind)
            if "begins at its end" in refused.what:
                raise refused
        raise BadInput(
            f"the ends of {value!r} are not two integers, durations, sizes or rates; a list of values also does"
        )

    def checked(self, value: object) -> Draw:
        return value if isinstance(value, (Range, Choices)) else self.read(value)

    def dump(self, value: Draw) -> object:
        return list(value.values) if isinstance(value, Choices) else SpanOf(value.kind).dump(value.span)

    def schema(self) -> Schema:
        return {"anyOf": [RANGE_SCHEMA, {"type": "array", "minItems": 1}]}


DRAWS = MapOf(DrawKind(), Text())


def drawn_values(draws: Mapping[str, Draw], seed: int) -> dict[str, object]:
    """The draws of ``seed``: each path and its value as a file has it."""
    streams = Streams(seed)
    return {path: draw.draw(streams.stream("draws", path)) for path, draw in draws.items()}
