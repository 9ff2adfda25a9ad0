"""The moves that are measured: small clusters, a throttle that makes each last one to four minutes."""

from attrs import frozen


@frozen
class MovedTopic:
    """A topic that is filled and then moved.

    Attributes:
        before, after: the replicas of each partition.
        partition_mb: what each partition is filled with, about.
    """

    name: str
    before: tuple[tuple[int, ...], ...]
    after: tuple[tuple[int, ...], ...]
    partition_mb: int

    @property
    def size_mb(self) -> int:
        """The bytes of all partitions, in one replica of each."""
        return len(self.before) * self.partition_mb


@frozen
class Death:
    """A broker that is killed during the move (SIGKILL), and started again."""

    broker: int
    after_s: float
    down_s: float


@frozen
class Move:
    """A reassignment of a real cluster.

    Attributes:
        throttle_mb: MB/s that each broker may send and receive of it (``--throttle``).
        writes_mb: MB/s that a producer with acks=all writes to each topic from before the move until its end.
    """

    name: str
    release: str
    title: str
    brokers: int
    topics: tuple[MovedTopic, ...]
    throttle_mb: int
    writes_mb: float = 0
    death: Death | None = None


def _turned(count: int, *lists: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """``count`` replica lists, by turns."""
    return tuple(lists[number % len(lists)] for number in range(count))


def _across(name: str, partitions: int, partition_mb: int) -> MovedTopic:
    """A topic on brokers 0 and 1 that goes to 2 and 3."""
    before, after = _turned(partitions, (0, 1), (1, 0)), _turned(partitions, (2, 3), (3, 2))
    return MovedTopic(name, before, after, partition_mb)


MOVES = {
    move.name: move
    for move in (
        Move(
            "one-partition",
            "2.4.1",
            "one partition of 1 GB, nothing is written",
            3,
            (MovedTopic("orders", ((0, 1),), ((2, 1),), 1000),),
            throttle_mb=10,
        ),
        Move(
            "six-partitions",
            "2.4.1",
            "6 partitions of 300 MB, both replicas to other brokers, 1 MB/s is written",
            4,
            (_across("orders", 6, 300),),
            throttle_mb=15,
            writes_mb=1,
        ),
        Move(
            "skewed",
            "2.4.1",
            "a partition of 1.5 GB and 8 of 100 MB, one replica of each to a new broker",
            3,
            (
                MovedTopic("large", ((0, 1),), ((2, 1),), 1500),
                MovedTopic("small", _turned(8, (0, 1), (1, 0)), _turned(8, (2, 1), (2, 0)), 100),
            ),
            throttle_mb=20,
        ),
        Move(
            "twenty-partitions",
            "2.4.1",
            "20 partitions of 150 MB, both replicas to other brokers, 3 MB/s is written",
            4,
            (_across("orders", 20, 150),),
            throttle_mb=30,
            writes_mb=3,
        ),
        Move(
            "six-newer",
            "3.9.1",
            "as six-partitions, on 3.9.1",
            4,
            (_across("orders", 6, 300),),
            throttle_mb=15,
            writes_mb=1,
        ),
        Move(
            "leader-dies",
            "3.9.1",
            "4 partitions of 400 MB and 8 of 100 MB; a leader is killed after 40 s, and is back 15 s later",
            4,
            (_across("large", 4, 400), _across("small", 8, 100)),
            throttle_mb=20,
            death=Death(0, after_s=40, down_s=15),
        ),
    )
}
