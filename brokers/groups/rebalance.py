"""Rebalances: the members of a group join again, become a generation, and wait for the leader's assignment
(GroupCoordinator with DelayedJoin and DelayedSync, 3.0)."""

from collections.abc import Mapping

from attrs import define, field

from brokers.coordinators.transitions import Transitions
from brokers.groups.delayed_heartbeats import DelayedHeartbeats
from brokers.groups.group import DelayedJoin, GroupMetadata, GroupState
from brokers.groups.group_metadata_manager import GroupMetadataManager
from brokers.groups.member import JoinCallback, MemberMetadata, NoCandidate
from emulator.logger import get_logger
from emulator.protocol.errors import NO_ERROR, Errors
from emulator.protocol.events import GroupGeneration, GroupMemberAdded, GroupMemberRemoved
from emulator.protocol.groups.membership import NO_MEMBER, JoinGroupResponse, SyncGroupResponse
from emulator.protocol.shown import Deviated
from emulator.protocol.shown_coordination import AssignmentGiven


@define(eq=False)
class GroupRebalances:
    """The rebalances of all groups of one coordinator."""

    transitions: Transitions
    store: GroupMetadataManager
    sessions: DelayedHeartbeats = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.sessions = DelayedHeartbeats(
            self.transitions, self._failed, lambda group, _member_id: self.try_complete(group)
        )

    # -- members come and go ----------------------------------------------------------------------------------------

    def add(self, group: GroupMetadata, member: MemberMetadata, callback: JoinCallback) -> None:
        """Add a new member: the others have to join again (addMemberAndRebalance)."""
        member.is_new = True
        if group.state is GroupState.PREPARING and group.generation == 0:
            group.newly_joined = True
        group.add(member, callback)
        self._emit_member(GroupMemberAdded, group, member, member.client_id)
        self.sessions.joined_anew(group, member)
        self.maybe_prepare(group, f"{member.member_id} joins")

    def remove(self, group: GroupMetadata, member: MemberMetadata, reason: str) -> None:
        """Remove a member; ``reason``: as in ``GroupMemberRemoved`` (removeMemberAndUpdateGroup)."""
        self.answer_join(member, JoinGroupResponse(Errors.UNKNOWN_MEMBER_ID, NO_MEMBER))
        self._drop(group, member, reason)
        if group.state in (GroupState.STABLE, GroupState.COMPLETING):
            self.maybe_prepare(group, f"{member.member_id} is removed: {reason}")
        elif group.state is GroupState.PREPARING:
            self.try_complete(group)

    def _failed(self, group: GroupMetadata, member: MemberMetadata) -> None:
        self.remove(group, member, "session")

    def _drop(self, group: GroupMetadata, member: MemberMetadata, reason: str) -> None:
        group.remove(member.member_id)
        self._emit_member(GroupMemberRemoved, group, member, reason)
        self._maybe_all_synced(group)

    def _emit_member(self, kind: type, group: GroupMetadata, member: MemberMetadata, last: str) -> None:
        process = self.transitions.process
        process.emit(kind, process.node.id, group.id, member.member_id, member.instance_id or "", last)

    def evict(self, group: GroupMetadata, member_id: str) -> None:
        """Remove a member that joins again, because the group is full."""
        member = group.members.get(member_id)
        if member is not None:
            self._drop(group, member, "size")
        else:
            group.forget_pending(member_id)

    # -- answers ----------------------------------------------------------------------------------------------------

    def answer_join(self, member: MemberMetadata, response: JoinGroupResponse) -> None:
        """Answer the JoinGroup of ``member``, if it waits."""
        callback, member.awaiting_join = member.awaiting_join, None
        if callback is not None:
            self.transitions.answer(callback, response)

    def answer_sync(self, member: MemberMetadata, response: SyncGroupResponse) -> bool:
        """Answer the SyncGroup of ``member``. Returns whether it waited."""
        callback, member.awaiting_sync = member.awaiting_sync, None
        if callback is not None:
            self.transitions.answer(callback, response)
        return callback is not None

    @classmethod
    def came_back(cls, group: GroupMetadata, member_id: str, before: str, can_skip: bool) -> JoinGroupResponse:
        """The answer for a static member that has returned to its generation. It must not assign, even if it is the
        leader: a client that knows ``skips_assignment`` gets that, any other gets the leader's member id from
        ``before``."""
        leads = group.leader == member_id
        if not can_skip:
            return cls.joined(group, member_id, before)
        response = cls.joined(group, member_id)
        response.skips_assignment = leads
        return response

    @staticmethod
    def joined(group: GroupMetadata, member_id: str, leader: str | None = None) -> JoinGroupResponse:
        """The answer for a member of the current generation; the leader gets the list of all members.

        Args:
            leader: the leader to be named: the member id that a static member had before it joined again, so that it
                does not assign.
        """
        members = group.joined_members() if group.leader == member_id and leader is None else ()
        return JoinGroupResponse(
            NO_ERROR, member_id, group.generation, group.protocol_type, group.protocol, leader or group.leader or "",
            members,
        )  # fmt: skip

    # -- the members join again -------------------------------------------------------------------------------------

    def maybe_prepare(self, group: GroupMetadata, reason: str) -> None:
        if group.can_rebalance:
            self.prepare(group, reason)

    def prepare(self, group: GroupMetadata, reason: str) -> None:
        """Begin a rebalance. In an empty group it lasts for some time, in which more members may come. In any other it
        lasts until all members have joined again, or the longest of their rebalance timeouts is over."""
        if group.state is GroupState.COMPLETING:
            self.fail_syncs(group, Errors.REBALANCE_IN_PROGRESS)
        self._end_sync_wait(group)
        timeout_us, initial_us = group.rebalance_timeout_us, self.store.config.initial_rebalance_delay_us
        first = group.state is GroupState.EMPTY
        self.store.move(group, GroupState.PREPARING, reason)
        if first:
            self._delay(group, initial_us, max(timeout_us - initial_us, 0))
        else:
            self._delay(group, timeout_us)
            self.try_complete(group)

    def _delay(self, group: GroupMetadata, delay_us: int, remaining_us: int | None = None) -> None:
        timer = self.transitions.later(delay_us, self._expire_join, group)
        group.delayed = DelayedJoin(delay_us, timer, remaining_us)

    def _expire_join(self, group: GroupMetadata) -> None:
        delayed, group.delayed = group.delayed, None
        if delayed is None or group.state is not GroupState.PREPARING:
            return
        remaining_us = delayed.remaining_us
        if remaining_us and group.newly_joined:
            group.newly_joined = False
            delay_us = min(self.store.config.initial_rebalance_delay_us, remaining_us)
            self._delay(group, delay_us, max(remaining_us - delayed.delay_us, 0))
        else:
            self._complete(group)

    def try_complete(self, group: GroupMetadata) -> None:
        """Complete the rebalance if all members have joined: called after a change."""
        delayed = group.delayed
        if delayed is None or delayed.remaining_us is not None or not group.all_joined:
            return
        delayed.timer.cancel()
        group.delayed = None
        self._complete(group)

    def stop_waiting(self, group: GroupMetadata) -> None:
        """End the waits of a group that is no longer here."""
        if group.delayed is not None:
            group.delayed.timer.cancel()
            group.delayed = None
        self._end_sync_wait(group)

    def _complete(self, group: GroupMetadata) -> None:
        """Form the next generation, of the members that have joined and the static members that have not
        (onCompleteJoin)."""
        for member in list(group.members.values()):
            if member.awaiting_join is None and member.instance_id is None:
                self._drop(group, member, "rebalance")
        if group.members and not group.elect_joined_leader():
            self._delay(group, group.rebalance_timeout_us)  # no member is there: their sessions will end
            return
        try:
            group.next_generation()
        except NoCandidate as none:
            # As in Kafka, where the exception ends the delayed operation: the group stays in PreparingRebalance, and
            # no member is answered, until another coordinator loads it.
            get_logger("brokers.groups").error("the rebalance cannot be completed", group=group.id, why=str(none))
            return
        self.store.move(group, GroupState.COMPLETING if group.members else GroupState.EMPTY)
        process = self.transitions.process
        process.emit(
            GroupGeneration, process.node.id, group.id, group.generation, group.protocol or "", group.leader or "",
            tuple(group.members),
        )  # fmt: skip
        if not group.members:
            self.store.store_group(group, {}, lambda _error: None)  # a failure is only logged
            return
        for member in group.members.values():
            self.answer_join(member, self.joined(group, member.member_id))
            self.sessions.heard_from(group, member)
            member.is_new = False
            group.unsynced[member.member_id] = None
        if self.store.policies.syncs_time_out:
            group.sync_timer = self.transitions.later(group.rebalance_timeout_us, self._expire_syncs, group)

    # -- the leader assigns -----------------------------------------------------------------------------------------

    def synced(self, group: GroupMetadata, member_id: str) -> None:
        """Take note of a member's SyncGroup."""
        group.unsynced.pop(member_id, None)
        self._maybe_all_synced(group)

    def _maybe_all_synced(self, group: GroupMetadata) -> None:
        if not group.unsynced and group.sync_timer is not None:
            group.sync_timer.cancel()
            group.sync_timer = None

    def _end_sync_wait(self, group: GroupMetadata) -> None:
        group.unsynced.clear()
        self._maybe_all_synced(group)

    def _expire_syncs(self, group: GroupMetadata) -> None:
        """Remove the members whose SyncGroup has not come, and rebalance. A static member that has joined again
        meanwhile is awaited under its old member id, whatever the new one has sent, and is not removed
        (GroupMetadata.replaceStaticMember, GroupCoordinator.onExpirePendingSync, 3.0.0 to 3.9.0)."""
        group.sync_timer, late = None, tuple(group.unsynced)
        for member in [group.members[member_id] for member_id in late if member_id in group.members]:
            self._drop(group, member, "sync")
        if late:
            self.prepare(group, f"{', '.join(late)} did not sync")

    def assign(self, group: GroupMetadata, assignments: Mapping[str, bytes]) -> None:
        """Make the group stable: the leader's assignment is stored. A static member that has come back meanwhile is not
        in it under its new member id (before KAFKA-9801)."""
        for member in group.members.values():
            if member.member_id not in assignments:
                # As in Kafka, where the exception ends the callback of the write: no member is answered, and the group
                # stays in CompletingRebalance, until its leader assigns again or a member is missed.
                get_logger("brokers.groups").error("no assignment", group=group.id, member=member.member_id)
                process, home = self.transitions.process, self.store.partitions.home(group.id)
                process.mark(Deviated, process.node.id, "KAFKA-9801", *home, process.node.id)
                return
            member.assignment = assignments[member.member_id]
        self._propagate(group, NO_ERROR)
        self.store.move(group, GroupState.STABLE)

    def fail_syncs(self, group: GroupMetadata, error: Errors) -> None:
        """Answer the SyncGroups with ``error``: there is no assignment in this generation
        (resetAndPropagateAssignmentError)."""
        for member in group.members.values():
            member.assignment = b""
        self._propagate(group, error)

    def _propagate(self, group: GroupMetadata, error: Errors) -> None:
        named = (None, None) if error else (group.protocol_type, group.protocol)
        for member in group.members.values():
            if self.answer_sync(member, SyncGroupResponse(error, member.assignment, *named)):
                self.sessions.heard_from(group, member)
                if not error:
                    self.show_given(group, member)

    def show_given(self, group: GroupMetadata, member: MemberMetadata) -> None:
        """Show that the answer to a SyncGroup has the member's assignment."""
        node = self.transitions.process.node
        self.transitions.process.show(
            AssignmentGiven, node.id, group.id, group.generation, member.member_id, member.assignment
        )
