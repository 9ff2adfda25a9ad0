"""Named random streams. A draw is a hash of (seed, purpose, entity, n), so a new draw in one place changes no
other draw.

A stream costs two integers; a ``random.Random`` per entity would cost 2.5 kB.
"""

from collections.abc import Sequence
from hashlib import blake2b
from statistics import NormalDist
from typing import TypeVar

T = TypeVar("T")

_MASK = (1 << 64) - 1
_GAMMA = 0x9E3779B97F4A7C15
_NORMAL = NormalDist()


class Stream:
    """The draws for one purpose and one entity, in order. SplitMix64 over a keyed counter."""

    __slots__ = ("_state",)

    def __init__(self, key: int) -> None:
        self._state = key

    def bits(self) -> int:
        """The next 64 random bits."""
        self._state = z = (self._state + _GAMMA) & _MASK
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & _MASK
        return z ^ (z >> 31)

    def below(self, bound: int) -> int:
        """An integer in ``[0, bound)``. ``bound`` is far below 2**64, so the bias is negligible."""
        return self.bits() * bound >> 64

    def normal(self) -> float:
        """A normal variable with mean 0 and standard deviation 1, from one draw."""
        return _NORMAL.inv_cdf(((self.bits() >> 12) + 0.5) * 2.0**-52)

    def choice(self, items: Sequence[T]) -> T:
        """One of ``items``."""
        return items[self.below(len(items))]


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
            text = f"{self._seed}\0{name[0]}\0{name[1]}".encode()
            found = self._streams[name] = Stream(int.from_bytes(blake2b(text, digest_size=8).digest(), "little"))
        return found
