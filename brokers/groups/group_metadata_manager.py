"""The groups of one broker, and their records in ``__consumer_offsets`` (kafka.coordinator.group.GroupMetadataManager,
3.0): written with acks=all, read when the broker becomes the leader of a partition."""

from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, cast

from attrs import define, field

from brokers.coordinators.appending import Appender, BatchIds, Done, not_written
from brokers.coordinators.internal_topic import Coordinated, InternalTopicPartitions
from brokers.coordinators.transitions import Transitions
from brokers.groups.committed import Appended
from brokers.groups.config import GROUP_METADATA_TOPIC, GroupCoordinatorConfig
from brokers.groups.group import GroupMetadata, GroupState
from brokers.groups.group_metrics import GroupMetrics
from brokers.groups.policies import GroupPolicies
from brokers.groups.records import (
    Entry,
    GroupBatch,
    GroupKey,
    GroupRecords,
    OffsetAndMetadata,
    OffsetKey,
    StoredGroup,
    TransactionalGroupBatch,
)
from brokers.replica_manager import ReplicaManager
from emulator.disks import DiskError, UnexpectedError
from emulator.logger import get_logger
from emulator.nodes import Agenda, Process
from emulator.protocol.errors import Errors
from emulator.protocol.events import GroupsLoaded, GroupStateChanged, GroupsUnloaded, OffsetsRemoved
from emulator.protocol.groups.group_offsets import CommittedOffset, OffsetCommitRequest
from emulator.protocol.records import HEADER_BYTES
from emulator.protocol.shown import Deviated
from emulator.protocol.shown_coordination import CommitAccepted, GroupsRead, MembersLoaded, OffsetsRead
from emulator.protocol.types import Batch, TopicPartition
from fetchers.failures import StorageError

if TYPE_CHECKING:
    from emulator.protocol.control_batches import ControlBatch

FIRST_ID = 1 << 61
"""A number below the ids of its batches, which no producer has."""
Remove = Callable[[GroupMetadata], tuple[TopicPartition, ...]]


@define(eq=False)
class Loaded:
    """The content of a partition of ``__consumer_offsets``."""

    groups: dict[str, StoredGroup] = field(factory=dict)
    offsets: dict[str, dict[TopicPartition, Appended]] = field(factory=dict)
    open: dict[int, dict[str, dict[TopicPartition, Appended]]] = field(factory=dict)
    """The offsets of transactions that have not ended, by producer id and group."""
    readable: bool = True

    def read(self, batch: Batch) -> None:
        """Apply the records of ``batch``, the next one of the log."""
        if not isinstance(batch, GroupBatch):
            if batch.transactional and batch.size > HEADER_BYTES:
                self._end(cast("ControlBatch", batch))
            return
        of_groups = self.offsets
        if isinstance(batch, TransactionalGroupBatch):
            of_groups = self.open.setdefault(batch.producer_id, {})
        for key, value in batch.entries:
            if isinstance(key, OffsetKey):
                offsets = of_groups.setdefault(key.group, {})
                if isinstance(value, OffsetAndMetadata):
                    offsets[key.tp] = Appended(value, batch.base_offset)
                else:
                    offsets.pop(key.tp, None)
            elif isinstance(value, StoredGroup):
                self.groups[key.group] = value
            else:
                self.groups.pop(key.group, None)

    def _end(self, marker: "ControlBatch") -> None:
        """End a transaction: its offsets count, if they are newer than the known ones."""
        for group, ended in self.open.pop(marker.producer_id, {}).items():
            offsets = self.offsets.setdefault(group, {})
            for tp, appended in ended.items() if marker.committed else ():
                if tp not in offsets or offsets[tp].at < appended.at:
                    offsets[tp] = appended

    def restored(self, now_ms: int) -> Iterator[GroupMetadata]:
        """The groups, each with its offsets; those that have only offsets last."""
        for id, stored in self.groups.items():
            yield self._with_offsets(GroupMetadata.restored(id, stored))
        opened = (id for groups in self.open.values() for id, offsets in groups.items() if offsets)
        having_offsets = (id for id, offsets in self.offsets.items() if offsets)
        for id in dict.fromkeys((*having_offsets, *opened)):
            if id not in self.groups:
                yield self._with_offsets(GroupMetadata(id, now_ms))

    def _with_offsets(self, group: GroupMetadata) -> GroupMetadata:
        opened = {producer_id: groups[group.id] for producer_id, groups in self.open.items() if group.id in groups}
        group.committed.load(self.offsets.get(group.id, {}), opened)
        return group


@define(eq=False)
class GroupMetadataManager:
    """The groups of the partitions that this broker leads.

    Attributes:
        appender: appends as a producer does.
        loaded, unloaded: called with each group that was loaded, before it answers anything, and with each that is
            removed.
        groups: the groups by id.
        partitions: the partitions of ``__consumer_offsets``.
        open: by producer id, the groups for which its transaction commits offsets, including groups that were unloaded.
    """

    process: Process
    manager: ReplicaManager
    appender: Appender
    transitions: Transitions
    loaded: Callable[[GroupMetadata], object] = lambda _group: None
    unloaded: Callable[[GroupMetadata], object] = lambda _group: None
    groups: Agenda[str, GroupMetadata] = field(factory=Agenda)
    open: dict[int, dict[str, None]] = field(factory=dict)
    partitions: InternalTopicPartitions = field(init=False)
    _metrics: GroupMetrics | None = None

    def __attrs_post_init__(self) -> None:
        self.partitions = InternalTopicPartitions(
            self.manager, self.appender, self.transitions, GROUP_METADATA_TOPIC, BatchIds(self.process, FIRST_ID),
            lambda: self.config.num_partitions, self._load,
        )  # fmt: skip

    @property
    def config(self) -> GroupCoordinatorConfig:
        return self.manager.policies.config.groups

    @property
    def policies(self) -> GroupPolicies:
        return self.manager.policies.groups

    @property
    def clock_ms(self) -> int:
        return self.process.clock_us // 1000

    @property
    def topic_settings(self) -> dict[str, str]:
        """The settings with which the topic is created."""
        return {"cleanup.policy": "compact", "segment.bytes": str(self.config.segment_bytes)}

    # -- groups -----------------------------------------------------------------------------------------------------

    def create(self, id: str) -> GroupMetadata:
        """The group ``id``, which may not be there yet."""
        group = self.groups.get(id)
        if group is None:
            group = self.groups[id] = GroupMetadata(id, self.clock_ms)
            self.metrics.added(group)
        return group

    def move(self, group: GroupMetadata, state: GroupState, reason: str = "") -> None:
        """Change the state of ``group``; ``reason``: why it rebalances."""
        self.metrics.changes(group)
        group.transition(state, self.clock_ms)
        self.metrics.changed(group)
        self.process.emit(GroupStateChanged, self.process.node.id, group.id, str(state), group.generation, reason)

    # -- election and resignation -----------------------------------------------------------------------------------

    @property
    def metrics(self) -> GroupMetrics:
        """The gauges. They exist from the first partition on: a broker that coordinates nothing has none."""
        if self._metrics is None:
            self._metrics = GroupMetrics(self.process.metrics)
            interval_us = self.config.retention_check_interval_us
            self.process.every(interval_us, self.transitions.alone(self.expire), self.groups)
        return self._metrics

    def _load(self, partition: int, leader_epoch: int) -> None:
        """Load a partition. A log that cannot be read is taken for empty (loadGroupsAndOffsets)."""
        found = Loaded()
        found = found if self.partitions.replay(partition, found.read) else Loaded(readable=False)
        restored = found.restored(self.clock_ms)
        groups = [group for group in restored if group.id not in self.groups]
        for group in groups:
            self.groups[group.id] = group
            self.metrics.added(group)
        self._opened(groups)
        self._show_read(partition, found, groups)
        self.process.emit(
            GroupsLoaded, self.process.node.id, GROUP_METADATA_TOPIC, partition, leader_epoch, len(groups),
            sum(len(group.committed.offsets) for group in groups),
        )  # fmt: skip
        for group in groups:
            self._show_loaded(group)
            self.loaded(group)

    def resigned(self, partition: int, leader_epoch: int | None) -> None:
        """This broker does not lead ``partition`` any more; ``leader_epoch``: None where its replica was removed."""
        if not self.partitions.resigned(partition, leader_epoch):
            return
        gone = [group for group in self.groups.values() if self.partitions.partition_for(group.id) == partition]
        for group in gone:
            self.unloaded(group)
            self.drop(group)
        self.process.emit(
            GroupsUnloaded, self.process.node.id, GROUP_METADATA_TOPIC, partition, len(gone),
            sum(len(group.committed.offsets) for group in gone),
        )  # fmt: skip

    def remembered(self) -> Coordinated:
        """The offsets of all groups, and the generations of those that are Stable. That of an empty group need not be
        in the log (GroupCoordinator.onCompleteJoin, 2.3)."""
        found = Loaded()
        for partition in self.partitions.owned:
            self.partitions.replay(partition, found.read)
        stored = {group.id: group for group in found.restored(0)}
        kept: dict[str, str] = {}
        loaded: dict[str, str] = {}
        for group in self.groups.values():
            kept.update(group.offsets_in_words())
            if group.state is GroupState.STABLE:
                kept[f"group {group.id}"] = group.in_words(with_members=self.policies.static_member_stored)
                loaded[f"group {group.id}"] = "nothing"
        for group in stored.values():
            loaded.update(group.offsets_in_words())
            if f"group {group.id}" in loaded:
                loaded[f"group {group.id}"] = group.in_words(with_members=self.policies.static_member_stored)
        return Coordinated(kept, loaded)

    def _opened(self, groups: Iterable[GroupMetadata]) -> None:
        """Note the transactions that ``groups`` take part in."""
        for group in groups:
            for producer_id in group.committed.transactional:
                self.open.setdefault(producer_id, {})[group.id] = None

    def drop(self, group: GroupMetadata) -> None:
        """Forget a group, which is Dead."""
        del self.groups[group.id]
        for producer_id in group.committed.transactional:
            self.open.get(producer_id, {}).pop(group.id, None)
        self.metrics.removed(group)

    # -- writing ----------------------------------------------------------------------------------------------------

    def store_group(
        self, group: GroupMetadata, assignments: Mapping[str, bytes], done: Callable[[Errors], object]
    ) -> None:
        """Write the state of ``group``, with what each member is assigned."""
        stored = group.stored(assignments)

        def stored_or_not(error: Errors, _base_offset: int) -> None:
            done(_of_group(error))

        self._append(group, stored_or_not, (GroupKey(group.id), stored))

    def store_offsets(
        self,
        group: GroupMetadata,
        offsets: Mapping[TopicPartition, OffsetAndMetadata],
        done: Callable[[Errors], object],
    ) -> None:
        """Write the offsets that ``group`` commits. They count once the replicas have them."""

        def stored_or_not(error: Errors, base_offset: int) -> None:
            if group.state is not GroupState.DEAD:
                for tp, value in offsets.items():
                    if error:
                        group.committed.settled(tp, value)
                    else:
                        group.committed.appended(tp, value, base_offset)
                self.metrics.offsets_changed(group)
            done(not_written(error, Errors.INVALID_COMMIT_OFFSET_SIZE))

        group.committed.pending.update(offsets)
        self._append(group, stored_or_not, *((OffsetKey(group.id, tp), value) for tp, value in offsets.items()))

    def _append(self, group: GroupMetadata, done: Done, *entries: Entry) -> None:
        self.append(GroupRecords.of(self.partitions.home(group.id), self.partitions.ids.next(), *entries), done)

    def append(self, records: GroupRecords, done: Done) -> None:
        """Append ``records`` to the partition of a group, and wait for all replicas in sync."""
        self.partitions.append(records, self.config.commit_timeout_us, done, lambda: tuple(map(_name, records.entries)))

    # -- what is shown ----------------------------------------------------------------------------------------------

    def show_commit(
        self, group: GroupMetadata, request: OffsetCommitRequest, offsets: Container[TopicPartition],
        producer: tuple[int, int] = (-1, -1),
    ) -> None:  # fmt: skip
        """Show that the ``offsets`` of a request are about to be written; ``producer``: id and epoch of a
        transaction's."""
        process = self.process
        if process.node.trace.shows(CommitAccepted):
            rows = tuple({each.tp: each for each in request.offsets if each.tp in offsets}.values())
            values = tuple([(each.tp, each.offset) for each in rows])
            home, member = self.partitions.home(group.id), (request.member_id, request.generation)
            process.mark(
                CommitAccepted, process.node.id, group.id, home, *member, *producer, values, rows, request.retention_us
            )

    def _show_read(self, partition: int, found: Loaded, groups: Iterable[GroupMetadata]) -> None:
        process = self.process
        if found.readable and process.node.trace.shows(GroupsRead):
            states = {group.id: group.stored(group.assignments) for group in groups if group.generation}
            offsets = {(group.id, tp): value for group in groups for tp, (value, _) in group.committed.offsets.items()}
            opened = {
                (producer_id, group.id, tp): value
                for group in groups
                for producer_id, of_group in group.committed.transactional.items()
                for tp, (value, _) in of_group.items()
            }
            home = TopicPartition.of(GROUP_METADATA_TOPIC, partition)
            process.mark(GroupsRead, process.node.id, home, states, offsets, opened)

    def _show_loaded(self, group: GroupMetadata) -> None:
        process = self.process
        if group.members and process.node.trace.shows(MembersLoaded):
            members = tuple([(each.member_id, each.session_timeout_us) for each in group.members.values()])
            process.mark(MembersLoaded, process.node.id, group.id, str(group.state), members)

    def show_read(self, group: str, found: Iterable[CommittedOffset], *, stable: bool) -> None:
        """Show which offsets a coordinator answers with. ``stable``: the client takes no other ones."""
        process = self.process
        if process.node.trace.shows(OffsetsRead):
            told = list(found)
            values = tuple([(one.tp, one.offset) for one in told if not one.error])
            unstable = tuple([one.tp for one in told if one.error])
            process.mark(OffsetsRead, process.node.id, group, self.partitions.home(group), values, stable, unstable)

    # -- what is removed --------------------------------------------------------------------------------------------

    def expire(self) -> None:
        """Remove the offsets that have expired, and the groups without offsets and members."""
        now_ms, retention_ms = self.clock_ms, self.config.retention_us // 1000
        unsubscribed, only_stable = self.policies.expires_unsubscribed, self.policies.rebalance_keeps_offsets

        def expired(group: GroupMetadata) -> tuple[TopicPartition, ...]:
            return group.committed.remove(group.expired(now_ms, retention_ms, unsubscribed, only_stable))

        self.clean_up(list(self.groups.values()), expired, "expired")

    def clean_up(self, groups: Iterable[GroupMetadata], remove: Remove, reason: str) -> None:
        """Remove the offsets that ``remove`` takes from each group, and each group that is then empty. The log gets
        tombstones. They need not be replicated: if they are lost, the next coordinator removes the same offsets again
        (cleanupGroupMetadata)."""
        for group in groups:
            outlasting = group.committed.outlasting
            removed = remove(group)
            self._show_forgotten(group, outlasting)
            if group.can_be_removed:
                self.move(group, GroupState.DEAD)
            dead = group.state is GroupState.DEAD
            entries: list[Entry] = [(OffsetKey(group.id, tp), None) for tp in removed]
            if dead:
                self.drop(group)
                if group.generation > 0:  # others were never written
                    entries.append((GroupKey(group.id), None))
            if not dead:
                self.metrics.offsets_changed(group)
            if entries or dead:
                self.process.emit(
                    OffsetsRemoved, self.process.node.id, group.id, reason, dead,
                    tuple([tp.topic for tp in removed]), tuple([tp.partition for tp in removed]),
                )  # fmt: skip
            if entries:
                self._bury(group, entries)

    def _show_forgotten(self, group: GroupMetadata, outlasting: Iterable[TopicPartition]) -> None:
        """Show which of these offsets were removed: they are in the log, and come back from there as the partition is
        loaded, those of a transaction once it is committed (doLoadGroupsAndOffsets)."""
        process, left = self.process, group.committed.outlasting
        for tp in outlasting:
            if tp not in left:
                process.mark(Deviated, process.node.id, "GroupMetadata.removeOffsets", *tp, process.node.id)

    def _bury(self, group: GroupMetadata, entries: list[Entry]) -> None:
        tp = self.partitions.home(group.id)
        partition = self.manager.partitions.get(tp)
        if partition is None or not partition.is_leader:
            return
        records = GroupRecords.of(tp, self.partitions.ids.next(), *entries)
        self.partitions.show_append(records)
        try:
            partition.append_as_leader(records)
        except (DiskError, StorageError, UnexpectedError) as error:
            get_logger("brokers.groups").error("tombstones are not written", group=group.id, reason=str(error))


def _name(entry: Entry) -> str:
    """The name of a record, as ``GroupMetadata`` has it in words."""
    key, _value = entry
    return f"group {key.group}'s offset of {key.tp}" if isinstance(key, OffsetKey) else f"group {key.group}"


def _of_group(error: Errors) -> Errors:
    """The error for a SyncGroup where the group could not be written (storeGroup)."""
    return Errors.REBALANCE_IN_PROGRESS if error is Errors.REQUEST_TIMED_OUT else not_written(error)
