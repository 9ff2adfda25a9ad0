"""OffsetsForLeaderEpoch (API 23): the end of a leader epoch in the leader's log (KIP-101; with KIP-279 the response
names the epoch too). ListOffsets (API 2): the start and the end of the leader's log."""

from collections.abc import Iterable
from typing import NamedTuple

from attrs import define

from emulator.protocol.api import OfPartitions, Request, Response, declare
from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition

UNDEFINED_EPOCH = -1
UNDEFINED_OFFSET = -1
OFFSET_NOT_AVAILABLE = -1
"""``end`` of a response without a latest offset."""


@define(eq=False)
class EpochQuery:
    tp: TopicPartition
    current_leader_epoch: int
    leader_epoch: int


@define(eq=False)
class EpochEndOffset:
    """The largest leader epoch in the leader's log that is not above the requested one, and its end offset."""

    tp: TopicPartition
    error: Errors
    leader_epoch: int
    end_offset: int


class EpochEndFound(NamedTuple):
    """A replica looked up where a leader epoch ends in its log. Shown to folds and not recorded (``Trace.show``).

    Attributes:
        epoch: the requested epoch.
        end_offset: the end that was found; UNDEFINED_OFFSET: the log does not know such an epoch.
        log_end_offset: the log end offset at that moment.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    tp: TopicPartition
    epoch: int
    end_offset: int
    log_end_offset: int


@define(eq=False)
class OffsetsForLeaderEpochRequest(OfPartitions, Request):
    SIZES = 20, 30
    replica_id: int
    partitions: tuple[EpochQuery, ...]


@define(eq=False)
class OffsetsForLeaderEpochResponse(OfPartitions, Response):
    SIZES = 10, 30
    partitions: tuple[EpochEndOffset, ...]


@define(eq=False)
class ListOffsetsRequest(Request):
    """Ask for the start and the end of one partition's log.

    Attributes:
        replica_id: the follower's broker id, or CONSUMER.
    """

    tp: TopicPartition
    current_leader_epoch: int
    replica_id: int
    size: int = 40

    def topic_partitions(self) -> Iterable[TopicPartition]:
        return (self.tp,)


@define(eq=False)
class ListOffsetsResponse(Response):
    """The start and the end of one partition's log.

    Attributes:
        start: the leader's log start offset.
        end: its log end offset; for a consumer its high watermark, or OFFSET_NOT_AVAILABLE while that is below the
            start of the leader's epoch (KIP-207, 2.2).
    """

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
