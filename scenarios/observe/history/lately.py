"""Values that change, as they were at any time since a moment."""

from __future__ import annotations

from bisect import bisect_right
from typing import Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")


class Lately(Generic[K, V]):
    """The values of each key with the times of their changes. Before the first a key has ``default``."""

    def __init__(self, default: V) -> None:
        self._default = default
        self._times: dict[K, list[int]] = {}
        self._values: dict[K, list[V]] = {}

    def put(self, key: K, t_us: int, value: V) -> None:
        self._times.setdefault(key, []).append(t_us)
        self._values.setdefault(key, []).append(value)

    def now(self, key: K) -> V:
        values = self._values.get(key)
        return values[-1] if values else self._default

    def since(self, key: K, t_us: int) -> list[V]:
        """The values that a key has had since a time, the one of that time first."""
        values, times = self._values.get(key, []), self._times.get(key, [])
        at = bisect_right(times, t_us - 1)
        return [values[at - 1] if at else self._default, *values[at:]]

    def keys(self) -> list[K]:
        """The keys that have ever had a value."""
        return list(self._values)
