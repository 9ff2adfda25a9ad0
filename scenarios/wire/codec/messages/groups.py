"""Members of consumer groups, and the groups themselves. JoinGroup 8 and 9 and LeaveGroup 5 are of Kafka 3.2."""

from scenarios.wire.codec.schema import Api, Field

FIND_COORDINATOR = Api(10, "FindCoordinator", "0-6", flexible="3+").of(
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
            Field("key", "string"),
            Field("node_id", "int32"),
            Field("host", "string"),
            Field("port", "int32"),
            Field("error_code", "int16"),
            Field("error_message", "string", nullable="4+"),
        ),
    ],
)

JOIN_GROUP = Api(11, "JoinGroup", "0-9", flexible="6+").of(
    request=[
        Field("group_id", "string"),
        Field("session_timeout_ms", "int32"),
        Field("rebalance_timeout_ms", "int32", "1+", default=-1),
        Field("member_id", "string"),
        Field("group_instance_id", "string", "5+", nullable="5+", default=None),
        Field("protocol_type", "string"),
        Field("protocols", "[]struct").of(Field("name", "string"), Field("metadata", "bytes")),
        Field("reason", "string", "8+", nullable="8+", default=None),
    ],
    response=[
        Field("throttle_time_ms", "int32", "2+"),
        Field("error_code", "int16"),
        Field("generation_id", "int32", default=-1),
        Field("protocol_type", "string", "7+", nullable="7+", default=None),
        Field("protocol_name", "string", nullable="7+"),
        Field("leader", "string"),
        Field("skip_assignment", "bool", "9+"),
        Field("member_id", "string"),
        Field("members", "[]struct").of(
            Field("member_id", "string"),
            Field("group_instance_id", "string", "5+", nullable="5+", default=None),
            Field("metadata", "bytes"),
        ),
    ],
)

SYNC_GROUP = Api(14, "SyncGroup", "0-5", flexible="4+").of(
    request=[
        Field("group_id", "string"),
        Field("generation_id", "int32"),
        Field("member_id", "string"),
        Field("group_instance_id", "string", "3+", nullable="3+", default=None),
        Field("protocol_type", "string", "5+", nullable="5+", default=None),
        Field("protocol_name", "string", "5+", nullable="5+", default=None),
        Field("assignments", "[]struct").of(Field("member_id", "string"), Field("assignment", "bytes")),
    ],
    response=[
        Field("throttle_time_ms", "int32", "1+"),
        Field("error_code", "int16"),
        Field("protocol_type", "string", "5+", nullable="5+", default=None),
        Field("protocol_name", "string", "5+", nullable="5+", default=None),
        Field("assignment", "bytes"),
    ],
)

HEARTBEAT = Api(12, "Heartbeat", "0-4", flexible="4+").of(
    request=[
        Field("group_id", "string"),
        Field("generation_id", "int32"),
        Field("member_id", "string"),
        Field("group_instance_id", "string", "3+", nullable="3+", default=None),
    ],
    response=[Field("throttle_time_ms", "int32", "1+"), Field("error_code", "int16")],
)

LEAVE_GROUP = Api(13, "LeaveGroup", "0-5", flexible="4+").of(
    request=[
        Field("group_id", "string"),
        Field("member_id", "string", "0-2"),
        Field("members", "[]struct", "3+").of(
            Field("member_id", "string"),
            Field("group_instance_id", "string", nullable="3+", default=None),
            Field("reason", "string", "5+", nullable="5+", default=None),
        ),
    ],
    response=[
        Field("throttle_time_ms", "int32", "1+"),
        Field("error_code", "int16"),
        Field("members", "[]struct", "3+").of(
            Field("member_id", "string"),
            Field("group_instance_id", "string", nullable="3+"),
            Field("error_code", "int16"),
        ),
    ],
)

DESCRIBE_GROUPS = Api(15, "DescribeGroups", "0-5", flexible="5+").of(
    request=[Field("groups", "[]string"), Field("include_authorized_operations", "bool", "3+")],
    response=[
        Field("throttle_time_ms", "int32", "1+"),
        Field("groups", "[]struct").of(
            Field("error_code", "int16"),
            Field("group_id", "string"),
            Field("group_state", "string"),
            Field("protocol_type", "string"),
            Field("protocol_data", "string"),
            Field("members", "[]struct").of(
                Field("member_id", "string"),
                Field("group_instance_id", "string", "4+", nullable="4+", default=None),
                Field("client_id", "string"),
                Field("client_host", "string"),
                Field("member_metadata", "bytes"),
                Field("member_assignment", "bytes"),
            ),
            Field("authorized_operations", "int32", "3+", default=-2147483648),
        ),
    ],
)

LIST_GROUPS = Api(16, "ListGroups", "0-5", flexible="3+").of(
    request=[Field("states_filter", "[]string", "4+"), Field("types_filter", "[]string", "5+")],
    response=[
        Field("throttle_time_ms", "int32", "1+"),
        Field("error_code", "int16"),
        Field("groups", "[]struct").of(
            Field("group_id", "string"),
            Field("protocol_type", "string"),
            Field("group_state", "string", "4+"),
            Field("group_type", "string", "5+"),
        ),
    ],
)

DELETE_GROUPS = Api(42, "DeleteGroups", "0-2", flexible="2+").of(
    request=[Field("groups_names", "[]string")],
    response=[
        Field("throttle_time_ms", "int32"),
        Field("results", "[]struct").of(Field("group_id", "string"), Field("error_code", "int16")),
    ],
)
