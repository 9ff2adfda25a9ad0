"""The offsets that transactions commit (GroupCoordinator.handleTxnCommitOffsets and scheduleHandleTxnCompletion, 2.7):
they are written at once, and count when the transaction's marker is in the log."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from attrs import define

from brokers.coordinators.appending import not_written
from brokers.coordinators.transitions import replying
from brokers.groups.coordinator import GroupCoordinator
from brokers.groups.group import GroupMetadata, GroupState
from brokers.groups.group_metadata_manager import GroupMetadataManager
from brokers.groups.group_offsets import Done, GroupOffsetsPart, Values
from brokers.groups.records import OffsetKey, TransactionalGroupRecords, size_of
from brokers.log.disk_work import ResponseChannel
from brokers.requests.router import handles
from emulator.protocol.errors import NO_ERROR, Errors
from emulator.protocol.events import OffsetsCommitted
from emulator.protocol.groups.membership import NO_MEMBER
from emulator.protocol.records import NO_SEQUENCE
from emulator.protocol.transactions.coordination import OfTransaction
from emulator.protocol.transactions.txn_offset_commit import TxnOffsetCommitRequest, TxnOffsetCommitResponse

if TYPE_CHECKING:
    from brokers.log.producer_state_manager import VerificationStateEntry
    from brokers.transactions.verification import Verification, Verify

NO_GENERATION = -1


@define(eq=False)
class TransactionalOffsets:
    """The transactional offsets of one broker's groups.

    Attributes:
        verify: verifies transactions (KAFKA-15449, 3.7).
    """

    coordinator: GroupCoordinator
    verify: Verify

    @property
    def store(self) -> GroupMetadataManager:
        return self.coordinator.store

    @handles(TxnOffsetCommitRequest)
    def commit(self, request: TxnOffsetCommitRequest, channel: ResponseChannel) -> None:
        """Answer when the replicas have the offsets. Since 3.7 the transaction is verified before: the group's member
        is checked, and offsets are stored, when its coordinator has answered (handleTxnCommitOffsets, 3.9.0)."""
        if not self._verifies or self._why_not(request) or not self._knows_any(request):
            self._commit(request, channel, NO_ERROR, None)
            return
        group, home = self.store.create(request.group), self.store.partitions.home(request.group)

        def verified(found: Verification) -> None:
            error = found.errors.get(home, NO_ERROR)
            if not error and group.state is GroupState.DEAD:
                error = Errors.COORDINATOR_NOT_AVAILABLE
            if error is Errors.NETWORK_EXCEPTION and self.store.manager.policies.transactions.hides_network_errors:
                error = Errors.COORDINATOR_LOAD_IN_PROGRESS
            refused = not_written(error, Errors.INVALID_COMMIT_OFFSET_SIZE)
            self._commit(request, channel, refused, found.guards.get(home))

        producer = OfTransaction(request.transactional_id, request.producer_id, request.producer_epoch)
        self.verify(producer, {home: NO_SEQUENCE}, request.knows_abortable, verified)

    @property
    def _verifies(self) -> bool:
        policies = self.store.manager.policies
        return policies.verifies_transactions and policies.transactions.verifies_offsets

    def _knows_any(self, request: TxnOffsetCommitRequest) -> bool:
        metadata = self.store.manager.metadata
        return any(metadata.knows(each.tp) for each in request.offsets)

    def _commit(
        self, request: TxnOffsetCommitRequest, channel: ResponseChannel, refused: Errors,
        guard: VerificationStateEntry | None,
    ) -> None:  # fmt: skip
        """Commit, unless that is ``refused``. ``guard``: what was verified."""
        reply = replying(channel)

        def find() -> tuple[Errors, GroupMetadata | None]:
            return (refused, None) if refused else self._committing(request)

        def store(group: GroupMetadata, kept: Values, done: Done) -> None:
            self._store(group, request, kept, guard, done)

        offsets = GroupOffsetsPart(self.coordinator)
        self.coordinator.transitions.ending(offsets.commit_by)(request, reply, TxnOffsetCommitResponse, find, store)

    def _why_not(self, request: TxnOffsetCommitRequest) -> Errors:
        """Why this broker cannot answer for the group, or NONE (validateGroupStatus)."""
        error = NO_ERROR if request.group else Errors.INVALID_GROUP_ID
        error = error or self.store.partitions.error_of(request.group)
        if error is Errors.COORDINATOR_LOAD_IN_PROGRESS and self.store.policies.hides_loading:
            error = error if request.knows_loading else Errors.COORDINATOR_NOT_AVAILABLE
        return error

    def _committing(self, request: TxnOffsetCommitRequest) -> tuple[Errors, GroupMetadata | None]:
        """The group, or the error if the transaction may not commit its offsets. A member is checked where one is named
        (KIP-447)."""
        error = self._why_not(request)
        if error:
            return error, None
        group = self.store.create(request.group)
        policies, named = self.store.policies, request.member_id != NO_MEMBER or request.instance_id is not None
        anonymous, empty = request.generation <= NO_GENERATION, group.state is GroupState.EMPTY
        admitted = anonymous and empty and policies.validates_members and not policies.empty_validates_members
        if named and not admitted:
            error = self.coordinator.check_member(group, request)
        counts = not anonymous or (named and policies.validates_members and not admitted)
        if not error and counts and request.generation != group.generation:
            error = Errors.ILLEGAL_GENERATION
        return error, None if error else group

    def _store(
        self, group: GroupMetadata, request: TxnOffsetCommitRequest, offsets: Values,
        guard: VerificationStateEntry | None, done: Done,
    ) -> None:  # fmt: skip
        """Write ``offsets``. They count once the transaction is committed. What was verified may be over (since
        3.7)."""
        store, producer_id, home = self.store, request.producer_id, self.store.partitions.home(group.id)
        partition = store.manager.partitions.get(home)
        if self._verifies and partition is not None and not partition.log.is_verified(producer_id, guard):
            done(Errors.INVALID_TXN_STATE)
            return
        if partition is not None and request.producer_epoch < partition.log.producers.epoch_of(producer_id):
            done(Errors.INVALID_PRODUCER_EPOCH)
            return

        def stored_or_not(error: Errors, base_offset: int) -> None:
            if group.state is not GroupState.DEAD:
                for tp, value in offsets.items():
                    if error:
                        group.committed.failed(producer_id, tp)
                    else:
                        group.committed.written(producer_id, tp, value, base_offset)
            done(not_written(error, Errors.INVALID_COMMIT_OFFSET_SIZE))

        producer = producer_id, request.producer_epoch
        store.show_commit(group, request, offsets, producer)
        group.committed.begin(producer_id, offsets)
        store.open.setdefault(producer_id, {})[group.id] = None
        entries = tuple((OffsetKey(group.id, tp), value) for tp, value in offsets.items())
        records = TransactionalGroupRecords(
            home, len(entries), size_of(entries), store.partitions.ids.next(), entries, producer_id,
            request.producer_epoch,
        )  # fmt: skip
        store.append(records, stored_or_not)

    def ended(self, producer_id: int, partitions: Sequence[int], *, committed: bool) -> None:
        """The markers of a transaction are in these partitions of ``__consumer_offsets``."""
        store = self.store
        ids = store.open.get(producer_id, {})
        for id in [id for id in ids if store.partitions.partition_for(id) in partitions]:
            del ids[id]
            group = store.groups.get(id)
            if group is not None:
                self._end(group, producer_id, committed)
        if not ids:
            store.open.pop(producer_id, None)

    def _end(self, group: GroupMetadata, producer_id: int, committed: bool) -> None:
        counts = group.committed.end(producer_id, committed=committed)
        self.store.metrics.offsets_changed(group)
        if counts:
            process = self.store.process
            process.emit(
                OffsetsCommitted, process.node.id, group.id, NO_MEMBER, group.generation, NO_ERROR.name,
                tuple([tp.topic for tp in counts]), tuple([tp.partition for tp in counts]),
                tuple([appended.value.offset for appended in counts.values()]),
            )  # fmt: skip
