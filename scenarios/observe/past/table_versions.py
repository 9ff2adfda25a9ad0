"""Tables whose earlier contents can be asked for: what a key had just after any event."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import Any, Generic, TypeVar

K = TypeVar("K")
V = TypeVar("V")

Table = MutableMapping
"""The table that a fold writes to: a dict for the present alone, ``TableVersions`` for earlier moments too."""

GONE: Any = object()
"""The mark in the place of a value: the key was taken out."""


class Clock:
    """The ``seq`` of the event that is being folded."""

    seq = 0


class TableVersions(MutableMapping[K, V]):
    """A table that keeps every value that a key has had, each with the ``seq`` of the event that gave it.

    A question about an earlier moment costs a bisection of the key's own values.
    """

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._now: dict[K, V] = {}
        self._seqs: dict[K, list[int]] = {}
        self._values: dict[K, list[V]] = {}
        self._since: dict[K, list[int]] = {}
        """The ``seq`` at which each value was put in, by key."""

    def __getitem__(self, key: K) -> V:
        return self._now[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._now)

    def __len__(self) -> int:
        return len(self._now)

    def __setitem__(self, key: K, value: V) -> None:
        self._now[key] = value
        self._keep(key, value)

    def __delitem__(self, key: K) -> None:
        del self._now[key]
        self._keep(key, GONE)

    def _keep(self, key: K, value: V) -> None:
        seqs, values = self._seqs.setdefault(key, []), self._values.setdefault(key, [])
        since = self._since.setdefault(key, [])
        seq = self._clock.seq
        put_in = since[-1] if values and values[-1] is not GONE else seq
        if seqs and seqs[-1] == seq:
            values[-1], since[-1] = value, put_in
        else:
            seqs.append(seq)
            values.append(value)
            since.append(put_in)

    def ever(self) -> Iterator[K]:
        """The keys that have ever had a value."""
        return iter(self._seqs)

    def changes(self, key: K) -> Iterator[tuple[int, V | None]]:
        """The values of a key in order, each with the ``seq`` of the event that gave it; None: it was taken out."""
        for seq, value in zip(self._seqs.get(key, ()), self._values.get(key, ()), strict=True):
            yield seq, None if value is GONE else value

    def at(self, seq: int) -> AsOf[K, V]:
        """The table as it was just after event ``seq``."""
        return AsOf(self, seq)

    def _value(self, key: K, seq: int) -> V:
        """The value of a key just after event ``seq``; GONE: there was none."""
        seqs = self._seqs.get(key)
        place = 0 if seqs is None else bisect_right(seqs, seq)
        return self._values[key][place - 1] if place else GONE

    def _keys(self, seq: int) -> Iterator[K]:
        """The keys that had a value just after event ``seq``, in the order in which they were put in."""
        found: list[tuple[int, int, K]] = []
        for number, (key, seqs) in enumerate(self._seqs.items()):
            place = bisect_right(seqs, seq)
            if place and self._values[key][place - 1] is not GONE:
                found.append((self._since[key][place - 1], number, key))
        return (key for _, _, key in sorted(found, key=lambda one: one[:2]))


class AsOf(Mapping[K, V]):
    """A table as it was just after one event. It cannot be changed."""

    def __init__(self, versions: TableVersions[K, V], seq: int) -> None:
        self._versions = versions
        self._seq = seq

    def __getitem__(self, key: K) -> V:
        value = self._versions._value(key, self._seq)
        if value is GONE:
            raise KeyError(key)
        return value

    def __iter__(self) -> Iterator[K]:
        return self._versions._keys(self._seq)

    def __len__(self) -> int:
        return sum(1 for _ in self)


class ByBroker(dict[int, Table[K, V]], Generic[K, V]):
    """A table for each broker, made when it is first asked for."""

    def __init__(self, make: Callable[[], Table[K, V]]) -> None:
        super().__init__()
        self._make = make

    def __missing__(self, broker: int) -> Table[K, V]:
        table = self[broker] = self._make()
        return table

    def at(self, seq: int) -> ByBroker[K, V]:
        """The tables as they were just after event ``seq``."""
        tables: ByBroker[K, V] = ByBroker(dict)
        for broker, table in self.items():
            assert isinstance(table, TableVersions)
            tables[broker] = table.at(seq)  # type: ignore[assignment]
        return tables
