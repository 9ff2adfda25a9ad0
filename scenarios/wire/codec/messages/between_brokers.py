"""Requests between brokers, and from the controller to them: clients send none of them."""

from scenarios.wire.codec.schema import Api, Field, of_partitions

_LED_PARTITION = (
    Field("topic_name", "string", "0-1"),
    Field("partition_index", "int32"),
    Field("controller_epoch", "int32"),
    Field("leader", "int32"),
    Field("leader_epoch", "int32"),
    Field("isr", "[]int32"),
    Field("partition_epoch", "int32"),
    Field("replicas", "[]int32"),
    Field("adding_replicas", "[]int32", "3+"),
    Field("removing_replicas", "[]int32", "3+"),
    Field("is_new", "bool", "1+"),
    Field("leader_recovery_state", "int8", "6+"),
)
"""A partition in LeaderAndIsr, which is not grouped by topics before version 2."""
_LED_ERROR = (Field("topic_name", "string", "0-4"), Field("partition_index", "int32"), Field("error_code", "int16"))
"""The answer for one, which is not grouped before version 5."""

LEADER_AND_ISR = Api(4, "LeaderAndIsr", "0-7", flexible="4+").of(
    request=[
        Field("controller_id", "int32"),
        Field("is_k_raft_controller", "bool", "7+"),
        Field("controller_epoch", "int32"),
        Field("broker_epoch", "int64", "2+", default=-1),
        Field("type", "int8", "5+"),
        Field("ungrouped_partition_states", "[]struct", "0-1").of(*_LED_PARTITION),
        Field("topic_states", "[]struct", "2+").of(
            Field("topic_name", "string"),
            Field("topic_id", "uuid", "5+"),
            Field("partition_states", "[]struct").of(*_LED_PARTITION),
        ),
        Field("live_leaders", "[]struct").of(
            Field("broker_id", "int32"), Field("host_name", "string"), Field("port", "int32")
        ),
    ],
    response=[
        Field("error_code", "int16"),
        Field("partition_errors", "[]struct", "0-4").of(*_LED_ERROR),
        Field("topics", "[]struct", "5+").of(
            Field("topic_id", "uuid"), Field("partition_errors", "[]struct").of(*_LED_ERROR)
        ),
    ],
)

STOP_REPLICA = Api(5, "StopReplica", "0-4", flexible="2+").of(
    request=[
        Field("controller_id", "int32"),
        Field("is_k_raft_controller", "bool", "4+"),
        Field("controller_epoch", "int32"),
        Field("broker_epoch", "int64", "1+", default=-1),
        Field("delete_partitions", "bool", "0-2"),
        Field("ungrouped_partitions", "[]struct", "0").of(
            Field("topic_name", "string"), Field("partition_index", "int32")
        ),
        Field("topics", "[]struct", "1-2").of(Field("name", "string"), Field("partition_indexes", "[]int32")),
        Field("topic_states", "[]struct", "3+").of(
            Field("topic_name", "string"),
            Field("partition_states", "[]struct").of(
                Field("partition_index", "int32"),
                Field("leader_epoch", "int32", default=-1),
                Field("delete_partition", "bool"),
            ),
        ),
    ],
    response=[
        Field("error_code", "int16"),
        Field("partition_errors", "[]struct").of(
            Field("topic_name", "string"), Field("partition_index", "int32"), Field("error_code", "int16")
        ),
    ],
)

_KNOWN_PARTITION = (
    Field("topic_name", "string", "0-4"),
    Field("partition_index", "int32"),
    Field("controller_epoch", "int32"),
    Field("leader", "int32"),
    Field("leader_epoch", "int32"),
    Field("isr", "[]int32"),
    Field("zk_version", "int32"),
    Field("replicas", "[]int32"),
    Field("offline_replicas", "[]int32", "4+"),
)
"""A partition in UpdateMetadata, which is not grouped by topics before version 5."""

UPDATE_METADATA = Api(6, "UpdateMetadata", "0-8", flexible="6+").of(
    request=[
        Field("controller_id", "int32"),
        Field("is_k_raft_controller", "bool", "8+"),
        Field("type", "int8", "8+", tag=0),
        Field("controller_epoch", "int32"),
        Field("broker_epoch", "int64", "5+", default=-1),
        Field("ungrouped_partition_states", "[]struct", "0-4").of(*_KNOWN_PARTITION),
        Field("topic_states", "[]struct", "5+").of(
            Field("topic_name", "string"),
            Field("topic_id", "uuid", "7+"),
            Field("partition_states", "[]struct").of(*_KNOWN_PARTITION),
        ),
        Field("live_brokers", "[]struct").of(
            Field("id", "int32"),
            Field("v0_host", "string", "0"),
            Field("v0_port", "int32", "0"),
            Field("endpoints", "[]struct", "1+").of(
                Field("port", "int32"),
                Field("host", "string"),
                Field("listener", "string", "3+"),
                Field("security_protocol", "int16"),
            ),
            Field("rack", "string", "2+", nullable="0+"),
        ),
    ],
    response=[Field("error_code", "int16")],
)

CONTROLLED_SHUTDOWN = Api(7, "ControlledShutdown", "0-3", flexible="3+").of(
    request=[Field("broker_id", "int32"), Field("broker_epoch", "int64", "2+", default=-1)],
    response=[
        Field("error_code", "int16"),
        Field("remaining_partitions", "[]struct").of(Field("topic_name", "string"), Field("partition_index", "int32")),
    ],
)

WRITE_TXN_MARKERS = Api(27, "WriteTxnMarkers", "0-1", flexible="1+").of(
    request=[
        Field("markers", "[]struct").of(
            Field("producer_id", "int64"),
            Field("producer_epoch", "int16"),
            Field("transaction_result", "bool"),
            Field("topics", "[]struct").of(Field("name", "string"), Field("partition_indexes", "[]int32")),
            Field("coordinator_epoch", "int32"),
        )
    ],
    response=[
        Field("markers", "[]struct").of(
            Field("producer_id", "int64"),
            of_partitions(Field("partition_index", "int32"), Field("error_code", "int16")),
        )
    ],
)

ALTER_PARTITION = Api(56, "AlterPartition", "0-3", flexible="0+").of(
    request=[
        Field("broker_id", "int32"),
        Field("broker_epoch", "int64", default=-1),
        Field("topics", "[]struct").of(
            Field("topic_name", "string", "0-1"),
            Field("topic_id", "uuid", "2+"),
            Field("partitions", "[]struct").of(
                Field("partition_index", "int32"),
                Field("leader_epoch", "int32"),
                Field("new_isr", "[]int32", "0-2"),
                Field("new_isr_with_epochs", "[]struct", "3+").of(
                    Field("broker_id", "int32"), Field("broker_epoch", "int64", default=-1)
                ),
                Field("leader_recovery_state", "int8", "1+"),
                Field("partition_epoch", "int32"),
            ),
        ),
    ],
    response=[
        Field("throttle_time_ms", "int32"),
        Field("error_code", "int16"),
        Field("topics", "[]struct").of(
            Field("topic_name", "string", "0-1"),
            Field("topic_id", "uuid", "2+"),
            Field("partitions", "[]struct").of(
                Field("partition_index", "int32"),
                Field("error_code", "int16"),
                Field("leader_id", "int32"),
                Field("leader_epoch", "int32"),
                Field("isr", "[]int32"),
                Field("leader_recovery_state", "int8", "1+"),
                Field("partition_epoch", "int32"),
            ),
        ),
    ],
)

ENVELOPE = Api(58, "Envelope", "0", flexible="0+").of(
    request=[
        Field("request_data", "bytes"),
        Field("request_principal", "bytes", nullable="0+"),
        Field("client_host_address", "bytes"),
    ],
    response=[Field("response_data", "bytes", nullable="0+", default=None), Field("error_code", "int16")],
)

ALLOCATE_PRODUCER_IDS = Api(67, "AllocateProducerIds", "0", flexible="0+").of(
    request=[Field("broker_id", "int32"), Field("broker_epoch", "int64", default=-1)],
    response=[
        Field("throttle_time_ms", "int32"),
        Field("error_code", "int16"),
        Field("producer_id_start", "int64"),
        Field("producer_id_len", "int32"),
    ],
)
