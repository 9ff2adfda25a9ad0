"""The sessions of members: one that sends no heartbeat in time is removed (kafka.coordinator.group.DelayedHeartbeat,
3.0)."""

from collections.abc import Callable

from attrs import define

from brokers.coordinators.transitions import Transitions
from brokers.groups.group import GroupMetadata, GroupState
from brokers.groups.member import MemberMetadata
from emulator.protocol.shown_coordination import MemberIdForgotten, MemberIdGiven

NEW_MEMBER_JOIN_TIMEOUT_US = 300_000_000
"""The time after which a new member that still waits for the answer to its first JoinGroup is removed: its client has
gone, or tries again (NewMemberJoinTimeoutMs)."""


@define(eq=False)
class DelayedHeartbeats:
    """The session timers of the members of one group coordinator.

    Attributes:
        failed: called when a member's session has ended.
        never_joined: called when a client has not joined with the member id that it was given.
    """

    transitions: Transitions
    failed: Callable[[GroupMetadata, MemberMetadata], object]
    never_joined: Callable[[GroupMetadata, str], object]

    def heard_from(self, group: GroupMetadata, member: MemberMetadata) -> None:
        """Begin the session of the member again: it is alive."""
        self._extend(group, member, member.session_timeout_us)

    def joined_anew(self, group: GroupMetadata, member: MemberMetadata) -> None:
        """Begin the session of a new member, which waits for the answer to its first JoinGroup."""
        self._extend(group, member, NEW_MEMBER_JOIN_TIMEOUT_US)

    def _extend(self, group: GroupMetadata, member: MemberMetadata, timeout_us: int) -> None:
        """Set the end of a session. A timer that fires too early is set again: most heartbeats come in time."""
        before, member.deadline_us = member.deadline_us, self.transitions.process.monotonic_us + timeout_us
        if member.timer is not None:
            if member.deadline_us >= before:
                return
            member.timer.cancel()
        self._set_timer(group, member, timeout_us)

    def _set_timer(self, group: GroupMetadata, member: MemberMetadata, delay_us: int) -> None:
        member.timer = self.transitions.later(delay_us, self._expire, (group, member))

    def _expire(self, of: tuple[GroupMetadata, MemberMetadata]) -> None:
        group, member = of
        member.timer = None
        if group.state is GroupState.DEAD or group.members.get(member.member_id) is not member:
            return
        left_us = member.deadline_us - self.transitions.process.monotonic_us
        if left_us > 0:
            self._set_timer(group, member, left_us)
        elif member.is_new or (member.awaiting_join is None and member.awaiting_sync is None):
            # Others wait for the group: their session begins again when they are answered.
            self.failed(group, member)

    def give(self, group: GroupMetadata, member_id: str, timeout_us: int) -> None:
        """Begin the time in which a client has to join with the member id that it was given."""
        group.pending[member_id] = self.transitions.later(timeout_us, self._take_back, (group, member_id))
        process = self.transitions.process
        process.mark(MemberIdGiven, process.node.id, group.id, member_id, timeout_us)

    def _take_back(self, of: tuple[GroupMetadata, str]) -> None:
        group, member_id = of
        if group.state is not GroupState.DEAD and group.pending.pop(member_id, None) is not None:
            process = self.transitions.process
            process.mark(MemberIdForgotten, process.node.id, group.id, member_id)
            self.never_joined(group, member_id)
