"""The offsets of groups: commits, fetches, deletions (GroupCoordinator.handleCommitOffsets and its like, 3.0)."""

from collections.abc import Callable, Iterable

from attrs import define

from brokers.groups.coordinator import GroupCoordinator
from brokers.groups.group import GroupMetadata, GroupState
from brokers.groups.records import OffsetAndMetadata
from emulator.protocol.errors import NO_ERROR, Errors
from emulator.protocol.events import OffsetsCommitted
from emulator.protocol.groups.group_offsets import (
    NO_RETENTION,
    CommittedOffset,
    GroupOffsets,
    OffsetCommitRequest,
    OffsetCommitResponse,
    OffsetDeleteRequest,
    OffsetDeleteResponse,
    OffsetsWanted,
)
from emulator.protocol.groups.membership import NO_MEMBER
from emulator.protocol.types import TopicPartition

Outcomes = tuple[tuple[TopicPartition, Errors], ...]
CommitCallback = Callable[[OffsetCommitResponse], object]
Values = dict[TopicPartition, OffsetAndMetadata]
Done = Callable[[Errors], object]
Found = tuple[Errors, GroupMetadata | None]


@define(eq=False)
class GroupOffsetsPart:
    """The part of a coordinator that handles offsets."""

    coordinator: GroupCoordinator

    # -- OffsetCommit -----------------------------------------------------------------------------------------------

    def commit(self, request: OffsetCommitRequest, callback: CommitCallback) -> None:
        """Answer, now or when the replicas have the offsets, through ``callback``. Partitions that this broker does not
        know are refused."""
        coordinator = self.coordinator

        def store(group: GroupMetadata, kept: Values, done: Done) -> None:
            def stored(error: Errors) -> None:
                done(error)
                self._emit(request, error, kept)

            coordinator.store.show_commit(group, request, kept)
            coordinator.store.store_offsets(group, kept, stored)

        self.commit_by(request, callback, OffsetCommitResponse, lambda: self._committing(request), store)

    def commit_by(
        self, request: OffsetCommitRequest, callback: CommitCallback, response: type[OffsetCommitResponse],
        find: Callable[[], Found], store: Callable[[GroupMetadata, Values, Done], object],
    ) -> None:  # fmt: skip
        """Commit offsets, of any kind: ``find`` finds the group, or why it may not commit; ``store`` writes the
        offsets, and calls back with the outcome."""
        coordinator = self.coordinator
        metadata = coordinator.manager.metadata
        known = {each.tp: metadata.knows(each.tp) for each in request.offsets}

        def answer(error_of: Callable[[TopicPartition], Errors]) -> None:
            outcomes = tuple(
                [(tp, error_of(tp) if here else Errors.UNKNOWN_TOPIC_OR_PARTITION) for tp, here in known.items()]
            )
            coordinator.transitions.answer(callback, response(outcomes))

        if not any(known.values()):
            answer(lambda _tp: NO_ERROR)
            return
        error, group = find()
        if error or group is None:
            answer(lambda _tp: error)
            return
        values = {tp: value for tp, value in self._values(request).items() if known[tp]}
        most = coordinator.store.config.metadata_max_bytes
        kept = {tp: value for tp, value in values.items() if len(value.metadata) <= most}

        def stored(error: Errors) -> None:
            answer(lambda tp: error if tp in kept else Errors.OFFSET_METADATA_TOO_LARGE)

        if kept:
            store(group, kept, stored)
        else:
            stored(NO_ERROR)

    def _committing(self, request: OffsetCommitRequest) -> Found:
        """The group that commits, or the error if it may not (handleCommitOffsets, doCommitOffsets)."""
        coordinator = self.coordinator
        error = coordinator.check(request.group, may_be_empty=True)
        if error:
            return error, None
        group = coordinator.store.groups.get(request.group)
        if group is None:
            if request.generation >= 0:
                return Errors.ILLEGAL_GENERATION, None
            return NO_ERROR, coordinator.store.create(request.group)  # a client that only commits offsets here
        policies, anonymous = coordinator.store.policies, request.generation < 0
        named = request.member_id != NO_MEMBER or request.instance_id is not None
        if anonymous and group.state is GroupState.EMPTY and not (named and policies.empty_validates_members):
            error = NO_ERROR
        elif anonymous and not named:
            error = Errors.UNKNOWN_MEMBER_ID
        else:
            error = coordinator.check_member(group, request)
            if not error and request.generation != group.generation:
                error = Errors.ILLEGAL_GENERATION
        judged = policies.commits_judge_members
        if group.state is GroupState.COMPLETING and error is not Errors.FENCED_INSTANCE_ID and not (error and judged):
            error = Errors.REBALANCE_IN_PROGRESS
        if error:
            return error, None
        member = group.members.get(request.member_id)
        if member is not None:
            coordinator.show_heard(group.id, member)
            coordinator.rebalances.sessions.heard_from(group, member)
        return NO_ERROR, group

    def _values(self, request: OffsetCommitRequest) -> dict[TopicPartition, OffsetAndMetadata]:
        now_ms = self.coordinator.store.clock_ms
        expire_ms = None if request.retention_us == NO_RETENTION else now_ms + request.retention_us // 1000
        return {
            each.tp: OffsetAndMetadata(each.offset, each.leader_epoch, each.metadata, now_ms, expire_ms)
            for each in request.offsets
        }

    def _emit(
        self, request: OffsetCommitRequest, error: Errors, offsets: dict[TopicPartition, OffsetAndMetadata]
    ) -> None:
        process = self.coordinator.process
        process.emit(
            OffsetsCommitted, process.node.id, request.group, request.member_id, request.generation, error.name,
            tuple([tp.topic for tp in offsets]), tuple([tp.partition for tp in offsets]),
            tuple([value.offset for value in offsets.values()]),
        )  # fmt: skip

    # -- OffsetFetch ------------------------------------------------------------------------------------------------

    def fetch(self, wanted: OffsetsWanted, require_stable: bool) -> GroupOffsets:
        """The committed offsets of a group, whatever its state."""
        coordinator = self.coordinator
        error = coordinator.check(wanted.group, may_be_empty=True)
        if error:
            return GroupOffsets(wanted.group, error)
        group = coordinator.store.groups.get(wanted.group)
        waits = require_stable and coordinator.store.policies.unstable_offsets_wait
        if group is None:
            none = tuple(map(CommittedOffset, wanted.partitions or ()))
            coordinator.store.show_read(wanted.group, none, stable=waits)
            return GroupOffsets(wanted.group, NO_ERROR, none)
        committed = group.committed
        partitions = tuple(committed.offsets) if wanted.partitions is None else wanted.partitions
        found = tuple([_fetched(group, tp, waits) for tp in partitions])
        coordinator.store.show_read(wanted.group, found, stable=waits)
        return GroupOffsets(wanted.group, NO_ERROR, found)

    # -- OffsetDelete and DeleteGroups ------------------------------------------------------------------------------

    def delete(self, request: OffsetDeleteRequest) -> OffsetDeleteResponse:
        """Delete offsets of topics that no member subscribes to (handleDeleteOffsets; KIP-496, 2.4)."""
        store, metadata = self.coordinator.store, self.coordinator.manager.metadata
        error = self.coordinator.check(request.group)
        group = None if error else store.groups.get(request.group)
        if group is None:
            return OffsetDeleteResponse(error or Errors.GROUP_ID_NOT_FOUND)
        if group.state is not GroupState.EMPTY and not group.is_consumer_group:
            return OffsetDeleteResponse(Errors.NON_EMPTY_GROUP)
        outcomes: dict[TopicPartition, Errors] = {}
        for tp in request.partitions:
            if not metadata.knows(tp):
                outcomes[tp] = Errors.UNKNOWN_TOPIC_OR_PARTITION
            elif group.state is not GroupState.EMPTY and group.subscribes(tp.topic):
                outcomes[tp] = Errors.GROUP_SUBSCRIBED_TO_TOPIC
            else:
                outcomes[tp] = NO_ERROR
        eligible = [tp for tp, outcome in outcomes.items() if not outcome]
        if eligible:
            store.clean_up([group], lambda each: each.committed.remove(eligible), "deleted")
        return OffsetDeleteResponse(NO_ERROR, tuple(outcomes.items()))

    def delete_groups(self, groups: Iterable[str]) -> tuple[tuple[str, Errors], ...]:
        """Delete groups without members, and their committed offsets (handleDeleteGroups)."""
        coordinator, outcomes, doomed = self.coordinator, dict[str, Errors](), []
        for id in groups:
            error = coordinator.check(id, may_be_empty=True)
            group = None if error else coordinator.store.groups.get(id)
            if group is None:
                outcomes[id] = error or Errors.GROUP_ID_NOT_FOUND
            elif group.state is not GroupState.EMPTY:
                outcomes[id] = Errors.NON_EMPTY_GROUP
            else:
                outcomes[id] = NO_ERROR
                coordinator.store.move(group, GroupState.DEAD)
                for member_id in list(group.pending):
                    group.forget_pending(member_id)
                doomed.append(group)
        coordinator.store.clean_up(doomed, _remove_all, "deleted")
        return tuple(outcomes.items())


def _remove_all(group: GroupMetadata) -> tuple[TopicPartition, ...]:
    return group.committed.remove(tuple(group.committed.offsets))


def _fetched(group: GroupMetadata, tp: TopicPartition, waits: bool) -> CommittedOffset:
    if waits and group.committed.is_unstable(tp):
        return CommittedOffset(tp, error=Errors.UNSTABLE_OFFSET_COMMIT)
    found = group.committed.offsets.get(tp)
    if found is None:
        return CommittedOffset(tp)
    value = found.value
    return CommittedOffset(tp, value.offset, value.leader_epoch, value.metadata)
