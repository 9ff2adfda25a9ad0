"""Draws of one block, from a stream of its own: draws of other blocks do not change them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from attrs import frozen

from emulator.streams import Stream, Streams
from scenarios.language.schema.spans import Range

T = TypeVar("T")
MS = 1_000
_MILLION = 1_000_000


@frozen(eq=False)
class Draws:
    """Draws from the stream of one name. All are made with integers, so that they are the same on every machine."""

    seed: int
    name: str
    _stream: Stream

    @classmethod
    def of(cls, seed: int, name: str) -> Draws:
        return cls(seed, name, Streams(seed).stream("chaos", name))

    def sub(self, part: object) -> Draws:
        """Draws of a part of the block. They do not depend on the draws made before."""
        return Draws.of(self.seed, f"{self.name}/{part}")

    def chance(self, share: float) -> bool:
        """True in that share of the cases."""
        return self._stream.below(_MILLION) < round(share * _MILLION)

    def between(self, span: Range) -> int:
        """An integer of the range, each as likely."""
        low, high = span
        return low + self._stream.below(high - low + 1)

    def choice(self, items: Sequence[T]) -> T:
        return items[self._stream.below(len(items))]

    def weighted(self, items: Sequence[tuple[int, T]]) -> T:
        """One of the items, as often as its weight says."""
        left = self._stream.below(sum(weight for weight, _ in items))
        for weight, item in items:
            if left < weight:
                return item
            left -= weight
        raise AssertionError("a draw is below the sum of all weights")

    def some(self, items: Sequence[T], count: int) -> list[T]:
        """``count`` of the items, or all if there are fewer, in an order that is drawn."""
        left = list(items)
        return [left.pop(self._stream.below(len(left))) for _ in range(min(count, len(left)))]

    def moment(self, span: Range) -> int:
        """A time of the range in microseconds, in whole milliseconds."""
        low, high = span
        return self.between((low // MS, max(low, high) // MS)) * MS

    def spread(self, span: Range) -> int:
        """A time of the range in whole milliseconds, as likely to be between 1 and 2 ms as between 1 and 2 s."""
        low, high = max(1, span[0] // MS), max(1, span[1] // MS)
        octave = self._stream.below((high // low).bit_length())
        first = low << octave
        return self.between((first, max(first, min(high, 2 * first - 1)))) * MS
