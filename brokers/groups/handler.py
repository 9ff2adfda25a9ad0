"""The requests of consumer groups (kafka.server.KafkaApis, 2.3 to 3.0)."""

from collections.abc import Callable

from attrs import define, field

from brokers.coordinators.find import CoordinatorFinder
from brokers.coordinators.transitions import replying
from brokers.groups.coordinator import GroupCoordinator
from brokers.groups.group import GroupMetadata, GroupState
from brokers.groups.group_offsets import GroupOffsetsPart
from brokers.log.disk_work import ResponseChannel
from brokers.requests.router import handles
from emulator.protocol.api import Response
from emulator.protocol.errors import NO_ERROR, Errors
from emulator.protocol.groups.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse
from emulator.protocol.groups.group_offsets import (
    OffsetCommitRequest,
    OffsetDeleteRequest,
    OffsetFetchRequest,
    OffsetFetchResponse,
)
from emulator.protocol.groups.membership import (
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    LeaveGroupRequest,
    SyncGroupRequest,
)
from emulator.protocol.groups.operations import (
    DeleteGroupsRequest,
    DeleteGroupsResponse,
    DescribedGroup,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    ListedGroup,
    ListGroupsRequest,
    ListGroupsResponse,
)


@define(eq=False)
class GroupsHandler:
    """Answers members of groups, and administrators."""

    coordinator: GroupCoordinator
    finder: CoordinatorFinder
    _offsets: GroupOffsetsPart = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._offsets = GroupOffsetsPart(self.coordinator)

    def _answer(self, channel: ResponseChannel, response: Callable[[], Response]) -> None:
        """Send a response that needs no wait, in one transition."""
        transitions, reply = self.coordinator.transitions, replying(channel)
        transitions.ending(lambda: transitions.answer(reply, response()))()

    # -- any broker -------------------------------------------------------------------------------------------------

    @handles(FindCoordinatorRequest)
    def find(self, request: FindCoordinatorRequest, channel: ResponseChannel) -> None:
        found = tuple([self.finder.find(key, request.key_type) for key in request.keys])
        self._answer(channel, lambda: FindCoordinatorResponse(found))

    # -- members ----------------------------------------------------------------------------------------------------

    @handles(JoinGroupRequest)
    def join(self, request: JoinGroupRequest, channel: ResponseChannel) -> None:
        self.coordinator.transitions.ending(self.coordinator.join)(request, replying(channel))

    @handles(SyncGroupRequest)
    def sync(self, request: SyncGroupRequest, channel: ResponseChannel) -> None:
        self.coordinator.transitions.ending(self.coordinator.sync)(request, replying(channel))

    @handles(HeartbeatRequest)
    def heartbeat(self, request: HeartbeatRequest, channel: ResponseChannel) -> None:
        self._answer(channel, lambda: HeartbeatResponse(self._heard(request)))

    def _heard(self, request: HeartbeatRequest) -> Errors:
        error = self.coordinator.heartbeat(request)
        group = self.coordinator.store.groups.get(request.group)
        member = None if group is None else group.members.get(request.member_id)
        if member is not None and not error:
            self.coordinator.show_heard(request.group, member)
        return error

    @handles(LeaveGroupRequest)
    def leave(self, request: LeaveGroupRequest, channel: ResponseChannel) -> None:
        self._answer(channel, lambda: self.coordinator.leave(request))

    # -- offsets ----------------------------------------------------------------------------------------------------

    @handles(OffsetCommitRequest)
    def commit(self, request: OffsetCommitRequest, channel: ResponseChannel) -> None:
        self.coordinator.transitions.ending(self._offsets.commit)(request, replying(channel))

    @handles(OffsetFetchRequest)
    def fetch(self, request: OffsetFetchRequest, channel: ResponseChannel) -> None:
        groups = tuple([self._offsets.fetch(wanted, request.require_stable) for wanted in request.groups])
        self._answer(channel, lambda: OffsetFetchResponse(groups))

    @handles(OffsetDeleteRequest)
    def delete_offsets(self, request: OffsetDeleteRequest, channel: ResponseChannel) -> None:
        self._answer(channel, lambda: self._offsets.delete(request))

    # -- administrators ---------------------------------------------------------------------------------------------

    @handles(DescribeGroupsRequest)
    def describe(self, request: DescribeGroupsRequest, channel: ResponseChannel) -> None:
        self._answer(channel, lambda: DescribeGroupsResponse(tuple(map(self._described, request.groups))))

    def _described(self, id: str) -> DescribedGroup:
        error = self.coordinator.check(id, may_be_empty=True)
        if error:
            return DescribedGroup(id, error)
        group = self.coordinator.store.groups.get(id)
        if group is None:
            return DescribedGroup(id, NO_ERROR, GroupState.DEAD)
        return described(group)

    @handles(ListGroupsRequest)
    def list(self, request: ListGroupsRequest, channel: ResponseChannel) -> None:
        """List the groups that this broker coordinates. While it loads others the answer has an error, too."""
        store = self.coordinator.store
        same = str.lower if store.policies.states_in_any_case else str
        states = {same(state) for state in request.states}
        groups = tuple(
            ListedGroup(group.id, group.protocol_type or "", str(group.state))
            for group in store.groups.values()
            if not states or same(group.state) in states
        )
        error = Errors.COORDINATOR_LOAD_IN_PROGRESS if store.partitions.loading else NO_ERROR
        self._answer(channel, lambda: ListGroupsResponse(error, groups))

    @handles(DeleteGroupsRequest)
    def delete_groups(self, request: DeleteGroupsRequest, channel: ResponseChannel) -> None:
        self._answer(channel, lambda: DeleteGroupsResponse(self._offsets.delete_groups(dict.fromkeys(request.groups))))


def described(group: GroupMetadata) -> DescribedGroup:
    """The description of a group; the metadata and assignments of members only while it is Stable
    (GroupMetadata.summary)."""
    protocol = group.protocol if group.state is GroupState.STABLE else None
    members = tuple(member.described(protocol) for member in group.members.values())
    return DescribedGroup(group.id, NO_ERROR, str(group.state), group.protocol_type or "", protocol or "", members)
