"""Replicas, where they are and where they move. DescribeLogDirs 3 is of Kafka 3.2."""

from scenarios.wire.codec.schema import Api, Field

ALTER_PARTITION_REASSIGNMENTS = Api(
    45,
    "AlterPartitionReassignments",
    "0",
    flexible="0+",
    request=[
        Field("timeout_ms", "int32", "0+", default=60000),
        Field("topics", "[]struct", "0+").of(
            Field("name", "string", "0+"),
            Field("partitions", "[]struct", "0+").of(
                Field("partition_index", "int32", "0+"),
                Field("replicas", "[]int32", "0+", nullable="0+", default=None),
            ),
        ),
    ],
    response=[
        Field("throttle_time_ms", "int32", "0+"),
        Field("error_code", "int16", "0+"),
        Field("error_message", "string", "0+", nullable="0+"),
        Field("responses", "[]struct", "0+").of(
            Field("name", "string", "0+"),
            Field("partitions", "[]struct", "0+").of(
                Field("partition_index", "int32", "0+"),
                Field("error_code", "int16", "0+"),
                Field("error_message", "string", "0+", nullable="0+"),
            ),
        ),
    ],
)

LIST_PARTITION_REASSIGNMENTS = Api(
    46,
    "ListPartitionReassignments",
    "0",
    flexible="0+",
    request=[
        Field("timeout_ms", "int32", "0+", default=60000),
        Field("topics", "[]struct", "0+", nullable="0+", default=None).of(
            Field("name", "string", "0+"),
            Field("partition_indexes", "[]int32", "0+"),
        ),
    ],
    response=[
        Field("throttle_time_ms", "int32", "0+"),
        Field("error_code", "int16", "0+"),
        Field("error_message", "string", "0+", nullable="0+"),
        Field("topics", "[]struct", "0+").of(
            Field("name", "string", "0+"),
            Field("partitions", "[]struct", "0+").of(
                Field("partition_index", "int32", "0+"),
                Field("replicas", "[]int32", "0+"),
                Field("adding_replicas", "[]int32", "0+"),
                Field("removing_replicas", "[]int32", "0+"),
            ),
        ),
    ],
)

ELECT_LEADERS = Api(
    43,
    "ElectLeaders",
    "0-2",
    flexible="2+",
    request=[
        Field("election_type", "int8", "1+"),
        Field("topic_partitions", "[]struct", "0+", nullable="0+").of(
            Field("topic", "string", "0+"),
            Field("partitions", "[]int32", "0+"),
        ),
        Field("timeout_ms", "int32", "0+", default=60000),
    ],
    response=[
        Field("throttle_time_ms", "int32", "0+"),
        Field("error_code", "int16", "1+"),
        Field("replica_election_results", "[]struct", "0+").of(
            Field("topic", "string", "0+"),
            Field("partition_result", "[]struct", "0+").of(
                Field("partition_id", "int32", "0+"),
                Field("error_code", "int16", "0+"),
                Field("error_message", "string", "0+", nullable="0+"),
            ),
        ),
    ],
)

DESCRIBE_LOG_DIRS = Api(
    35,
    "DescribeLogDirs",
    "0-4",
    flexible="2+",
    request=[
        Field("topics", "[]struct", "0+", nullable="0+").of(
            Field("topic", "string", "0+"),
            Field("partitions", "[]int32", "0+"),
        ),
    ],
    response=[
        Field("throttle_time_ms", "int32", "0+"),
        Field("error_code", "int16", "3+"),
        Field("results", "[]struct", "0+").of(
            Field("error_code", "int16", "0+"),
            Field("log_dir", "string", "0+"),
            Field("topics", "[]struct", "0+").of(
                Field("name", "string", "0+"),
                Field("partitions", "[]struct", "0+").of(
                    Field("partition_index", "int32", "0+"),
                    Field("partition_size", "int64", "0+"),
                    Field("offset_lag", "int64", "0+"),
                    Field("is_future_key", "bool", "0+"),
                ),
            ),
            Field("total_bytes", "int64", "4+", default=-1),
            Field("usable_bytes", "int64", "4+", default=-1),
        ),
    ],
)

ALTER_REPLICA_LOG_DIRS = Api(
    34,
    "AlterReplicaLogDirs",
    "0-2",
    flexible="2+",
    request=[
        Field("dirs", "[]struct", "0+").of(
            Field("path", "string", "0+"),
            Field("topics", "[]struct", "0+").of(
                Field("name", "string", "0+"),
                Field("partitions", "[]int32", "0+"),
            ),
        ),
    ],
    response=[
        Field("throttle_time_ms", "int32", "0+"),
        Field("results", "[]struct", "0+").of(
            Field("topic_name", "string", "0+"),
            Field("partitions", "[]struct", "0+").of(
                Field("partition_index", "int32", "0+"),
                Field("error_code", "int16", "0+"),
            ),
        ),
    ],
)
