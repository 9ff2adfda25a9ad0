"""The partition of a message (DefaultPartitioner, 2.3; with KIP-480's sticky partitions, 2.4).

Messages are alike, so a partitioner distributes a whole tick: how many of its messages go to each partition.
"""

from collections.abc import Iterable, Iterator, Sequence
from math import gcd
from typing import Protocol

from attrs import define, field

from emulator.streams import Stream

_MASK = 0xFFFFFFFF
_M = 0x5BD1E995
_MOST_FREQUENT = 1_000_000
"""The weight of the key that is used most; weights are integers, so that shares are the same on every machine."""
_TICKS = 200
"""The ticks after which the mean of the batches of a tick hardly changes."""


class Partitioner(Protocol):
    """``open_to``: the places of the partitions that have a leader, as far as the client knows; all where none has."""

    def deal(self, messages: int, open_to: Sequence[int]) -> Iterable[tuple[int, int]]:
        """(place of the partition, number of messages) for the next ``messages``, without places that get none."""


@define
class RoundRobin:
    """Without a key: in turn, over the partitions that have a leader."""

    _turn: int = 0

    def deal(self, messages: int, open_to: Sequence[int]) -> list[tuple[int, int]]:
        width = len(open_to)
        each, extra = divmod(messages, width)
        turn = self._turn
        self._turn = (turn + extra) % width
        if not extra:
            return [(place, each) for place in open_to] if each else []
        counts = [each + ((index - turn) % width < extra) for index in range(width)]
        return [(place, count) for place, count in zip(open_to, counts, strict=True) if count]


@define
class Sticky:
    """Without a key, since 2.4: all to one partition, and to a random other one when its batch is closed."""

    _stream: Stream
    _batch: int
    """The number of messages in a full batch."""
    _last: int = -1

    def deal(self, messages: int, open_to: Sequence[int]) -> Iterator[tuple[int, int]]:
        while messages:
            others = [place for place in open_to if place != self._last] or open_to
            self._last = self._stream.choice(others)
            count = min(messages, self._batch)
            yield self._last, count
            messages -= count


@define
class Keyed:
    """Keys take turns; each has one partition, whether that has a leader or not."""

    _homes: Sequence[int]
    """The place of each key's partition."""
    _shares: dict[int, int] = field(init=False)
    _turn: int = 0

    def __attrs_post_init__(self) -> None:
        self._shares = {}
        for place in sorted(self._homes):
            self._shares[place] = self._shares.get(place, 0) + 1

    @classmethod
    def of(cls, keys: int, partitions: int) -> "Keyed":
        """The keys ``key-0`` to ``key-(keys-1)`` over that many partitions."""
        return cls([partition_of(f"key-{key}".encode(), partitions) for key in range(keys)])

    def deal(self, messages: int, open_to: Sequence[int]) -> Iterator[tuple[int, int]]:
        rounds, extra = divmod(messages, len(self._homes))
        counts = {place: rounds * share for place, share in self._shares.items()}
        for key in range(self._turn, self._turn + extra):
            counts[self._homes[key % len(self._homes)]] += 1
        self._turn = (self._turn + extra) % len(self._homes)
        for place, count in counts.items():
            if count:
                yield place, count

    def part_of_ticks(self, place: int, messages: int) -> float:
        """The part of the ticks of so many messages, fewer than there are keys, in which a partition gets any."""
        keys = len(self._homes)
        step = gcd(keys, messages)  # ticks begin at every so many-th key only
        turns = [turn for turn, home in enumerate(self._homes) if home == place]
        ticks = 0
        for before, turn in zip(turns[-1:] + turns[:-1], turns, strict=True):
            reached = min((turn - before) % keys or keys, messages)
            ticks += -(-(reached - (turn - self._turn) % step) // step)
        return ticks * step / keys

    @property
    def keys(self) -> int:
        return len(self._homes)


@define
class Skewed:
    """Keys of which some are used more often than others, each in one partition, whether that has a leader or not.

    The messages of a tick are divided by the partitions' shares of all messages; a rest is added to the next tick.
    """

    _shares: dict[int, int]
    """How often the keys of a partition are used, together, out of ``_all``, by partition."""
    _all: int = field(init=False)
    _owed: dict[int, int] = field(init=False)
    _batches: dict[tuple[int, int], int] = field(init=False, factory=dict, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        self._all = sum(self._shares.values())
        self._owed = dict.fromkeys(self._shares, 0)

    @classmethod
    def of(cls, keys: int, partitions: int, exponent: float, stream: Stream) -> "Skewed":
        """``key-0`` to ``key-(keys-1)``; the n-th most frequent is used in proportion to 1 / n**exponent (Zipf). Which
        key is the n-th, ``stream`` draws."""
        left = [partition_of(f"key-{key}".encode(), partitions) for key in range(keys)]
        shares: dict[int, int] = {}
        for rank in range(1, keys + 1):
            at = stream.below(len(left))
            left[at], left[-1] = left[-1], left[at]
            place = left.pop()
            shares[place] = shares.get(place, 0) + max(1, round(_MOST_FREQUENT / rank**exponent))
        return cls(dict(sorted(shares.items())))

    def deal(self, messages: int, open_to: Sequence[int]) -> list[tuple[int, int]]:
        owed = {place: self._owed[place] + messages * share for place, share in self._shares.items()}
        counts = {place: max(0, due // self._all) for place, due in owed.items()}
        by_debt = sorted(owed, key=lambda place: (counts[place] * self._all - owed[place], place))
        missing = messages - sum(counts.values())
        for place in by_debt[: max(0, missing)]:
            counts[place] += 1
        for place in [place for place in reversed(by_debt) if counts[place]][: max(0, -missing)]:
            counts[place] -= 1
        self._owed = {place: due - counts[place] * self._all for place, due in owed.items()}
        return [(place, count) for place, count in counts.items() if count > 0]

    def batches_of_ticks(self, messages: int, full: int, ticks: int) -> float:
        """The batches that so many ticks close: the mean of the first ``_TICKS`` of them, as what is owed comes again.

        Args:
            messages: those of each tick.
            full: the messages of a full batch.
        """
        key = messages, full
        if key not in self._batches:
            fresh = Skewed(self._shares)
            dealt = [count for _ in range(_TICKS) for _place, count in fresh.deal(messages, ())]
            self._batches[key] = sum([-(-count // full) for count in dealt])
        return self._batches[key] * ticks / _TICKS


def partition_of(key: bytes, partitions: int) -> int:
    """The partition of a key among ``partitions``: murmur2 without its sign, modulo."""
    return (murmur2(key) & 0x7FFFFFFF) % partitions


def murmur2(data: bytes) -> int:
    """MurmurHash2 (Austin Appleby) of 32 bits with the seed of Kafka's clients, as an unsigned integer."""
    hash = (0x9747B28C ^ len(data)) & _MASK
    whole = len(data) & ~3
    for at in range(0, whole, 4):
        word = int.from_bytes(data[at : at + 4], "little") * _M & _MASK
        word = (word ^ word >> 24) * _M & _MASK
        hash = hash * _M & _MASK ^ word
    if whole < len(data):
        hash = (hash ^ int.from_bytes(data[whole:], "little")) * _M & _MASK
    hash = (hash ^ hash >> 13) * _M & _MASK
    return hash ^ hash >> 15
