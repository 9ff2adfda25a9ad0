"""The messages of a group's members: JoinGroup (API 11), Heartbeat (12), LeaveGroup (13), SyncGroup (14).

Versions that change what is meant: JoinGroup v4 (2.2, KIP-394) a new member is given its id first; v5 (2.3, KIP-345)
static members; LeaveGroup v3 (2.4, KIP-345) several members; SyncGroup v5 (2.5, KIP-559) names the protocol.
"""

from typing import NamedTuple

from attrs import define

from emulator.protocol.api import Request, Response, declare
from emulator.protocol.errors import Errors

NO_GENERATION = -1
NO_MEMBER = ""
"""The member id of a client that has none yet."""

Protocols = tuple[tuple[str, bytes], ...]
"""The protocols by which a member can be assigned partitions, its preferred one first: names, each with the member's
metadata."""


def _length(*texts: str | None) -> int:
    return sum(2 + len(text or "") for text in texts)


@define(eq=False)
class JoinGroupRequest(Request):
    """Become, or remain, a member of a group.

    Attributes:
        member_id: NO_MEMBER: the coordinator gives one.
        instance_id: the group.instance.id of a static member (KIP-345), else None.
        session_timeout_us: after so long without a heartbeat the coordinator removes the member.
        rebalance_timeout_us: how long the coordinator waits for this member to join again.
        requires_member_id: a member without an id is given one, and joins again with it (KIP-394).
        can_skip_assignment: the member understands ``skips_assignment`` in the answer (KIP-814).
    """

    group: str
    member_id: str
    session_timeout_us: int
    rebalance_timeout_us: int
    protocol_type: str
    protocols: Protocols
    instance_id: str | None = None
    client_id: str = ""
    client_host: str = ""
    requires_member_id: bool = False
    can_skip_assignment: bool = False

    @property
    def size(self) -> int:
        named = _length(self.group, self.member_id, self.instance_id, self.protocol_type)
        return 20 + named + sum(6 + len(name) + len(metadata) for name, metadata in self.protocols)


class JoinedMember(NamedTuple):
    """A member, as the leader of its group is sent it."""

    member_id: str
    instance_id: str | None
    metadata: bytes


@define(eq=False)
class JoinGroupResponse(Response):
    """The generation that the member belongs to.

    Attributes:
        protocol_type, protocol: None where the group has none.
        members: all of them, for the leader; empty for the others.
        skips_assignment: the member is a static leader that has returned, and shall leave the assignment as it is.
    """

    error: Errors
    member_id: str
    generation: int = NO_GENERATION
    protocol_type: str | None = None
    protocol: str | None = None
    leader: str = ""
    members: tuple[JoinedMember, ...] = ()
    skips_assignment: bool = False

    @property
    def size(self) -> int:
        members = sum(4 + _length(each.member_id, each.instance_id) + len(each.metadata) for each in self.members)
        return 14 + _length(self.member_id, self.protocol, self.leader) + members


@define(eq=False)
class SyncGroupRequest(Request):
    """Ask for the assignment of the generation that the member has joined.

    Attributes:
        assignments: the assignment of each member, from the leader; empty from the others.
        protocol_type, protocol: the group's type and protocol, as the member knows them; None where the version does
            not say.
    """

    group: str
    generation: int
    member_id: str
    instance_id: str | None = None
    assignments: tuple[tuple[str, bytes], ...] = ()
    protocol_type: str | None = None
    protocol: str | None = None

    @property
    def size(self) -> int:
        named = _length(self.group, self.member_id, self.instance_id)
        return 14 + named + sum(6 + len(member) + len(each) for member, each in self.assignments)


@define(eq=False)
class SyncGroupResponse(Response):
    error: Errors
    assignment: bytes = b""
    protocol_type: str | None = None
    protocol: str | None = None

    @property
    def size(self) -> int:
        return 14 + len(self.assignment)


@define(eq=False)
class HeartbeatRequest(Request):
    """Report that the member is alive, and ask whether its generation still holds."""

    group: str
    generation: int
    member_id: str
    instance_id: str | None = None

    @property
    def size(self) -> int:
        return 14 + _length(self.group, self.member_id, self.instance_id)


@define(eq=False)
class HeartbeatResponse(Response):
    error: Errors
    size: int = 10


class LeavingMember(NamedTuple):
    """A member that leaves, or that an administrator removes.

    Attributes:
        member_id: NO_MEMBER: the static member ``instance_id``, whatever its member id is.
    """

    member_id: str
    instance_id: str | None = None


@define(eq=False)
class LeaveGroupRequest(Request):
    group: str
    members: tuple[LeavingMember, ...]

    @property
    def size(self) -> int:
        return 14 + _length(self.group) + sum(_length(*member) for member in self.members)


@define(eq=False)
class LeaveGroupResponse(Response):
    """The outcomes.

    Attributes:
        members: each with its outcome; empty with an ``error``.
    """

    error: Errors
    members: tuple[tuple[LeavingMember, Errors], ...] = ()

    @property
    def size(self) -> int:
        return 12 + sum(2 + _length(*member) for member, _error in self.members)


declare(11, "JoinGroup", JoinGroupRequest, JoinGroupResponse, help="a consumer joins its group")
declare(12, "Heartbeat", HeartbeatRequest, HeartbeatResponse, help="a member of a group says that it is alive")
declare(13, "LeaveGroup", LeaveGroupRequest, LeaveGroupResponse, help="members leave their group")
declare(14, "SyncGroup", SyncGroupRequest, SyncGroupResponse, help="a member of a group asks for its assignment")
