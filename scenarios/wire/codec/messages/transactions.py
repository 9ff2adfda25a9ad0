"""Idempotent and transactional producers."""

from scenarios.wire.codec.schema import Api, Field, of_partitions

INIT_PRODUCER_ID = Api(22, "InitProducerId", "0-5", flexible="2+").of(
    request=[
        Field("transactional_id", "string", nullable="0+"),
        Field("transaction_timeout_ms", "int32"),
        Field("producer_id", "int64", "3+", default=-1),
        Field("producer_epoch", "int16", "3+", default=-1),
    ],
    response=[
        Field("throttle_time_ms", "int32"),
        Field("error_code", "int16"),
        Field("producer_id", "int64", default=-1),
        Field("producer_epoch", "int16"),
    ],
)

ADD_PARTITIONS_TO_TXN = Api(24, "AddPartitionsToTxn", "0-5", flexible="3+").of(
    request=[
        Field("transactions", "[]struct", "4+").of(
            Field("transactional_id", "string"),
            Field("producer_id", "int64"),
            Field("producer_epoch", "int16"),
            Field("verify_only", "bool"),
            Field("topics", "[]struct").of(Field("name", "string"), Field("partitions", "[]int32")),
        ),
        Field("transactional_id", "string", "0-3"),
        Field("producer_id", "int64", "0-3"),
        Field("producer_epoch", "int16", "0-3"),
        Field("topics", "[]struct", "0-3").of(Field("name", "string"), Field("partitions", "[]int32")),
    ],
    response=[
        Field("throttle_time_ms", "int32"),
        Field("error_code", "int16", "4+"),
        Field("results_by_transaction", "[]struct", "4+").of(
            Field("transactional_id", "string"),
            Field("topic_results", "[]struct").of(
                Field("name", "string"),
                Field("results_by_partition", "[]struct").of(
                    Field("partition_index", "int32"), Field("partition_error_code", "int16")
                ),
            ),
        ),
        Field("results", "[]struct", "0-3").of(
            Field("name", "string"),
            Field("results", "[]struct").of(Field("partition_index", "int32"), Field("error_code", "int16")),
        ),
    ],
)

ADD_OFFSETS_TO_TXN = Api(25, "AddOffsetsToTxn", "0-4", flexible="3+").of(
    request=[
        Field("transactional_id", "string"),
        Field("producer_id", "int64"),
        Field("producer_epoch", "int16"),
        Field("group_id", "string"),
    ],
    response=[Field("throttle_time_ms", "int32"), Field("error_code", "int16")],
)

END_TXN = Api(26, "EndTxn", "0-4", flexible="3+").of(
    request=[
        Field("transactional_id", "string"),
        Field("producer_id", "int64"),
        Field("producer_epoch", "int16"),
        Field("committed", "bool"),
    ],
    response=[Field("throttle_time_ms", "int32"), Field("error_code", "int16")],
)

TXN_OFFSET_COMMIT = Api(28, "TxnOffsetCommit", "0-4", flexible="3+").of(
    request=[
        Field("transactional_id", "string"),
        Field("group_id", "string"),
        Field("producer_id", "int64"),
        Field("producer_epoch", "int16"),
        Field("generation_id", "int32", "3+", default=-1),
        Field("member_id", "string", "3+"),
        Field("group_instance_id", "string", "3+", nullable="3+", default=None),
        of_partitions(
            Field("partition_index", "int32"),
            Field("committed_offset", "int64"),
            Field("committed_leader_epoch", "int32", "2+", default=-1),
            Field("committed_metadata", "string", nullable="0+"),
        ),
    ],
    response=[
        Field("throttle_time_ms", "int32"),
        of_partitions(Field("partition_index", "int32"), Field("error_code", "int16")),
    ],
)

DESCRIBE_PRODUCERS = Api(61, "DescribeProducers", "0", flexible="0+").of(
    request=[Field("topics", "[]struct").of(Field("name", "string"), Field("partition_indexes", "[]int32"))],
    response=[
        Field("throttle_time_ms", "int32"),
        of_partitions(
            Field("partition_index", "int32"),
            Field("error_code", "int16"),
            Field("error_message", "string", nullable="0+", default=None),
            Field("active_producers", "[]struct").of(
                Field("producer_id", "int64"),
                Field("producer_epoch", "int32"),
                Field("last_sequence", "int32", default=-1),
                Field("last_timestamp", "int64", default=-1),
                Field("coordinator_epoch", "int32"),
                Field("current_txn_start_offset", "int64", default=-1),
            ),
        ),
    ],
)

DESCRIBE_TRANSACTIONS = Api(65, "DescribeTransactions", "0", flexible="0+").of(
    request=[Field("transactional_ids", "[]string")],
    response=[
        Field("throttle_time_ms", "int32"),
        Field("transaction_states", "[]struct").of(
            Field("error_code", "int16"),
            Field("transactional_id", "string"),
            Field("transaction_state", "string"),
            Field("transaction_timeout_ms", "int32"),
            Field("transaction_start_time_ms", "int64"),
            Field("producer_id", "int64"),
            Field("producer_epoch", "int16"),
            Field("topics", "[]struct").of(Field("topic", "string"), Field("partitions", "[]int32")),
        ),
    ],
)

LIST_TRANSACTIONS = Api(66, "ListTransactions", "0-1", flexible="0+").of(
    request=[
        Field("state_filters", "[]string"),
        Field("producer_id_filters", "[]int64"),
        Field("duration_filter", "int64", "1+", default=-1),
    ],
    response=[
        Field("throttle_time_ms", "int32"),
        Field("error_code", "int16"),
        Field("unknown_state_filters", "[]string"),
        Field("transaction_states", "[]struct").of(
            Field("transactional_id", "string"), Field("producer_id", "int64"), Field("transaction_state", "string")
        ),
    ],
)
