"""Conditions that must not last for longer than a bound, looked at once a second.

A checker of liveness notes when a condition begins and when it ends. Looking costs nothing while none is overdue: they
are kept in the order in which they began.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

K = TypeVar("K")


class Deadlines(Generic[K]):
    """The conditions that hold now, and since when."""

    def __init__(self) -> None:
        self._since_us: dict[K, int] = {}

    def __len__(self) -> int:
        return len(self._since_us)

    def __contains__(self, key: K) -> bool:
        return key in self._since_us

    def clear(self) -> None:
        self._since_us.clear()

    def begin(self, key: K, now_us: int) -> None:
        """The condition holds; it may have held before."""
        self._since_us.setdefault(key, now_us)

    def end(self, key: K) -> None:
        """The condition does not hold, or did not hold before either."""
        self._since_us.pop(key, None)

    def end_all(self, ends: Callable[[K], bool]) -> None:
        """The conditions for which ``ends`` says so do not hold any more."""
        for key in [key for key in self._since_us if ends(key)]:
            del self._since_us[key]

    def overdue(self, now_us: int, bound_us: int, without_excuse_us: Callable[[K], int | None]) -> list[tuple[K, int]]:
        """The conditions that have held without an excuse for longer than ``bound_us``, each with that time, once.

        Args:
            without_excuse_us: since when nothing excuses the condition; None: something does now. It is asked once in
                ``bound_us`` about each condition.
        """
        found = []
        for key, since_us in list(self._first(now_us - bound_us)):
            del self._since_us[key]
            free_us = without_excuse_us(key)
            begun_us = now_us if free_us is None else max(since_us, free_us)
            if free_us is not None and now_us - begun_us >= bound_us:
                found.append((key, now_us - begun_us))
            else:
                self._since_us[key] = begun_us
        return found

    def _first(self, until_us: int) -> list[tuple[K, int]]:
        found = []
        for item in self._since_us.items():
            if item[1] > until_us:
                break
            found.append(item)
        return found


class Lasting(Generic[K]):
    """Differences found by looks at something that never rests. One that several looks in a row have found lasts.

    Args:
        bound_us: how long it may last.
        gap_us: looks that are further apart are not looks in a row.
    """

    def __init__(self, bound_us: int, gap_us: int) -> None:
        self._bound_us, self._gap_us = bound_us, gap_us
        self._found: dict[int, dict[K, int]] = {}
        self._looked_us: dict[int, int] = {}

    def overdue(self, at: int, found: Iterable[K], now_us: int, free_us: int) -> list[K]:
        """The differences that the look at the broker ``at`` has ``found``, and that have lasted for the bound.
        ``free_us``: since when nothing excuses them."""
        in_a_row = now_us - self._looked_us.get(at, free_us) <= self._gap_us
        before = self._found.get(at, {}) if in_a_row else {}
        self._looked_us[at] = now_us
        self._found[at] = since_us = {one: max(free_us, before.get(one, now_us)) for one in found}
        return [one for one, begun_us in since_us.items() if now_us - begun_us >= self._bound_us]
