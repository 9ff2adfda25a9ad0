"""Records, and the offsets of logs."""

from scenarios.wire.codec.schema import Api, Field, of_partitions

PRODUCE = Api(0, "Produce", "0-11", flexible="9+").of(
    request=[
        Field("transactional_id", "string", "3+", nullable="3+", default=None),
        Field("acks", "int16"),
        Field("timeout_ms", "int32"),
        Field("topic_data", "[]struct").of(
            Field("name", "string"),
            Field("partition_data", "[]struct").of(Field("index", "int32"), Field("records", "records", nullable="0+")),
        ),
    ],
    response=[
        Field("responses", "[]struct").of(
            Field("name", "string"),
            Field("partition_responses", "[]struct").of(
                Field("index", "int32"),
                Field("error_code", "int16"),
                Field("base_offset", "int64"),
                Field("log_append_time_ms", "int64", "2+", default=-1),
                Field("log_start_offset", "int64", "5+", default=-1),
                Field("record_errors", "[]struct", "8+").of(
                    Field("batch_index", "int32"),
                    Field("batch_index_error_message", "string", nullable="8+", default=None),
                ),
                Field("error_message", "string", "8+", nullable="8+", default=None),
                Field("current_leader", "struct", "10+", tag=0).of(
                    Field("leader_id", "int32", default=-1), Field("leader_epoch", "int32", default=-1)
                ),
            ),
        ),
        Field("throttle_time_ms", "int32", "1+"),
        Field("node_endpoints", "[]struct", "10+", tag=0).of(
            Field("node_id", "int32"),
            Field("host", "string"),
            Field("port", "int32"),
            Field("rack", "string", nullable="10+", default=None),
        ),
    ],
)

FETCH = Api(1, "Fetch", "0-17", flexible="12+").of(
    request=[
        Field("cluster_id", "string", "12+", nullable="12+", tag=0, default=None),
        Field("replica_id", "int32", "0-14", default=-1),
        Field("replica_state", "struct", "15+", tag=1).of(
            Field("replica_id", "int32", default=-1), Field("replica_epoch", "int64", default=-1)
        ),
        Field("max_wait_ms", "int32"),
        Field("min_bytes", "int32"),
        Field("max_bytes", "int32", "3+", default=2147483647),
        Field("isolation_level", "int8", "4+"),
        Field("session_id", "int32", "7+"),
        Field("session_epoch", "int32", "7+", default=-1),
        Field("topics", "[]struct").of(
            Field("topic", "string", "0-12"),
            Field("topic_id", "uuid", "13+"),
            Field("partitions", "[]struct").of(
                Field("partition", "int32"),
                Field("current_leader_epoch", "int32", "9+", default=-1),
                Field("fetch_offset", "int64"),
                Field("last_fetched_epoch", "int32", "12+", default=-1),
                Field("log_start_offset", "int64", "5+", default=-1),
                Field("partition_max_bytes", "int32"),
                Field("replica_directory_id", "uuid", "17+", tag=0),
            ),
        ),
        Field("forgotten_topics_data", "[]struct", "7+").of(
            Field("topic", "string", "7-12"), Field("topic_id", "uuid", "13+"), Field("partitions", "[]int32")
        ),
        Field("rack_id", "string", "11+"),
    ],
    response=[
        Field("throttle_time_ms", "int32", "1+"),
        Field("error_code", "int16", "7+"),
        Field("session_id", "int32", "7+"),
        Field("responses", "[]struct").of(
            Field("topic", "string", "0-12"),
            Field("topic_id", "uuid", "13+"),
            Field("partitions", "[]struct").of(
                Field("partition_index", "int32"),
                Field("error_code", "int16"),
                Field("high_watermark", "int64"),
                Field("last_stable_offset", "int64", "4+", default=-1),
                Field("log_start_offset", "int64", "5+", default=-1),
                Field("diverging_epoch", "struct", "12+", tag=0).of(
                    Field("epoch", "int32", default=-1), Field("end_offset", "int64", default=-1)
                ),
                Field("current_leader", "struct", "12+", tag=1).of(
                    Field("leader_id", "int32", default=-1), Field("leader_epoch", "int32", default=-1)
                ),
                Field("snapshot_id", "struct", "12+", tag=2).of(
                    Field("end_offset", "int64", default=-1), Field("epoch", "int32", default=-1)
                ),
                Field("aborted_transactions", "[]struct", "4+", nullable="4+").of(
                    Field("producer_id", "int64"), Field("first_offset", "int64")
                ),
                Field("preferred_read_replica", "int32", "11+", default=-1),
                Field("records", "records", nullable="0+"),
            ),
        ),
        Field("node_endpoints", "[]struct", "16+", tag=0).of(
            Field("node_id", "int32"),
            Field("host", "string"),
            Field("port", "int32"),
            Field("rack", "string", nullable="16+", default=None),
        ),
    ],
)

LIST_OFFSETS = Api(2, "ListOffsets", "0-9", flexible="6+").of(
    request=[
        Field("replica_id", "int32"),
        Field("isolation_level", "int8", "2+"),
        of_partitions(
            Field("partition_index", "int32"),
            Field("current_leader_epoch", "int32", "4+", default=-1),
            Field("timestamp", "int64"),
            Field("max_num_offsets", "int32", "0", default=1),
        ),
    ],
    response=[
        Field("throttle_time_ms", "int32", "2+"),
        of_partitions(
            Field("partition_index", "int32"),
            Field("error_code", "int16"),
            Field("old_style_offsets", "[]int64", "0"),
            Field("timestamp", "int64", "1+", default=-1),
            Field("offset", "int64", "1+", default=-1),
            Field("leader_epoch", "int32", "4+", default=-1),
        ),
    ],
)

OFFSET_FOR_LEADER_EPOCH = Api(23, "OffsetForLeaderEpoch", "0-4", flexible="4+").of(
    request=[
        Field("replica_id", "int32", "3+", default=-2),
        Field("topics", "[]struct").of(
            Field("topic", "string"),
            Field("partitions", "[]struct").of(
                Field("partition", "int32"),
                Field("current_leader_epoch", "int32", "2+", default=-1),
                Field("leader_epoch", "int32"),
            ),
        ),
    ],
    response=[
        Field("throttle_time_ms", "int32", "2+"),
        Field("topics", "[]struct").of(
            Field("topic", "string"),
            Field("partitions", "[]struct").of(
                Field("error_code", "int16"),
                Field("partition", "int32"),
                Field("leader_epoch", "int32", "1+", default=-1),
                Field("end_offset", "int64", default=-1),
            ),
        ),
    ],
)

DELETE_RECORDS = Api(21, "DeleteRecords", "0-2", flexible="2+").of(
    request=[of_partitions(Field("partition_index", "int32"), Field("offset", "int64")), Field("timeout_ms", "int32")],
    response=[
        Field("throttle_time_ms", "int32"),
        of_partitions(Field("partition_index", "int32"), Field("low_watermark", "int64"), Field("error_code", "int16")),
    ],
)
