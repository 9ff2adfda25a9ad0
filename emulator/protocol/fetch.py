"""Fetch (API 1): a follower or a consumer reads from the leader, with incremental sessions (KIP-227, 1.1): only what
changed travels.

Versions: v9 (2.1, KIP-320) CurrentLeaderEpoch; v12 (2.7, KIP-595) LastFetchedEpoch and DivergingEpoch. Fencing: leader
epoch per partition.
"""

from collections.abc import Iterable

from attrs import define

from emulator.protocol.api import Request, Response, declare
from emulator.protocol.errors import Errors
from emulator.protocol.offsets_for_leader_epoch import UNDEFINED_EPOCH
from emulator.protocol.types import Batch, TopicPartition

NEW_SESSION = 0
"""The session id of a full request that asks for a session."""
CONSUMER = -1
"""The replica id of who is no replica."""
NO_EPOCH = -1
"""The leader epoch of a client that knows none."""


@define(eq=False, weakref_slot=False)
class FetchPartition:
    """Where one partition's fetch goes on. A session remembers it until it is sent again or forgotten.

    ``last_fetched_epoch``: of the record before ``fetch_offset``, if the follower wants to know where the logs part.
    """

    tp: TopicPartition
    leader_epoch: int
    fetch_offset: int
    log_start_offset: int
    last_fetched_epoch: int = UNDEFINED_EPOCH


@define(eq=False)
class FetchRequest(Request):
    """A fetch of a follower, or of a consumer (``replica_id`` CONSUMER). ``partitions`` holds what changed since the
    session's last request."""

    replica_id: int
    session_id: int
    session_epoch: int
    max_wait_us: int
    min_bytes: int
    max_bytes: int
    max_partition_bytes: int
    partitions: tuple[FetchPartition, ...]
    forgotten: tuple[TopicPartition, ...]

    @property
    def size(self) -> int:
        return 60 + 40 * len(self.partitions) + 20 * len(self.forgotten)

    def topic_partitions(self) -> Iterable[TopicPartition]:
        return (each.tp for each in self.partitions)


@define(eq=False)
class FetchedPartition:
    """One partition's answer: batches in offset order, the leader's high watermark and log start offset.

    ``diverging``: instead of batches, the epoch up to which the logs may agree and where it ends over there.
    """

    tp: TopicPartition
    error: Errors
    high_watermark: int
    log_start_offset: int
    batches: tuple[Batch, ...]
    diverging: tuple[int, int] | None = None


@define(eq=False)
class FetchResponse(Response):
    error: Errors
    session_id: int
    partitions: tuple[FetchedPartition, ...]
    size: int

    def topic_partitions(self) -> Iterable[TopicPartition]:
        return (each.tp for each in self.partitions)


declare(
    1,
    "Fetch",
    FetchRequest,
    FetchResponse,
    help="a follower or a consumer reads from a leader; names what has changed since its session's last request",
)
