"""DescribeGroups (API 15), ListGroups (16) and DeleteGroups (42): what an administrator asks about groups.

Versions that change what is meant: DescribeGroups v4 (2.4, KIP-345) names static members; ListGroups v4 (2.6, KIP-518)
asks for groups in some states.
"""

from typing import NamedTuple

from attrs import define

from emulator.protocol.api import Request, Response, declare
from emulator.protocol.errors import Errors


@define(eq=False)
class DescribeGroupsRequest(Request):
    groups: tuple[str, ...]

    @property
    def size(self) -> int:
        return 12 + sum(2 + len(group) for group in self.groups)


class DescribedMember(NamedTuple):
    """One member of a group.

    Attributes:
        metadata, assignment: empty where the group is not Stable.
    """

    member_id: str
    instance_id: str | None
    client_id: str
    client_host: str
    metadata: bytes
    assignment: bytes


class DescribedGroup(NamedTuple):
    """A group as its coordinator knows it.

    Attributes:
        state: Kafka's name; ``Dead`` for a group that does not exist, "" with an error.
    """

    group: str
    error: Errors
    state: str = ""
    protocol_type: str = ""
    protocol: str = ""
    members: tuple[DescribedMember, ...] = ()


@define(eq=False)
class DescribeGroupsResponse(Response):
    groups: tuple[DescribedGroup, ...]

    @property
    def size(self) -> int:
        members = (member for each in self.groups for member in each.members)
        return 10 + 40 * len(self.groups) + sum(80 + len(m.metadata) + len(m.assignment) for m in members)


@define(eq=False)
class ListGroupsRequest(Request):
    """Ask a broker which groups it coordinates.

    Attributes:
        states: the states of the groups that are asked for; empty: all.
    """

    states: tuple[str, ...] = ()
    size: int = 12


class ListedGroup(NamedTuple):
    group: str
    protocol_type: str
    state: str


@define(eq=False)
class ListGroupsResponse(Response):
    """The groups that the answering broker coordinates."""

    error: Errors
    groups: tuple[ListedGroup, ...] = ()

    @property
    def size(self) -> int:
        return 12 + sum(6 + sum(map(len, each)) for each in self.groups)


@define(eq=False)
class DeleteGroupsRequest(Request):
    groups: tuple[str, ...]

    @property
    def size(self) -> int:
        return 12 + sum(2 + len(group) for group in self.groups)


@define(eq=False)
class DeleteGroupsResponse(Response):
    groups: tuple[tuple[str, Errors], ...]

    @property
    def size(self) -> int:
        return 12 + sum(4 + len(group) for group, _error in self.groups)


declare(15, "DescribeGroups", DescribeGroupsRequest, DescribeGroupsResponse, help="a client asks how groups stand")
declare(16, "ListGroups", ListGroupsRequest, ListGroupsResponse, help="a client asks which groups a broker coordinates")
declare(42, "DeleteGroups", DeleteGroupsRequest, DeleteGroupsResponse, help="groups without members are deleted")
