"""Requests between brokers, and from the controller to them: clients send none of them."""

from scenarios.wire.codec.schema import Api, Field

_LED_PARTITION = (
    Field("topic_name", "string", "0-1"),
    Field("partition_index", "int32", "0+"),
    Field("controller_epoch", "int32", "0+"),
    Field("leader", "int32", "0+"),
    Field("leader_epoch", "int32", "0+"),
    Field("isr", "[]int32", "0+"),
    Field("partition_epoch", "int32", "0+"),
    Field("replicas", "[]int32", "0+"),
    Field("adding_replicas", "[]int32", "3+"),
    Field("removing_replicas", "[]int32", "3+"),
    Field("is_new", "bool", "1+"),
    Field("leader_recovery_state", "int8", "6+"),
)
"""A partition in LeaderAndIsr, which is not grouped by topics before version 2."""
_LED_ERROR = (
    Field("topic_name", "string", "0-4"),
    Field("partition_index", "int32", "0+"),
    Field("error_code", "int16", "0+"),
)
"""The answer for one, which is not grouped before version 5."""

LEADER_AND_ISR = Api(
    4,
    "LeaderAndIsr",
    "0-7",
    flexible="4+",
    request=[
        Field("controller_id", "int32", "0+"),
        Field("is_k_raft_controller", "bool", "7+"),
        Field("controller_epoch", "int32", "0+"),
        Field("broker_epoch", "int64", "2+", default=-1),
        Field("type", "int8", "5+"),
        Field("ungrouped_partition_states", "[]struct", "0-1").of(*_LED_PARTITION),
        Field("topic_states", "[]struct", "2+").of(
            Field("topic_name", "string", "2+"),
            Field("topic_id", "uuid", "5+"),
            Field("partition_states", "[]struct", "2+").of(*_LED_PARTITION),
        ),
        Field("live_leaders", "[]struct", "0+").of(
            Field("broker_id", "int32", "0+"),
            Field("host_name", "string", "0+"),
            Field("port", "int32", "0+"),
        ),
    ],
    response=[
        Field("error_code", "int16", "0+"),
        Field("partition_errors", "[]struct", "0-4").of(*_LED_ERROR),
        Field("topics", "[]struct", "5+").of(
            Field("topic_id", "uuid", "5+"),
            Field("partition_errors", "[]struct", "5+").of(*_LED_ERROR),
        ),
    ],
)

STOP_REPLICA = Api(
    5,
    "StopReplica",
    "0-4",
    flexible="2+",
    request=[
        Field("controller_id", "int32", "0+"),
        Field("is_k_raft_controller", "bool", "4+"),
        Field("controller_epoch", "int32", "0+"),
        Field("broker_epoch", "int64", "1+", default=-1),
        Field("delete_partitions", "bool", "0-2"),
        Field("ungrouped_partitions", "[]struct", "0").of(
            Field("topic_name", "string", "0"),
            Field("partition_index", "int32", "0"),
        ),
        Field("topics", "[]struct", "1-2").of(
            Field("name", "string", "1-2"),
            Field("partition_indexes", "[]int32", "1-2"),
        ),
        Field("topic_states", "[]struct", "3+").of(
            Field("topic_name", "string", "3+"),
            Field("partition_states", "[]struct", "3+").of(
                Field("partition_index", "int32", "3+"),
                Field("leader_epoch", "int32", "3+", default=-1),
                Field("delete_partition", "bool", "3+"),
            ),
        ),
    ],
    response=[
        Field("error_code", "int16", "0+"),
        Field("partition_errors", "[]struct", "0+").of(
            Field("topic_name", "string", "0+"),
            Field("partition_index", "int32", "0+"),
            Field("error_code", "int16", "0+"),
        ),
    ],
)

_KNOWN_PARTITION = (
    Field("topic_name", "string", "0-4"),
    Field("partition_index", "int32", "0+"),
    Field("controller_epoch", "int32", "0+"),
    Field("leader", "int32", "0+"),
    Field("leader_epoch", "int32", "0+"),
    Field("isr", "[]int32", "0+"),
    Field("zk_version", "int32", "0+"),
    Field("replicas", "[]int32", "0+"),
    Field("offline_replicas", "[]int32", "4+"),
)
"""A partition in UpdateMetadata, which is not grouped by topics before version 5."""

UPDATE_METADATA = Api(
    6,
    "UpdateMetadata",
    "0-8",
    flexible="6+",
    request=[
        Field("controller_id", "int32", "0+"),
        Field("is_k_raft_controller", "bool", "8+"),
        Field("type", "int8", "8+", tag=0),
        Field("controller_epoch", "int32", "0+"),
        Field("broker_epoch", "int64", "5+", default=-1),
        Field("ungrouped_partition_states", "[]struct", "0-4").of(*_KNOWN_PARTITION),
        Field("topic_states", "[]struct", "5+").of(
            Field("topic_name", "string", "5+"),
            Field("topic_id", "uuid", "7+"),
            Field("partition_states", "[]struct", "5+").of(*_KNOWN_PARTITION),
        ),
        Field("live_brokers", "[]struct", "0+").of(
            Field("id", "int32", "0+"),
            Field("v0_host", "string", "0"),
            Field("v0_port", "int32", "0"),
            Field("endpoints", "[]struct", "1+").of(
                Field("port", "int32", "1+"),
                Field("host", "string", "1+"),
                Field("listener", "string", "3+"),
                Field("security_protocol", "int16", "1+"),
            ),
            Field("rack", "string", "2+", nullable="0+"),
        ),
    ],
    response=[
        Field("error_code", "int16", "0+"),
    ],
)

CONTROLLED_SHUTDOWN = Api(
    7,
    "ControlledShutdown",
    "0-3",
    flexible="3+",
    request=[
        Field("broker_id", "int32", "0+"),
        Field("broker_epoch", "int64", "2+", default=-1),
    ],
    response=[
        Field("error_code", "int16", "0+"),
        Field("remaining_partitions", "[]struct", "0+").of(
            Field("topic_name", "string", "0+"),
            Field("partition_index", "int32", "0+"),
        ),
    ],
)

WRITE_TXN_MARKERS = Api(
    27,
    "WriteTxnMarkers",
    "0-1",
    flexible="1+",
    request=[
        Field("markers", "[]struct", "0+").of(
            Field("producer_id", "int64", "0+"),
            Field("producer_epoch", "int16", "0+"),
            Field("transaction_result", "bool", "0+"),
            Field("topics", "[]struct", "0+").of(
                Field("name", "string", "0+"),
                Field("partition_indexes", "[]int32", "0+"),
            ),
            Field("coordinator_epoch", "int32", "0+"),
        ),
    ],
    response=[
        Field("markers", "[]struct", "0+").of(
            Field("producer_id", "int64", "0+"),
            Field("topics", "[]struct", "0+").of(
                Field("name", "string", "0+"),
                Field("partitions", "[]struct", "0+").of(
                    Field("partition_index", "int32", "0+"),
                    Field("error_code", "int16", "0+"),
                ),
            ),
        ),
    ],
)

ALTER_PARTITION = Api(
    56,
    "AlterPartition",
    "0-3",
    flexible="0+",
    request=[
        Field("broker_id", "int32", "0+"),
        Field("broker_epoch", "int64", "0+", default=-1),
        Field("topics", "[]struct", "0+").of(
            Field("topic_name", "string", "0-1"),
            Field("topic_id", "uuid", "2+"),
            Field("partitions", "[]struct", "0+").of(
                Field("partition_index", "int32", "0+"),
                Field("leader_epoch", "int32", "0+"),
                Field("new_isr", "[]int32", "0-2"),
                Field("new_isr_with_epochs", "[]struct", "3+").of(
                    Field("broker_id", "int32", "3+"),
                    Field("broker_epoch", "int64", "3+", default=-1),
                ),
                Field("leader_recovery_state", "int8", "1+"),
                Field("partition_epoch", "int32", "0+"),
            ),
        ),
    ],
    response=[
        Field("throttle_time_ms", "int32", "0+"),
        Field("error_code", "int16", "0+"),
        Field("topics", "[]struct", "0+").of(
            Field("topic_name", "string", "0-1"),
            Field("topic_id", "uuid", "2+"),
            Field("partitions", "[]struct", "0+").of(
                Field("partition_index", "int32", "0+"),
                Field("error_code", "int16", "0+"),
                Field("leader_id", "int32", "0+"),
                Field("leader_epoch", "int32", "0+"),
                Field("isr", "[]int32", "0+"),
                Field("leader_recovery_state", "int8", "1+"),
                Field("partition_epoch", "int32", "0+"),
            ),
        ),
    ],
)

ENVELOPE = Api(
    58,
    "Envelope",
    "0",
    flexible="0+",
    request=[
        Field("request_data", "bytes", "0+"),
        Field("request_principal", "bytes", "0+", nullable="0+"),
        Field("client_host_address", "bytes", "0+"),
    ],
    response=[
        Field("response_data", "bytes", "0+", nullable="0+", default=None),
        Field("error_code", "int16", "0+"),
    ],
)

ALLOCATE_PRODUCER_IDS = Api(
    67,
    "AllocateProducerIds",
    "0",
    flexible="0+",
    request=[
        Field("broker_id", "int32", "0+"),
        Field("broker_epoch", "int64", "0+", default=-1),
    ],
    response=[
        Field("throttle_time_ms", "int32", "0+"),
        Field("error_code", "int16", "0+"),
        Field("producer_id_start", "int64", "0+"),
        Field("producer_id_len", "int32", "0+"),
    ],
)
