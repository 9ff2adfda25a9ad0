"""Fetch (API 1): a follower or a consumer reads from the leader, with incremental sessions (KIP-227, 1.1): only
partitions that changed are sent.

Versions: v9 (2.1, KIP-320) CurrentLeaderEpoch; v12 (2.7, KIP-595) LastFetchedEpoch and DivergingEpoch. Fencing: leader
epoch per partition.
"""

from collections.abc import Iterable
from typing import NamedTuple

from attrs import define, field

from emulator.protocol.api import Request, Response, declare
from emulator.protocol.errors import Errors
from emulator.protocol.offsets_for_leader_epoch import UNDEFINED_EPOCH
from emulator.protocol.types import Batch, TopicPartition

NEW_SESSION = 0
"""The session id of a full request that asks for a session."""
CONSUMER = -1
"""The replica id of a consumer."""
NO_EPOCH = -1
"""The leader epoch of a client that does not know it."""


class FetchPartition(NamedTuple):
    """The fetch position of one partition. A session keeps it until it is sent again or forgotten.

    Attributes:
        last_fetched_epoch: the leader epoch of the record before ``fetch_offset``, if the follower asks for the
            diverging epoch.
    """

    tp: TopicPartition
    leader_epoch: int
    fetch_offset: int
    log_start_offset: int
    last_fetched_epoch: int = UNDEFINED_EPOCH


FetchFields = tuple[TopicPartition, int, int, int, int]
"""The fields of a ``FetchPartition``. Messages carry plain tuples: each batch makes one of them in each follower, and a
tuple costs a seventh of an object."""


@define(eq=False)
class FetchRequest(Request):
    """A fetch of a follower, or of a consumer.

    Attributes:
        replica_id: the follower's broker id, or CONSUMER.
        positions: the fields of ``partitions``, which is what a constructor is given.
        forgotten: the partitions that left the session since its last request.
    """

    replica_id: int
    session_id: int
    session_epoch: int
    max_wait_us: int
    min_bytes: int
    max_bytes: int
    max_partition_bytes: int
    positions: tuple[FetchFields, ...] = field(alias="partitions")
    forgotten: tuple[TopicPartition, ...]

    @property
    def partitions(self) -> tuple[FetchPartition, ...]:
        """The partitions that were added or changed since the session's last request."""
        return tuple(map(FetchPartition._make, self.positions))

    @property
    def size(self) -> int:
        return 60 + 40 * len(self.positions) + 20 * len(self.forgotten)

    def topic_partitions(self) -> Iterable[TopicPartition]:
        return (each[0] for each in self.positions)


class FetchedPartition(NamedTuple):
    """One partition in a response.

    Attributes:
        high_watermark, log_start_offset: the leader's.
        batches: the batches in offset order.
        diverging: instead of batches, the largest leader epoch up to which the logs may agree and its end offset in the
            leader's log.
    """

    tp: TopicPartition
    error: Errors
    high_watermark: int
    log_start_offset: int
    batches: tuple[Batch, ...]
    diverging: tuple[int, int] | None = None


FetchedFields = tuple[TopicPartition, Errors, int, int, tuple[Batch, ...], tuple[int, int] | None]
"""The fields of a ``FetchedPartition``; see ``FetchFields``."""


@define(eq=False)
class FetchResponse(Response):
    """The answer to a fetch.

    Attributes:
        answers: the fields of ``partitions``, which is what a constructor is given.
        asks_starts: whether a follower is to name a partition again once the start of its log has moved. Kafka's always
            do; here only where the leader was asked to delete records, as nothing else looks at it.
    """

    error: Errors
    session_id: int
    answers: tuple[FetchedFields, ...] = field(alias="partitions")
    size: int
    asks_starts: bool = field(default=False, kw_only=True)

    @property
    def partitions(self) -> tuple[FetchedPartition, ...]:
        """The partitions in which something is new for the reader."""
        return tuple(map(FetchedPartition._make, self.answers))

    def topic_partitions(self) -> Iterable[TopicPartition]:
        return (each[0] for each in self.answers)


declare(
    1,
    "Fetch",
    FetchRequest,
    FetchResponse,
    help="a follower or a consumer reads from a leader; names what has changed since its session's last request",
)


class ReadRefused(NamedTuple):
    """A broker answers a fetch with an error for a partition.

    Attributes:
        reader: the follower's broker, or -1 for a consumer.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    reader: int
    tp: TopicPartition
    error: str
