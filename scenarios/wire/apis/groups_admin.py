"""DescribeGroups, ListGroups and DeleteGroups."""

from typing import Any

from emulator.protocol.errors import Errors
from emulator.protocol.groups.operations import (
    DeleteGroupsRequest,
    DeleteGroupsResponse,
    DescribedGroup,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    ListGroupsRequest,
    ListGroupsResponse,
)
from scenarios.wire.apis.base import Body, Connection, WireApi, wire_api
from scenarios.wire.authorized_operations import GROUP, NOT_REQUESTED, authorized

CLASSIC = "classic"
"""The type of all groups (GroupType, 3.8)."""


@wire_api
class DescribeGroups(WireApi):
    """The states and members of groups."""

    key = 15

    def to_request(self, body: Body, connection: Connection) -> DescribeGroupsRequest:
        return DescribeGroupsRequest(tuple(body["groups"]))

    def to_response(self, response: Any, body: Body, connection: Connection) -> Body:
        found: DescribeGroupsResponse = response
        return {"groups": [_described(group, body) for group in found.groups]}


def _described(group: DescribedGroup, body: Body) -> Body:
    operations = authorized(body, "include_authorized_operations", GROUP)
    return {
        "error_code": int(group.error),
        "group_id": group.group,
        "group_state": group.state,
        "protocol_type": group.protocol_type,
        "protocol_data": group.protocol,
        "members": [
            {
                "member_id": member.member_id,
                "group_instance_id": member.instance_id,
                "client_id": member.client_id,
                "client_host": member.client_host,
                "member_metadata": member.metadata,
                "member_assignment": member.assignment,
            }
            for member in group.members
        ],
        "authorized_operations": operations if group.error is Errors.NONE else NOT_REQUESTED,
    }


@wire_api
class ListGroups(WireApi):
    """The groups that a broker coordinates; since version 4 also only those in some states (KIP-518), since 5
    of some types, of which there is one (KIP-848, 3.8)."""

    key = 16

    def to_request(self, body: Body, connection: Connection) -> ListGroupsRequest:
        return ListGroupsRequest(tuple(body["states_filter"] or ()))

    def to_response(self, response: Any, body: Body, connection: Connection) -> Body:
        found: ListGroupsResponse = response
        types = [each.lower() for each in body["types_filter"]]
        listed = () if types and CLASSIC not in types else found.groups
        return {
            "error_code": int(found.error),
            "groups": [
                {
                    "group_id": each.group, "protocol_type": each.protocol_type, "group_state": each.state,
                    "group_type": CLASSIC,
                }
                for each in listed
            ],
        }  # fmt: skip


@wire_api
class DeleteGroups(WireApi):
    """Delete groups without members, with their offsets."""

    key = 42

    def to_request(self, body: Body, connection: Connection) -> DeleteGroupsRequest:
        return DeleteGroupsRequest(tuple(body["groups_names"]))

    def to_response(self, response: Any, body: Body, connection: Connection) -> Body:
        deleted: DeleteGroupsResponse = response
        return {"results": [{"group_id": group, "error_code": int(error)} for group, error in deleted.groups]}
