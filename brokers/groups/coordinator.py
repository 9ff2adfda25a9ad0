"""The requests of group members to their coordinator (kafka.coordinator.group.GroupCoordinator, 3.0).

Each method is one transition. It returns its response, or passes it to a callback later.
"""

from collections.abc import Sequence
from typing import Protocol

from attrs import define, field

from brokers.coordinators.appending import Appender
from brokers.coordinators.transitions import Transitions
from brokers.groups.group import GroupMetadata, GroupState
from brokers.groups.group_metadata_manager import GroupMetadataManager
from brokers.groups.member import JoinCallback, MemberMetadata, SyncCallback, Timeouts
from brokers.groups.rebalance import GroupRebalances
from brokers.replica_manager import ReplicaManager
from emulator.nodes import Process
from emulator.protocol.errors import NO_ERROR, Errors
from emulator.protocol.events import GroupMemberRemoved
from emulator.protocol.groups.membership import (
    NO_MEMBER,
    HeartbeatRequest,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    LeavingMember,
    SyncGroupRequest,
    SyncGroupResponse,
)
from emulator.protocol.shown_coordination import (
    AssignmentsMade,
    MemberHeard,
    MemberIdForgotten,
    MemberJoins,
    MemberRefused,
    MemberReturned,
)
from emulator.protocol.types import TopicPartition


class Addressed(Protocol):
    """A request of a member."""

    @property
    def member_id(self) -> str: ...
    @property
    def instance_id(self) -> str | None: ...


@define(eq=False)
class GroupCoordinator:
    """The coordinator of one broker's groups.

    Attributes:
        store: the groups and their records.
        rebalances: the rebalances of the groups.
        transitions: the transitions of this coordinator.
    """

    process: Process
    manager: ReplicaManager
    appender: Appender
    transitions: Transitions = field(init=False)
    store: GroupMetadataManager = field(init=False)
    rebalances: GroupRebalances = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.transitions = Transitions(self.process, self.manager.purgatory)
        self.store = GroupMetadataManager(
            self.process, self.manager, self.appender, self.transitions, self._loaded, self._unloaded
        )
        self.rebalances = GroupRebalances(self.transitions, self.store)

    def elected(self, partition: int, leader_epoch: int) -> None:
        """This broker leads ``partition`` of ``__consumer_offsets`` now."""
        self.transitions.ending(self.store.partitions.elected)(partition, leader_epoch)

    def resigned(self, partition: int, leader_epoch: int | None) -> None:
        """This broker does not lead it any more; ``leader_epoch``: None where its replica was removed."""
        self.transitions.ending(self.store.resigned)(partition, leader_epoch)

    @property
    def keeps_anything(self) -> bool:
        return bool(self.store.groups)

    def partitions_deleted(self, partitions: Sequence[TopicPartition]) -> None:
        """Forget the offsets that groups have committed for these partitions (handleDeletedPartitions)."""

        def clean_up() -> None:
            groups = list(self.store.groups.values())
            self.store.clean_up(groups, lambda group: group.committed.remove(partitions), "topic")

        self.transitions.ending(clean_up)()

    def _loaded(self, group: GroupMetadata) -> None:
        if len(group.members) > self.store.config.max_size:
            self.rebalances.prepare(group, "the group is too large")
        for member in group.members.values():
            self.rebalances.sessions.heard_from(group, member)

    def _unloaded(self, group: GroupMetadata) -> None:
        self.rebalances.stop_waiting(group)
        self.store.move(group, GroupState.DEAD)
        for member in group.members.values():
            if member.timer is not None:
                member.timer.cancel()
            self.rebalances.answer_join(member, JoinGroupResponse(Errors.NOT_COORDINATOR, member.member_id))
            self.rebalances.answer_sync(member, SyncGroupResponse(Errors.NOT_COORDINATOR))
        for member_id in list(group.pending):
            group.forget_pending(member_id)

    def check(self, group: str, *, may_be_empty: bool = False) -> Errors:
        """Why this broker cannot answer for the group with that id, or NONE (validateGroupStatus)."""
        if not group and not may_be_empty:
            return Errors.INVALID_GROUP_ID
        return self.store.partitions.error_of(group)

    # -- JoinGroup --------------------------------------------------------------------------------------------------

    def join(self, request: JoinGroupRequest, callback: JoinCallback) -> None:
        """Answer, now or when the generation is complete, through ``callback``."""
        config, member_id = self.store.config, request.member_id
        error = self.check(request.group)
        least_us, most_us = config.min_session_timeout_us, config.max_session_timeout_us
        if not error and not least_us <= request.session_timeout_us <= most_us:
            error = Errors.INVALID_SESSION_TIMEOUT
        group = None
        if not error:
            group = self.store.groups.get(request.group)
            if group is None and member_id == NO_MEMBER:
                group = self.store.create(request.group)
        if group is None:
            self._refuse(callback, member_id, error or Errors.UNKNOWN_MEMBER_ID)
            return
        if not self._accepts(group, member_id):
            self.rebalances.evict(group, member_id)
            self._refuse(callback, NO_MEMBER, Errors.GROUP_MAX_SIZE_REACHED)
        elif not group.supports(request.protocol_type, request.protocols):
            self._refuse(callback, member_id, Errors.INCONSISTENT_GROUP_PROTOCOL)
        elif member_id == NO_MEMBER:
            self._join_new(group, request, callback)
        else:
            self._join_again(group, request, callback)
        member = group.members.get(member_id)
        if member is not None and member.awaiting_join is not None:
            self.show_heard(group.id, member)  # one that gets its generation again is no longer a member for that
        if group.state is GroupState.PREPARING:
            self.rebalances.try_complete(group)

    def _refuse(self, callback: JoinCallback, member_id: str, error: Errors) -> None:
        self.transitions.answer(callback, JoinGroupResponse(error, member_id))

    def _accepts(self, group: GroupMetadata, member_id: str) -> bool:
        """Whether there is a place for the member (acceptJoiningMember)."""
        most, member = self.store.config.max_size, group.members.get(member_id)
        if group.state is GroupState.EMPTY:
            return True
        if group.state is GroupState.PREPARING:
            return (member is not None and member.awaiting_join is not None) or group.awaiting < most
        return member is not None or len(group.members) < most

    def _member(self, request: JoinGroupRequest, member_id: str) -> MemberMetadata:
        return MemberMetadata(
            member_id, request.instance_id, request.client_id, request.client_host, request.rebalance_timeout_us,
            request.session_timeout_us, request.protocol_type, request.protocols,
        )  # fmt: skip

    def _new_id(self, request: JoinGroupRequest) -> str:
        """A new member id: the client's id, or the instance id of a static member, and a random UUID."""
        stream = self.process.world.stream("member ids", self.process.node.id)
        digits = f"{stream.bits():016x}{stream.bits():016x}"
        uuid = f"{digits[:8]}-{digits[8:12]}-4{digits[13:16]}-8{digits[17:20]}-{digits[20:]}"
        return f"{request.client_id if request.instance_id is None else request.instance_id}-{uuid}"

    def _join_new(self, group: GroupMetadata, request: JoinGroupRequest, callback: JoinCallback) -> None:
        member_id, instance_id = self._new_id(request), request.instance_id
        if instance_id is not None and instance_id in group.instances:
            self._replace(group, instance_id, member_id, request, callback)
        elif instance_id is None and request.requires_member_id:
            self.rebalances.sessions.give(group, member_id, request.session_timeout_us)
            self._refuse(callback, member_id, Errors.MEMBER_ID_REQUIRED)
        else:
            self.rebalances.add(group, self._member(request, member_id), callback)

    def _join_again(self, group: GroupMetadata, request: JoinGroupRequest, callback: JoinCallback) -> None:
        member_id = request.member_id
        if member_id in group.pending and request.instance_id is None:
            self.rebalances.add(group, self._member(request, member_id), callback)
            return
        error = self.check_member(group, request, joins=True)
        member = group.members.get(member_id)
        if error or member is None or group.state in (GroupState.EMPTY, GroupState.DEAD):
            self._refuse(callback, member_id, error or Errors.UNKNOWN_MEMBER_ID)
            return
        same = member.protocols == request.protocols
        leads = group.leader == member_id
        process = self.process
        process.mark(MemberJoins, process.node.id, group.id, member_id, not same)
        if group.state is not GroupState.PREPARING and same and not (leads and group.state is GroupState.STABLE):
            # Its answer was lost, or it asks without need. The leader of a stable group wants a new assignment.
            self.transitions.answer(callback, self.rebalances.joined(group, member_id))
        else:
            group.update(member, request.protocols, self._timeouts(request, member), callback)
            self.rebalances.maybe_prepare(group, f"{member_id} joins again")

    def _timeouts(self, request: JoinGroupRequest, member: MemberMetadata) -> Timeouts:
        """The timeouts of a member from its next JoinGroup on."""
        stated = Timeouts(request.rebalance_timeout_us, request.session_timeout_us)
        return stated if self.store.policies.rejoining_sets_timeouts else member.timeouts

    def _replace(
        self, group: GroupMetadata, instance_id: str, member_id: str, request: JoinGroupRequest, callback: JoinCallback
    ) -> None:
        """Replace a static member: a client has joined under its instance id. The client takes its place, with a new
        member id, and a stable group needs no rebalance (updateStaticMemberAndRebalance)."""
        rebalances, policies = self.rebalances, self.store.policies
        old_id, leader = group.instances[instance_id], group.leader
        member = group.members[old_id]
        rebalances.answer_join(member, JoinGroupResponse(Errors.FENCED_INSTANCE_ID, old_id))
        rebalances.answer_sync(member, SyncGroupResponse(Errors.FENCED_INSTANCE_ID))
        self.process.emit(GroupMemberRemoved, self.process.node.id, group.id, old_id, instance_id, "replaced")
        group.rename(instance_id, old_id, member_id)
        rebalances.sessions.heard_from(group, member)
        before = member.timeouts
        group.update(member, request.protocols, self._timeouts(request, member), callback)

        def stored(error: Errors) -> None:
            if not error and member.awaiting_join is None:
                return  # a rebalance that began in the meantime has answered it
            if not error:
                process, promises = self.process, (policies.static_member_stored, policies.static_member_rebalances)
                process.mark(MemberReturned, process.node.id, group.id, instance_id, member_id, *promises)
                response = rebalances.came_back(group, member_id, leader or "", request.can_skip_assignment)
                rebalances.answer_join(member, response)
            elif group.members.get(member_id) is member:
                group.update(member, request.protocols, before, None)  # which it keeps, in Kafka too (2.6.2 to 3.9.0)
                group.rename(instance_id, member_id, old_id)
                rebalances.sessions.heard_from(group, member)
                state = group.generation, group.protocol_type, group.protocol, leader or ""
                self.transitions.answer(callback, JoinGroupResponse(error, NO_MEMBER, *state))

        if group.state is GroupState.COMPLETING and policies.static_member_rebalances:
            rebalances.prepare(group, f"static member {instance_id} joins again")
        elif group.state is GroupState.STABLE and policies.static_member_stored:
            if group.select_protocol() == group.protocol:
                self.store.store_group(group, group.assignments, stored)
            else:
                rebalances.maybe_prepare(group, f"static member {instance_id} joins again with other protocols")
        elif group.state in (GroupState.STABLE, GroupState.COMPLETING):
            stored(NO_ERROR)

    def show_heard(self, group: str, member: MemberMetadata) -> None:
        """Show that a request of a member was accepted."""
        process = self.process
        if process.node.trace.shows(MemberHeard):
            timeouts = member.session_timeout_us, member.rebalance_timeout_us
            process.mark(MemberHeard, process.node.id, group, member.member_id, *timeouts)

    def check_member(self, group: GroupMetadata, request: Addressed, *, joins: bool = False) -> Errors:
        """Why the sender is not a member (validateCurrentMember)."""
        error = self._not_member(group, request, needs_instance=joins or self.store.policies.validates_members)
        if error:
            self._show_refused(group.id, request.member_id, error)
        return error

    def _show_refused(self, group: str, member_id: str, error: Errors) -> None:
        process = self.process
        if process.node.trace.shows(MemberRefused):
            home = self.store.partitions.home(group)
            process.mark(MemberRefused, process.node.id, group, home, member_id, error.name)

    @staticmethod
    def _not_member(group: GroupMetadata, request: Addressed, *, needs_instance: bool) -> Errors:
        if request.instance_id is not None:
            current = group.instances.get(request.instance_id)
            if current is not None and current != request.member_id:
                return Errors.FENCED_INSTANCE_ID
            if current is None and needs_instance:
                return Errors.UNKNOWN_MEMBER_ID
        return NO_ERROR if request.member_id in group.members else Errors.UNKNOWN_MEMBER_ID

    # -- SyncGroup --------------------------------------------------------------------------------------------------

    def sync(self, request: SyncGroupRequest, callback: SyncCallback) -> None:
        """Answer, now or when the leader's assignment is stored, through ``callback``."""
        error = self.check(request.group)
        if error is Errors.COORDINATOR_LOAD_IN_PROGRESS:
            error = Errors.REBALANCE_IN_PROGRESS  # older clients do not know the other
        group = None if error else self.store.groups.get(request.group)
        if group is None:
            self.transitions.answer(callback, SyncGroupResponse(error or Errors.UNKNOWN_MEMBER_ID))
            return
        error = self._check_sync(group, request)
        if error:
            self.transitions.answer(callback, SyncGroupResponse(error))
            return
        member = group.members[request.member_id]
        self.rebalances.synced(group, member.member_id)
        if group.state is GroupState.STABLE:
            response = SyncGroupResponse(NO_ERROR, member.assignment, group.protocol_type, group.protocol)
            self.transitions.answer(callback, response)
            self.rebalances.show_given(group, member)
            self.rebalances.sessions.heard_from(group, member)
            return
        member.awaiting_sync = callback
        if group.leader == member.member_id:
            self._store_assignment(group, request)

    def _check_sync(self, group: GroupMetadata, request: SyncGroupRequest) -> Errors:
        error = self.check_member(group, request)
        if error:
            return error
        if request.generation != group.generation:
            return Errors.ILLEGAL_GENERATION
        if request.protocol_type is not None and request.protocol_type != group.protocol_type:
            return Errors.INCONSISTENT_GROUP_PROTOCOL
        if request.protocol is not None and request.protocol != group.protocol:
            return Errors.INCONSISTENT_GROUP_PROTOCOL
        if group.state is GroupState.PREPARING:
            return Errors.REBALANCE_IN_PROGRESS
        return NO_ERROR

    def _store_assignment(self, group: GroupMetadata, request: SyncGroupRequest) -> None:
        """Store the assignment of a generation. Members that the leader has left out are assigned nothing."""
        assignments = dict.fromkeys(group.members, b"") | dict(request.assignments)
        generation, node = group.generation, self.process.node
        self.process.show(AssignmentsMade, node.id, group.id, generation, tuple(assignments.items()))

        def stored(error: Errors) -> None:
            if group.state is not GroupState.COMPLETING or group.generation != generation:
                return  # the group has another generation or state by now
            if error:
                self.rebalances.fail_syncs(group, error)
                self.rebalances.maybe_prepare(group, f"the assignment was not stored: {error.name}")
            else:
                self.rebalances.assign(group, assignments)

        self.store.store_group(group, assignments, stored)

    # -- Heartbeat and LeaveGroup -----------------------------------------------------------------------------------

    def heartbeat(self, request: HeartbeatRequest) -> Errors:
        error = self.check(request.group)
        if error:
            return NO_ERROR if error is Errors.COORDINATOR_LOAD_IN_PROGRESS else error
        group = self.store.groups.get(request.group)
        if group is None:
            self._show_refused(request.group, request.member_id, Errors.UNKNOWN_MEMBER_ID)
            return Errors.UNKNOWN_MEMBER_ID
        error = self.check_member(group, request)
        if error:
            return error
        if request.generation != group.generation:
            return Errors.ILLEGAL_GENERATION
        if group.state is GroupState.COMPLETING and not self.store.policies.heartbeats_while_syncing:
            return Errors.REBALANCE_IN_PROGRESS
        self.rebalances.sessions.heard_from(group, group.members[request.member_id])
        return Errors.REBALANCE_IN_PROGRESS if group.state is GroupState.PREPARING else NO_ERROR

    def leave(self, request: LeaveGroupRequest) -> LeaveGroupResponse:
        error = self.check(request.group)
        if error:
            return LeaveGroupResponse(error)
        group = self.store.groups.get(request.group)
        if group is None:
            return LeaveGroupResponse(NO_ERROR, tuple((each, Errors.UNKNOWN_MEMBER_ID) for each in request.members))
        return LeaveGroupResponse(NO_ERROR, tuple([(each, self._leave(group, each)) for each in request.members]))

    def _leave(self, group: GroupMetadata, leaving: LeavingMember) -> Errors:
        member_id = leaving.member_id
        if member_id == NO_MEMBER:
            member_id = group.instances.get(leaving.instance_id or "", NO_MEMBER)
            if member_id == NO_MEMBER:
                return Errors.UNKNOWN_MEMBER_ID
        elif member_id in group.pending:
            group.forget_pending(member_id)
            process = self.process
            process.mark(MemberIdForgotten, process.node.id, group.id, member_id)
            self.rebalances.try_complete(group)
            return NO_ERROR
        else:
            error = self.check_member(group, leaving)
            if error:
                return error
        self.rebalances.remove(group, group.members[member_id], "left")
        return NO_ERROR
