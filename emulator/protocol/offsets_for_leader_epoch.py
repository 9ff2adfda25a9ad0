"""OffsetsForLeaderEpoch (API 23): where does this epoch end in the leader's log? (KIP-101; KIP-279 answers with the
epoch too.) ListOffsets (API 2): where does the leader's log begin and end?"""

from collections.abc import Iterable

from attrs import define

from emulator.protocol.api import Request, Response, declare
from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition

UNDEFINED_EPOCH = -1
UNDEFINED_OFFSET = -1
OFFSET_NOT_AVAILABLE = -1
"""In place of the latest offset."""


@define(eq=False)
class EpochQuery:
    tp: TopicPartition
    current_leader_epoch: int
    leader_epoch: int


@define(eq=False)
class EpochEndOffset:
    """The largest epoch the leader knows that is not above the asked one, and the offset where it ends."""

    tp: TopicPartition
    error: Errors
    leader_epoch: int
    end_offset: int


@define(eq=False)
class OffsetsForLeaderEpochRequest(Request):
    replica_id: int
    partitions: tuple[EpochQuery, ...]

    @property
    def size(self) -> int:
        return 20 + 30 * len(self.partitions)

    def topic_partitions(self) -> Iterable[TopicPartition]:
        return (each.tp for each in self.partitions)


@define(eq=False)
class OffsetsForLeaderEpochResponse(Response):
    partitions: tuple[EpochEndOffset, ...]

    @property
    def size(self) -> int:
        return 10 + 30 * len(self.partitions)

    def topic_partitions(self) -> Iterable[TopicPartition]:
        return (each.tp for each in self.partitions)


@define(eq=False)
class ListOffsetsRequest(Request):
    """``replica_id``: CONSUMER, or the follower that asks."""

    tp: TopicPartition
    current_leader_epoch: int
    replica_id: int
    size: int = 40

    def topic_partitions(self) -> Iterable[TopicPartition]:
        return (self.tp,)


@define(eq=False)
class ListOffsetsResponse(Response):
    """``start``: the leader's log start offset; ``end``: its log end offset, for a consumer its high watermark, or -1
    while that is behind the start of the leader's epoch (OFFSET_NOT_AVAILABLE, KIP-207, 2.2)."""

    tp: TopicPartition
    error: Errors
    start: int
    end: int
    size: int = 40

    def topic_partitions(self) -> Iterable[TopicPartition]:
        return (self.tp,)


declare(
    2,
    "ListOffsets",
    ListOffsetsRequest,
    ListOffsetsResponse,
    help="a follower or a consumer asks a leader where the log begins and ends",
)
declare(
    23,
    "OffsetsForLeaderEpoch",
    OffsetsForLeaderEpochRequest,
    OffsetsForLeaderEpochResponse,
    help="a follower or a consumer asks a leader where an epoch ends, to find where to truncate",
)
