"""Members of consumer groups, and the groups themselves. JoinGroup 8 and 9 and LeaveGroup 5 are of Kafka 3.2."""

from scenarios.wire.codec.schema import Api, Field

FIND_COORDINATOR = Api(
    10,
    "FindCoordinator",
    "0-6",
    flexible="3+",
    request=[
        Field("key", "string", "0-3"),
        Field("key_type", "int8", "1+"),
        Field("coordinator_keys", "[]string", "4+"),
    ],
    response=[
        Field("throttle_time_ms", "int32", "1+"),
        Field("error_code", "int16", "0-3"),
        Field("error_message", "string", "1-3", nullable="1-3"),
        Field("node_id", "int32", "0-3"),
        Field("host", "string", "0-3"),
        Field("port", "int32", "0-3"),
        Field("coordinators", "[]struct", "4+").of(
            Field("key", "string", "4+"),
            Field("node_id", "int32", "4+"),
            Field("host", "string", "4+"),
            Field("port", "int32", "4+"),
            Field("error_code", "int16", "4+"),
            Field("error_message", "string", "4+", nullable="4+"),
        ),
    ],
)

JOIN_GROUP = Api(
    11,
    "JoinGroup",
    "0-9",
    flexible="6+",
    request=[
        Field("group_id", "string", "0+"),
        Field("session_timeout_ms", "int32", "0+"),
        Field("rebalance_timeout_ms", "int32", "1+", default=-1),
        Field("member_id", "string", "0+"),
        Field("group_instance_id", "string", "5+", nullable="5+", default=None),
        Field("protocol_type", "string", "0+"),
        Field("protocols", "[]struct", "0+").of(
            Field("name", "string", "0+"),
            Field("metadata", "bytes", "0+"),
        ),
        Field("reason", "string", "8+", nullable="8+", default=None),
    ],
    response=[
        Field("throttle_time_ms", "int32", "2+"),
        Field("error_code", "int16", "0+"),
        Field("generation_id", "int32", "0+", default=-1),
        Field("protocol_type", "string", "7+", nullable="7+", default=None),
        Field("protocol_name", "string", "0+", nullable="7+"),
        Field("leader", "string", "0+"),
        Field("skip_assignment", "bool", "9+"),
        Field("member_id", "string", "0+"),
        Field("members", "[]struct", "0+").of(
            Field("member_id", "string", "0+"),
            Field("group_instance_id", "string", "5+", nullable="5+", default=None),
            Field("metadata", "bytes", "0+"),
        ),
    ],
)

SYNC_GROUP = Api(
    14,
    "SyncGroup",
    "0-5",
    flexible="4+",
    request=[
        Field("group_id", "string", "0+"),
        Field("generation_id", "int32", "0+"),
        Field("member_id", "string", "0+"),
        Field("group_instance_id", "string", "3+", nullable="3+", default=None),
        Field("protocol_type", "string", "5+", nullable="5+", default=None),
        Field("protocol_name", "string", "5+", nullable="5+", default=None),
        Field("assignments", "[]struct", "0+").of(
            Field("member_id", "string", "0+"),
            Field("assignment", "bytes", "0+"),
        ),
    ],
    response=[
        Field("throttle_time_ms", "int32", "1+"),
        Field("error_code", "int16", "0+"),
        Field("protocol_type", "string", "5+", nullable="5+", default=None),
        Field("protocol_name", "string", "5+", nullable="5+", default=None),
        Field("assignment", "bytes", "0+"),
    ],
)

HEARTBEAT = Api(
    12,
    "Heartbeat",
    "0-4",
    flexible="4+",
    request=[
        Field("group_id", "string", "0+"),
        Field("generation_id", "int32", "0+"),
        Field("member_id", "string", "0+"),
        Field("group_instance_id", "string", "3+", nullable="3+", default=None),
    ],
    response=[
        Field("throttle_time_ms", "int32", "1+"),
        Field("error_code", "int16", "0+"),
    ],
)

LEAVE_GROUP = Api(
    13,
    "LeaveGroup",
    "0-5",
    flexible="4+",
    request=[
        Field("group_id", "string", "0+"),
        Field("member_id", "string", "0-2"),
        Field("members", "[]struct", "3+").of(
            Field("member_id", "string", "3+"),
            Field("group_instance_id", "string", "3+", nullable="3+", default=None),
            Field("reason", "string", "5+", nullable="5+", default=None),
        ),
    ],
    response=[
        Field("throttle_time_ms", "int32", "1+"),
        Field("error_code", "int16", "0+"),
        Field("members", "[]struct", "3+").of(
            Field("member_id", "string", "3+"),
            Field("group_instance_id", "string", "3+", nullable="3+"),
            Field("error_code", "int16", "3+"),
        ),
    ],
)

DESCRIBE_GROUPS = Api(
    15,
    "DescribeGroups",
    "0-5",
    flexible="5+",
    request=[
        Field("groups", "[]string", "0+"),
        Field("include_authorized_operations", "bool", "3+"),
    ],
    response=[
        Field("throttle_time_ms", "int32", "1+"),
        Field("groups", "[]struct", "0+").of(
            Field("error_code", "int16", "0+"),
            Field("group_id", "string", "0+"),
            Field("group_state", "string", "0+"),
            Field("protocol_type", "string", "0+"),
            Field("protocol_data", "string", "0+"),
            Field("members", "[]struct", "0+").of(
                Field("member_id", "string", "0+"),
                Field("group_instance_id", "string", "4+", nullable="4+", default=None),
                Field("client_id", "string", "0+"),
                Field("client_host", "string", "0+"),
                Field("member_metadata", "bytes", "0+"),
                Field("member_assignment", "bytes", "0+"),
            ),
            Field("authorized_operations", "int32", "3+", default=-2147483648),
        ),
    ],
)

LIST_GROUPS = Api(
    16,
    "ListGroups",
    "0-5",
    flexible="3+",
    request=[
        Field("states_filter", "[]string", "4+"),
        Field("types_filter", "[]string", "5+"),
    ],
    response=[
        Field("throttle_time_ms", "int32", "1+"),
        Field("error_code", "int16", "0+"),
        Field("groups", "[]struct", "0+").of(
            Field("group_id", "string", "0+"),
            Field("protocol_type", "string", "0+"),
            Field("group_state", "string", "4+"),
            Field("group_type", "string", "5+"),
        ),
    ],
)

DELETE_GROUPS = Api(
    42,
    "DeleteGroups",
    "0-2",
    flexible="2+",
    request=[
        Field("groups_names", "[]string", "0+"),
    ],
    response=[
        Field("throttle_time_ms", "int32", "0+"),
        Field("results", "[]struct", "0+").of(
            Field("group_id", "string", "0+"),
            Field("error_code", "int16", "0+"),
        ),
    ],
)
