"""FindCoordinator, and the requests of group members: JoinGroup, SyncGroup, Heartbeat, LeaveGroup."""

from typing import Any

from emulator.protocol.errors import Errors
from emulator.protocol.groups.find_coordinator import FindCoordinatorRequest, FindCoordinatorResponse, FoundCoordinator
from emulator.protocol.groups.membership import (
    HeartbeatRequest,
    HeartbeatResponse,
    JoinGroupRequest,
    JoinGroupResponse,
    LeaveGroupRequest,
    LeaveGroupResponse,
    LeavingMember,
    SyncGroupRequest,
    SyncGroupResponse,
)
from scenarios.wire.apis.base import Body, Connection, WireApi, wire_api
from scenarios.wire.apis.shared import microseconds

SEVERAL_KEYS = 4
"""The first version of FindCoordinator that asks for several keys (KIP-699)."""
REBALANCE_TIMEOUT, GIVES_MEMBER_ID, OPTIONAL_PROTOCOL, SKIPS_ASSIGNMENT = 1, 4, 7, 9
"""The first versions of JoinGroup with a rebalance timeout of its own (KIP-62), with a member id that is given first
(KIP-394), with a protocol that can be null (KIP-559), and whose leader may not have to assign (KIP-814)."""
NAMES_PROTOCOL = 5
"""The first version of SyncGroup that names the protocol (KIP-559)."""
SEVERAL_MEMBERS = 3
"""The first version of LeaveGroup for several members (KIP-345)."""


@wire_api
class FindCoordinator(WireApi):
    """Find the broker that coordinates a group."""

    key = 10

    def to_request(self, body: Body, connection: Connection) -> FindCoordinatorRequest:
        several = connection.version >= SEVERAL_KEYS
        keys = tuple(body["coordinator_keys"]) if several else (body["key"],)
        return FindCoordinatorRequest(keys, body["key_type"])

    def to_response(self, response: Any, body: Body, connection: Connection) -> Body:
        found: FindCoordinatorResponse = response
        if connection.version < SEVERAL_KEYS:
            return _coordinator(found.coordinators[0], connection)
        return {"coordinators": [{"key": each.key, **_coordinator(each, connection)} for each in found.coordinators]}


def _coordinator(found: FoundCoordinator, connection: Connection) -> Body:
    host, port = ("", -1) if found.error else connection.advertised(found.node)
    return {
        "node_id": found.node, "host": host, "port": port,
        "error_code": int(found.error), "error_message": found.message,
    }  # fmt: skip


@wire_api
class JoinGroup(WireApi):
    """Join a group, or join it again."""

    key = 11

    def to_request(self, body: Body, connection: Connection) -> JoinGroupRequest:
        version, instance_id = connection.version, body["group_instance_id"]
        own = version >= REBALANCE_TIMEOUT
        return JoinGroupRequest(
            body["group_id"],
            body["member_id"],
            microseconds(body["session_timeout_ms"]),
            microseconds(body["rebalance_timeout_ms" if own else "session_timeout_ms"]),
            body["protocol_type"],
            tuple((each["name"], bytes(each["metadata"])) for each in body["protocols"]),
            instance_id,
            connection.client_id,
            connection.client_host,
            requires_member_id=version >= GIVES_MEMBER_ID and instance_id is None,
            can_skip_assignment=version >= SKIPS_ASSIGNMENT,
        )

    def to_response(self, response: Any, body: Body, connection: Connection) -> Body:
        joined: JoinGroupResponse = response
        unnamed = None if connection.version >= OPTIONAL_PROTOCOL else ""
        return {
            "error_code": int(joined.error),
            "generation_id": joined.generation,
            "protocol_type": joined.protocol_type,
            "protocol_name": unnamed if joined.protocol is None else joined.protocol,
            "leader": joined.leader,
            "skip_assignment": joined.skips_assignment,
            "member_id": joined.member_id,
            "members": [
                {"member_id": each.member_id, "group_instance_id": each.instance_id, "metadata": each.metadata}
                for each in joined.members
            ],
        }


@wire_api
class SyncGroup(WireApi):
    """Ask for an assignment; the leader sends those of all members."""

    key = 14

    def to_request(self, body: Body, connection: Connection) -> SyncGroupRequest:
        protocol_type, protocol = body["protocol_type"], body["protocol_name"]
        if connection.version >= NAMES_PROTOCOL:  # both have to be given: no group has ""
            protocol_type, protocol = protocol_type or "", protocol or ""
        return SyncGroupRequest(
            body["group_id"],
            body["generation_id"],
            body["member_id"],
            body["group_instance_id"],
            tuple((each["member_id"], bytes(each["assignment"])) for each in body["assignments"]),
            protocol_type,
            protocol,
        )

    def to_response(self, response: Any, body: Body, connection: Connection) -> Body:
        synced: SyncGroupResponse = response
        return {
            "error_code": int(synced.error),
            "protocol_type": synced.protocol_type,
            "protocol_name": synced.protocol,
            "assignment": synced.assignment,
        }


@wire_api
class Heartbeat(WireApi):
    """Report that a member is alive."""

    key = 12

    def to_request(self, body: Body, connection: Connection) -> HeartbeatRequest:
        return HeartbeatRequest(body["group_id"], body["generation_id"], body["member_id"], body["group_instance_id"])

    def to_response(self, response: Any, body: Body, connection: Connection) -> Body:
        heard: HeartbeatResponse = response
        return {"error_code": int(heard.error)}


@wire_api
class LeaveGroup(WireApi):
    """Leave a group. Before version 3 one member leaves, and its error is that of the response."""

    key = 13

    def to_request(self, body: Body, connection: Connection) -> LeaveGroupRequest:
        if connection.version < SEVERAL_MEMBERS:
            return LeaveGroupRequest(body["group_id"], (LeavingMember(body["member_id"]),))
        members = tuple(LeavingMember(each["member_id"], each["group_instance_id"]) for each in body["members"])
        return LeaveGroupRequest(body["group_id"], members)

    def to_response(self, response: Any, body: Body, connection: Connection) -> Body:
        left: LeaveGroupResponse = response
        error = left.error
        if connection.version < SEVERAL_MEMBERS:
            error = error or next((each for _member, each in left.members), Errors.NONE)
        return {
            "error_code": int(error),
            "members": [
                {"member_id": member.member_id, "group_instance_id": member.instance_id, "error_code": int(outcome)}
                for member, outcome in left.members
            ],
        }
