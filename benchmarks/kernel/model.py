"""The model that every variant runs, and the numbers that must come out the same.

Each of ``brokers`` leads; each ordered pair (follower, leader) has a fetcher that sends ``fetches`` requests, one
request in flight, for two partitions. A request takes ``request_us`` to arrive, the leader answers at once,
and the answer takes ``answer_us``. A leader appends one batch to a partition for each fetch of it that it
answers, so what a follower gets depends on the order in which the leader saw its requests: a checksum over
the answers is a checksum over that order.
"""

from collections.abc import Sequence

from attrs import define

PARTITIONS = 2
MODULUS = (1 << 61) - 1


@define(eq=False)
class Fetch:
    """A request: the index of its fetcher, and its fetch offsets."""

    fetcher: int
    offsets: tuple[int, ...]


@define(eq=False)
class Fetched:
    """The answer: per partition, the log's end."""

    ends: tuple[int, ...]


class Leader:
    """A leader's state: the end of each partition's log."""

    __slots__ = ("ends",)

    def __init__(self) -> None:
        self.ends = [0] * PARTITIONS

    def answer(self, request: Fetch) -> Fetched:
        ends = self.ends
        for partition, offset in enumerate(request.offsets):
            if offset <= ends[partition]:
                ends[partition] += 1
        return Fetched(tuple(ends))


class Follower:
    """A fetcher's state: its offsets, and the checksum of all that it got."""

    __slots__ = ("checksum", "index", "offsets")

    def __init__(self, index: int) -> None:
        self.index = index
        self.offsets: tuple[int, ...] = (0,) * PARTITIONS
        self.checksum = 0

    def request(self) -> Fetch:
        return Fetch(self.index, self.offsets)

    def take(self, answer: Fetched) -> None:
        self.offsets = answer.ends
        checksum = self.checksum
        for end in answer.ends:
            checksum = (checksum * 31 + end) % MODULUS
        self.checksum = checksum


def pairs(brokers: int) -> list[tuple[int, int]]:
    """(follower, leader), in the order in which the fetchers are started."""
    return [(follower, leader) for follower in range(brokers) for leader in range(brokers) if follower != leader]


def request_us(follower: int, leader: int) -> int:
    """The time that a request travels. Requests of follower f reach a leader at f modulo 64 and so never two at once:
    every variant sees one order, whatever it does with ties."""
    return 64 * (8 + (7 * follower + leader) % 5) + follower


def answer_us(follower: int, leader: int) -> int:
    """The time that the answer travels."""
    return 64 * (8 + (follower + 3 * leader) % 5) - follower


def total(followers: Sequence[Follower], now_us: int) -> int:
    """The checksum of a run."""
    result = now_us
    for follower in followers:
        result = (result * 1_000_003 + follower.checksum) % MODULUS
    return result
