"""OffsetCommit (API 8), OffsetFetch (9) and OffsetDelete (47): the offsets that a group has committed.

Versions that change what is meant: OffsetCommit v2 to v4 a retention time, v6 (2.1, KIP-320) the leader epoch, v7 (2.3,
KIP-345) static members; OffsetFetch v2 all partitions, v7 (2.5, KIP-447) stable offsets only, v8 (3.0, KIP-709) several
groups. OffsetDelete is KIP-496's (2.4).
"""

from collections.abc import Iterable
from typing import NamedTuple

from attrs import define

from emulator.protocol.api import OfPartitions, Request, Response, declare
from emulator.protocol.errors import Errors
from emulator.protocol.groups.membership import NO_GENERATION, NO_MEMBER
from emulator.protocol.types import TopicPartition

NO_OFFSET = -1
NO_LEADER_EPOCH = -1
NO_RETENTION = -1
"""Offsets are kept for as long as the brokers' settings say."""


class OffsetToCommit(NamedTuple):
    """The progress of a group in a partition, to be committed.

    Attributes:
        offset: the offset of the next record that the group will read.
        leader_epoch: the leader epoch of the last record that it has read.
    """

    tp: TopicPartition
    offset: int
    leader_epoch: int = NO_LEADER_EPOCH
    metadata: str = ""


@define(eq=False)
class OffsetCommitRequest(Request):
    """Commit these offsets.

    Attributes:
        generation, member_id: NO_GENERATION and NO_MEMBER from a client that is no member, and only commits offsets.
        retention_us: how long the coordinator keeps the offsets; NO_RETENTION: as its settings say.
    """

    group: str
    offsets: tuple[OffsetToCommit, ...]
    generation: int = NO_GENERATION
    member_id: str = NO_MEMBER
    instance_id: str | None = None
    retention_us: int = NO_RETENTION

    @property
    def size(self) -> int:
        offsets = sum(22 + len(each.tp.topic) + len(each.metadata) for each in self.offsets)
        return 14 + len(self.group) + len(self.member_id) + offsets

    def topic_partitions(self) -> Iterable[TopicPartition]:
        return (each.tp for each in self.offsets)


@define(eq=False)
class OffsetCommitResponse(OfPartitions, Response):
    partitions: tuple[tuple[TopicPartition, Errors], ...]

    @property
    def size(self) -> int:
        return 8 + sum(8 + len(tp.topic) for tp, _error in self.partitions)


class OffsetsWanted(NamedTuple):
    """A question about one group.

    Attributes:
        partitions: the partitions asked for; None: all for which the group has committed an offset.
    """

    group: str
    partitions: tuple[TopicPartition, ...] | None


@define(eq=False)
class OffsetFetchRequest(Request):
    """Ask for the committed offsets of groups.

    Attributes:
        require_stable: answer UNSTABLE_OFFSET_COMMIT where a commit is not decided yet (KIP-447).
    """

    groups: tuple[OffsetsWanted, ...]
    require_stable: bool = False

    @property
    def size(self) -> int:
        return 10 + sum(
            8 + len(each.group) + sum(6 + len(tp.topic) for tp in each.partitions or ()) for each in self.groups
        )

    def topic_partitions(self) -> Iterable[TopicPartition]:
        return (tp for each in self.groups for tp in each.partitions or ())


class CommittedOffset(NamedTuple):
    """The committed offset of a group in a partition.

    Attributes:
        offset: NO_OFFSET: none was committed.
    """

    tp: TopicPartition
    offset: int = NO_OFFSET
    leader_epoch: int = NO_LEADER_EPOCH
    metadata: str = ""
    error: Errors = Errors.NONE


class GroupOffsets(NamedTuple):
    """The answer about one group.

    Attributes:
        partitions: empty with an ``error``.
    """

    group: str
    error: Errors
    partitions: tuple[CommittedOffset, ...] = ()


@define(eq=False)
class OffsetFetchResponse(Response):
    """The answers, in the order of the request's groups."""

    groups: tuple[GroupOffsets, ...]

    @property
    def size(self) -> int:
        return 10 + sum(
            8 + len(each.group) + sum(24 + len(one.tp.topic) + len(one.metadata) for one in each.partitions)
            for each in self.groups
        )

    def topic_partitions(self) -> Iterable[TopicPartition]:
        return (one.tp for each in self.groups for one in each.partitions)


@define(eq=False)
class OffsetDeleteRequest(OfPartitions, Request):
    """Remove the offsets that a group has committed for these partitions."""

    group: str
    partitions: tuple[TopicPartition, ...]

    @property
    def size(self) -> int:
        return 10 + len(self.group) + sum(6 + len(tp.topic) for tp in self.partitions)


@define(eq=False)
class OffsetDeleteResponse(OfPartitions, Response):
    """The outcomes.

    Attributes:
        partitions: each with its outcome; empty with an ``error``.
    """

    error: Errors
    partitions: tuple[tuple[TopicPartition, Errors], ...] = ()

    @property
    def size(self) -> int:
        return 10 + sum(8 + len(tp.topic) for tp, _error in self.partitions)


declare(8, "OffsetCommit", OffsetCommitRequest, OffsetCommitResponse, help="a group commits how far it has read")
declare(9, "OffsetFetch", OffsetFetchRequest, OffsetFetchResponse, help="a client asks what groups have committed")
declare(47, "OffsetDelete", OffsetDeleteRequest, OffsetDeleteResponse, help="committed offsets of a group are deleted")
