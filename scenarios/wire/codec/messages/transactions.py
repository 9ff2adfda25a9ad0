"""Idempotent and transactional producers."""

from scenarios.wire.codec.schema import Api, Field

INIT_PRODUCER_ID = Api(
    22,
    "InitProducerId",
    "0-5",
    flexible="2+",
    request=[
        Field("transactional_id", "string", "0+", nullable="0+"),
        Field("transaction_timeout_ms", "int32", "0+"),
        Field("producer_id", "int64", "3+", default=-1),
        Field("producer_epoch", "int16", "3+", default=-1),
    ],
    response=[
        Field("throttle_time_ms", "int32", "0+"),
        Field("error_code", "int16", "0+"),
        Field("producer_id", "int64", "0+", default=-1),
        Field("producer_epoch", "int16", "0+"),
    ],
)

ADD_PARTITIONS_TO_TXN = Api(
    24,
    "AddPartitionsToTxn",
    "0-5",
    flexible="3+",
    request=[
        Field("transactions", "[]struct", "4+").of(
            Field("transactional_id", "string", "4+"),
            Field("producer_id", "int64", "4+"),
            Field("producer_epoch", "int16", "4+"),
            Field("verify_only", "bool", "4+"),
            Field("topics", "[]struct", "4+").of(
                Field("name", "string", "4+"),
                Field("partitions", "[]int32", "4+"),
            ),
        ),
        Field("transactional_id", "string", "0-3"),
        Field("producer_id", "int64", "0-3"),
        Field("producer_epoch", "int16", "0-3"),
        Field("topics", "[]struct", "0-3").of(
            Field("name", "string", "0+"),
            Field("partitions", "[]int32", "0+"),
        ),
    ],
    response=[
        Field("throttle_time_ms", "int32", "0+"),
        Field("error_code", "int16", "4+"),
        Field("results_by_transaction", "[]struct", "4+").of(
            Field("transactional_id", "string", "4+"),
            Field("topic_results", "[]struct", "4+").of(
                Field("name", "string", "4+"),
                Field("results_by_partition", "[]struct", "4+").of(
                    Field("partition_index", "int32", "4+"),
                    Field("partition_error_code", "int16", "4+"),
                ),
            ),
        ),
        Field("results", "[]struct", "0-3").of(
            Field("name", "string", "0+"),
            Field("results", "[]struct", "0+").of(
                Field("partition_index", "int32", "0+"),
                Field("error_code", "int16", "0+"),
            ),
        ),
    ],
)

ADD_OFFSETS_TO_TXN = Api(
    25,
    "AddOffsetsToTxn",
    "0-4",
    flexible="3+",
    request=[
        Field("transactional_id", "string", "0+"),
        Field("producer_id", "int64", "0+"),
        Field("producer_epoch", "int16", "0+"),
        Field("group_id", "string", "0+"),
    ],
    response=[
        Field("throttle_time_ms", "int32", "0+"),
        Field("error_code", "int16", "0+"),
    ],
)

END_TXN = Api(
    26,
    "EndTxn",
    "0-4",
    flexible="3+",
    request=[
        Field("transactional_id", "string", "0+"),
        Field("producer_id", "int64", "0+"),
        Field("producer_epoch", "int16", "0+"),
        Field("committed", "bool", "0+"),
    ],
    response=[
        Field("throttle_time_ms", "int32", "0+"),
        Field("error_code", "int16", "0+"),
    ],
)

TXN_OFFSET_COMMIT = Api(
    28,
    "TxnOffsetCommit",
    "0-4",
    flexible="3+",
    request=[
        Field("transactional_id", "string", "0+"),
        Field("group_id", "string", "0+"),
        Field("producer_id", "int64", "0+"),
        Field("producer_epoch", "int16", "0+"),
        Field("generation_id", "int32", "3+", default=-1),
        Field("member_id", "string", "3+"),
        Field("group_instance_id", "string", "3+", nullable="3+", default=None),
        Field("topics", "[]struct", "0+").of(
            Field("name", "string", "0+"),
            Field("partitions", "[]struct", "0+").of(
                Field("partition_index", "int32", "0+"),
                Field("committed_offset", "int64", "0+"),
                Field("committed_leader_epoch", "int32", "2+", default=-1),
                Field("committed_metadata", "string", "0+", nullable="0+"),
            ),
        ),
    ],
    response=[
        Field("throttle_time_ms", "int32", "0+"),
        Field("topics", "[]struct", "0+").of(
            Field("name", "string", "0+"),
            Field("partitions", "[]struct", "0+").of(
                Field("partition_index", "int32", "0+"),
                Field("error_code", "int16", "0+"),
            ),
        ),
    ],
)

DESCRIBE_PRODUCERS = Api(
    61,
    "DescribeProducers",
    "0",
    flexible="0+",
    request=[
        Field("topics", "[]struct", "0+").of(
            Field("name", "string", "0+"),
            Field("partition_indexes", "[]int32", "0+"),
        ),
    ],
    response=[
        Field("throttle_time_ms", "int32", "0+"),
        Field("topics", "[]struct", "0+").of(
            Field("name", "string", "0+"),
            Field("partitions", "[]struct", "0+").of(
                Field("partition_index", "int32", "0+"),
                Field("error_code", "int16", "0+"),
                Field("error_message", "string", "0+", nullable="0+", default=None),
                Field("active_producers", "[]struct", "0+").of(
                    Field("producer_id", "int64", "0+"),
                    Field("producer_epoch", "int32", "0+"),
                    Field("last_sequence", "int32", "0+", default=-1),
                    Field("last_timestamp", "int64", "0+", default=-1),
                    Field("coordinator_epoch", "int32", "0+"),
                    Field("current_txn_start_offset", "int64", "0+", default=-1),
                ),
            ),
        ),
    ],
)

DESCRIBE_TRANSACTIONS = Api(
    65,
    "DescribeTransactions",
    "0",
    flexible="0+",
    request=[
        Field("transactional_ids", "[]string", "0+"),
    ],
    response=[
        Field("throttle_time_ms", "int32", "0+"),
        Field("transaction_states", "[]struct", "0+").of(
            Field("error_code", "int16", "0+"),
            Field("transactional_id", "string", "0+"),
            Field("transaction_state", "string", "0+"),
            Field("transaction_timeout_ms", "int32", "0+"),
            Field("transaction_start_time_ms", "int64", "0+"),
            Field("producer_id", "int64", "0+"),
            Field("producer_epoch", "int16", "0+"),
            Field("topics", "[]struct", "0+").of(
                Field("topic", "string", "0+"),
                Field("partitions", "[]int32", "0+"),
            ),
        ),
    ],
)

LIST_TRANSACTIONS = Api(
    66,
    "ListTransactions",
    "0-1",
    flexible="0+",
    request=[
        Field("state_filters", "[]string", "0+"),
        Field("producer_id_filters", "[]int64", "0+"),
        Field("duration_filter", "int64", "1+", default=-1),
    ],
    response=[
        Field("throttle_time_ms", "int32", "0+"),
        Field("error_code", "int16", "0+"),
        Field("unknown_state_filters", "[]string", "0+"),
        Field("transaction_states", "[]struct", "0+").of(
            Field("transactional_id", "string", "0+"),
            Field("producer_id", "int64", "0+"),
            Field("transaction_state", "string", "0+"),
        ),
    ],
)
