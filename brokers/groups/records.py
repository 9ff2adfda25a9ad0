"""The records of ``__consumer_offsets`` (kafka.coordinator.group.GroupMetadataManager, 2.3): committed offsets, and the
members of groups.

The emulated log has them as these objects. For a client that reads the topic as bytes, ``scenarios.wire`` encodes them.
"""

from collections.abc import Hashable
from typing import ClassVar, NamedTuple

from attrs import define, evolve

from emulator.protocol.groups.group_offsets import NO_LEADER_EPOCH
from emulator.protocol.produce import ProducedBatch
from emulator.protocol.records import NO_SEQUENCE, KeyedBatch
from emulator.protocol.types import Batch, TopicPartition

BATCH_OVERHEAD, RECORD_OVERHEAD = 61, 12


class OffsetKey(NamedTuple):
    """The key of a committed offset."""

    group: str
    tp: TopicPartition

    @property
    def size(self) -> int:
        return 10 + len(self.group) + len(self.tp.topic)


class OffsetAndMetadata(NamedTuple):
    """A committed offset (kafka.common.OffsetAndMetadata).

    Attributes:
        commit_ms: the time when it was committed, by the coordinator's clock.
        expire_ms: the time when it expires, if the client has given a retention time (OffsetCommit v2 to v4); else
            None.
    """

    offset: int
    leader_epoch: int = NO_LEADER_EPOCH
    metadata: str = ""
    commit_ms: int = 0
    expire_ms: int | None = None

    @property
    def size(self) -> int:
        return 24 + len(self.metadata)


class GroupKey(NamedTuple):
    """The key of the state of a group."""

    group: str

    @property
    def size(self) -> int:
        return 4 + len(self.group)


class StoredMember(NamedTuple):
    """A member in the state of a group."""

    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    rebalance_timeout_us: int
    session_timeout_us: int
    subscription: bytes
    assignment: bytes


class StoredGroup(NamedTuple):
    """The state of a group in one generation (GroupMetadataValue).

    Attributes:
        protocol, leader: None for a group without members.
        state_ms: the time since when the group has been in its state; None: not known.
    """

    protocol_type: str
    generation: int
    protocol: str | None
    leader: str | None
    state_ms: int | None
    members: tuple[StoredMember, ...]

    @property
    def size(self) -> int:
        names = sum(30 + len(m.member_id) + len(m.client_id) + len(m.client_host) for m in self.members)
        return 30 + names + sum(len(m.subscription) + len(m.assignment) for m in self.members)


Key = OffsetKey | GroupKey
Value = OffsetAndMetadata | StoredGroup
Entry = tuple[Key, Value | None]
"""A record. Without a value it is a tombstone: it deletes the earlier records with this key."""


def size_of(entries: tuple[Entry, ...]) -> int:
    """The approximate size of a record batch with these records, in bytes."""
    sizes = (RECORD_OVERHEAD + key.size + (0 if value is None else value.size) for key, value in entries)
    return BATCH_OVERHEAD + sum(sizes)


@define(eq=False)
class GroupBatch(KeyedBatch):
    """A batch of a coordinator in a log."""

    entries: tuple[Entry, ...]

    def keys(self) -> list[tuple[Hashable, bool]]:
        return [(key, value is not None) for key, value in self.entries]

    def with_kept(self, kept: tuple[int, ...], delete_horizon_ms: int) -> "GroupBatch":
        entries = tuple(entry for place, entry in zip(self.places, self.entries, strict=True) if place in kept)
        return evolve(self, entries=entries, kept=kept, size=size_of(entries), delete_horizon_ms=delete_horizon_ms)


@define(eq=False)
class GroupRecords(ProducedBatch):
    """A batch of a coordinator that has no offsets yet."""

    entries: tuple[Entry, ...]

    @classmethod
    def of(cls, tp: TopicPartition, id: int, *entries: Entry) -> "GroupRecords":
        return cls(tp, len(entries), size_of(entries), id, entries)

    def placed(self, base_offset: int, leader_epoch: int, now_us: int) -> Batch:
        return GroupBatch(
            base_offset, base_offset + self.count, leader_epoch, self.size, self.id, self.entries, timestamp_us=now_us
        )


@define(eq=False)
class TransactionalGroupBatch(GroupBatch):
    """A batch of offsets that a transaction commits, in a log. For producer states it is a batch without sequence
    numbers."""

    producer_id: int
    producer_epoch: int
    base_sequence: ClassVar[int] = NO_SEQUENCE
    sequenced: ClassVar[bool] = True
    transactional: ClassVar[bool] = True


@define(eq=False)
class TransactionalGroupRecords(GroupRecords):
    """A batch of offsets that a transaction commits, without offsets in the log yet."""

    producer_id: int
    producer_epoch: int

    def placed(self, base_offset: int, leader_epoch: int, now_us: int) -> Batch:
        return TransactionalGroupBatch(
            base_offset, base_offset + self.count, leader_epoch, self.size, self.id, self.entries, self.producer_id,
            self.producer_epoch, timestamp_us=now_us,
        )  # fmt: skip
