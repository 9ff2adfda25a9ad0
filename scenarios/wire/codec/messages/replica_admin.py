"""Replicas, where they are and where they move. DescribeLogDirs 3 is of Kafka 3.2."""

from scenarios.wire.codec.schema import WORDED_ERROR, Api, Field, of_partitions

ALTER_PARTITION_REASSIGNMENTS = Api(45, "AlterPartitionReassignments", "0", flexible="0+").of(
    request=[
        Field("timeout_ms", "int32", default=60000),
        of_partitions(Field("partition_index", "int32"), Field("replicas", "[]int32", nullable="0+", default=None)),
    ],
    response=[
        Field("throttle_time_ms", "int32"),
        *WORDED_ERROR,
        Field("responses", "[]struct").of(
            Field("name", "string"),
            Field("partitions", "[]struct").of(Field("partition_index", "int32"), *WORDED_ERROR),
        ),
    ],
)

LIST_PARTITION_REASSIGNMENTS = Api(46, "ListPartitionReassignments", "0", flexible="0+").of(
    request=[
        Field("timeout_ms", "int32", default=60000),
        Field("topics", "[]struct", nullable="0+", default=None).of(
            Field("name", "string"), Field("partition_indexes", "[]int32")
        ),
    ],
    response=[
        Field("throttle_time_ms", "int32"),
        *WORDED_ERROR,
        of_partitions(
            Field("partition_index", "int32"),
            Field("replicas", "[]int32"),
            Field("adding_replicas", "[]int32"),
            Field("removing_replicas", "[]int32"),
        ),
    ],
)

ELECT_LEADERS = Api(43, "ElectLeaders", "0-2", flexible="2+").of(
    request=[
        Field("election_type", "int8", "1+"),
        Field("topic_partitions", "[]struct", nullable="0+").of(
            Field("topic", "string"), Field("partitions", "[]int32")
        ),
        Field("timeout_ms", "int32", default=60000),
    ],
    response=[
        Field("throttle_time_ms", "int32"),
        Field("error_code", "int16", "1+"),
        Field("replica_election_results", "[]struct").of(
            Field("topic", "string"),
            Field("partition_result", "[]struct").of(Field("partition_id", "int32"), *WORDED_ERROR),
        ),
    ],
)

DESCRIBE_LOG_DIRS = Api(35, "DescribeLogDirs", "0-4", flexible="2+").of(
    request=[Field("topics", "[]struct", nullable="0+").of(Field("topic", "string"), Field("partitions", "[]int32"))],
    response=[
        Field("throttle_time_ms", "int32"),
        Field("error_code", "int16", "3+"),
        Field("results", "[]struct").of(
            Field("error_code", "int16"),
            Field("log_dir", "string"),
            of_partitions(
                Field("partition_index", "int32"),
                Field("partition_size", "int64"),
                Field("offset_lag", "int64"),
                Field("is_future_key", "bool"),
            ),
            Field("total_bytes", "int64", "4+", default=-1),
            Field("usable_bytes", "int64", "4+", default=-1),
        ),
    ],
)

ALTER_REPLICA_LOG_DIRS = Api(34, "AlterReplicaLogDirs", "0-2", flexible="2+").of(
    request=[
        Field("dirs", "[]struct").of(
            Field("path", "string"),
            Field("topics", "[]struct").of(Field("name", "string"), Field("partitions", "[]int32")),
        )
    ],
    response=[
        Field("throttle_time_ms", "int32"),
        Field("results", "[]struct").of(
            Field("topic_name", "string"),
            Field("partitions", "[]struct").of(Field("partition_index", "int32"), Field("error_code", "int16")),
        ),
    ],
)
