"""Named random streams. A draw is a hash of (seed, purpose, entity, n), so a new draw in one place changes no
other draw.

A stream costs two integers; a ``random.Random`` per entity would cost 2.5 kB.
"""

from collections.abc import Callable, Iterator, Sequence
from functools import cache, lru_cache
from hashlib import blake2b
from struct import Struct
from typing import TypeVar

T = TypeVar("T")

_MASK = (1 << 64) - 1
_GAMMA = 0x9E3779B97F4A7C15
_MIX_1 = 0xBF58476D1CE4E5B9
_MIX_2 = 0x94D049BB133111EB


class Stream:
    """The draws for one purpose and one entity, in order. SplitMix64 over a keyed counter.

    A stream that draws below the same bound again and again, as a link does for the jitter of its messages, makes its
    draws in blocks.
    """

    __slots__ = ("_bound", "_made", "_same", "_state")

    def __init__(self, key: int) -> None:
        self._state = key
        """The state after the draws in ``_made``."""
        self._made: list[int] = _NOTHING_MADE
        """Draws below ``_bound`` that were made in a block and are not used yet, the next one last."""
        self._bound = 0
        self._same = 0
        """The number of draws below ``_bound`` that came one after the other."""

    def bits(self) -> int:
        """The next 64 random bits."""
        if self._made:
            self._unmake()
        self._state = z = (self._state + _GAMMA) & _MASK
        z = ((z ^ (z >> 30)) * _MIX_1) & _MASK
        z = ((z ^ (z >> 27)) * _MIX_2) & _MASK
        return z ^ (z >> 31)

    def below(self, bound: int) -> int:
        """An integer in ``[0, bound)``. ``bound`` is far below 2**64, so the bias is negligible."""
        if bound == self._bound:
            if self._made:
                return self._made.pop()
            self._same += 1
            if self._same > _FEW:
                return self._make()
        else:
            if self._made:
                self._unmake()
            self._bound, self._same = bound, 1
        return self.bits() * bound >> 64

    def _make(self) -> int:
        """Make a block of draws. Returns the first."""
        self._made = list(reversed(_block(_SIZE).below(self._state, self._bound)))
        self._state = (self._state + _SIZE * _GAMMA) & _MASK
        return self._made.pop()

    def _unmake(self) -> None:
        """Take back the draws of a block that are not used, because something else is drawn. Blocks do not pay for such
        a stream."""
        self._state = (self._state - len(self._made) * _GAMMA) & _MASK
        self._made = _NOTHING_MADE
        self._same = -_MOST

    def rekey(self, key: int) -> None:
        """Go on as a new stream of that key does."""
        self._state, self._made = key, _NOTHING_MADE
        self._bound = self._same = 0

    def normal(self) -> float:
        """A normal variable with mean 0 and standard deviation 1, from one draw."""
        return _normal_quantile()(((self.bits() >> 12) + 0.5) * 2.0**-52)

    def choice(self, items: Sequence[T]) -> T:
        return items[self.below(len(items))]

    def ahead(self, bound: int) -> Iterator[int]:
        """The values that ``below(bound)`` is going to return, again and again, without a draw. The first few are made
        one by one, then in blocks, which take a fourth of the time. The stream must not be used meanwhile; ``skip``
        makes the draws."""
        first = Stream((self._state - len(self._made) * _GAMMA) & _MASK)
        for _ in range(_FEW):
            yield first.below(bound)
        state, size = first._state, _FEW
        while True:
            size = min(4 * size, _MOST)
            yield from _block(size).below(state, bound)
            state = (state + size * _GAMMA) & _MASK

    def skip(self, count: int) -> None:
        """Make ``count`` draws, and drop them."""
        if self._made:
            self._unmake()
        self._state = (self._state + count * _GAMMA) & _MASK


_NOTHING_MADE: list[int] = []
"""The made draws of most streams: none. It is never changed."""

_FEW, _SIZE, _MOST = 16, 64, 256
"""The number of draws that are made one by one before the first block, the size of a block, and of the largest block of
``ahead``."""

_LANE = 128
"""The bits of one lane: twice those of a draw, so that a product of two does not reach into the next lane."""


class _Block:
    """``size`` draws at once: one integer holds them side by side, so each step of the hash is one operation on long
    integers. That takes 80 ns for each draw instead of 350 ns, and needs no library."""

    def __init__(self, size: int) -> None:
        def lanes(values: Iterator[int]) -> int:
            return int.from_bytes(b"".join(value.to_bytes(_LANE // 8, "little") for value in values), "little")

        self._bytes = size * _LANE // 8
        self._upper_halves = Struct("<" + "8xQ" * size).unpack
        self._ones = lanes(1 for _ in range(size))
        self._steps = lanes(n * _GAMMA & _MASK for n in range(1, size + 1))
        self._low = self._ones * _MASK
        # What a shift to the right moves into the upper half of the neighbouring lane is masked away.
        self._shifted = [self._ones * (_MASK >> by) for by in (30, 27, 31)]

    def below(self, state: int, bound: int) -> Sequence[int]:
        """The values of ``Stream.below`` for the draws that follow ``state``."""
        low = self._low
        by_30, by_27, by_31 = self._shifted
        z = (self._ones * state + self._steps) & low
        z = ((z ^ (z >> 30 & by_30)) * _MIX_1) & low
        z = ((z ^ (z >> 27 & by_27)) * _MIX_2) & low
        z = (z ^ (z >> 31 & by_31)) * bound
        # The upper half of a lane is the result of ``>> 64``.
        return self._upper_halves(z.to_bytes(self._bytes, "little"))


_block = lru_cache(_Block)


@cache
def _normal_quantile() -> Callable[[float], float]:
    """The inverse of the standard normal distribution. ``statistics`` takes milliseconds to import: only runs that draw
    such variables do."""
    from statistics import NormalDist

    return NormalDist().inv_cdf


class Streams:
    """The streams of one seed, by name."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._streams: dict[tuple[str, str], Stream] = {}

    def stream(self, purpose: str, entity: object = "") -> Stream:
        """The stream for ``purpose`` and ``entity``: the same object each time, so its draws continue."""
        name = (purpose, str(entity))
        found = self._streams.get(name)
        if found is None:
            found = self._streams[name] = Stream(self._key(name))
        return found

    def redraw(self, seed: int) -> None:
        """Draw from another seed from now on. Streams that are in use go on as those of that seed."""
        self._seed = seed
        for name, stream in self._streams.items():
            stream.rekey(self._key(name))

    def _key(self, name: tuple[str, str]) -> int:
        text = f"{self._seed}\0{name[0]}\0{name[1]}".encode()
        return int.from_bytes(blake2b(text, digest_size=8).digest(), "little")
