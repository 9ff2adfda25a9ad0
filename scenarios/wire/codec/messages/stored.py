"""The records of coordinators in their topics: keys and values in __consumer_offsets and __transaction_state.

Each begins with its version (two bytes). The key's version says which kind of record it is: 0 and 1 are offsets, 2 is a
group. Kafka 2.1 and later write offsets of version 3 (1 where they have an expiry time of their own); groups have
version 2 in 2.1 and 2.2, and 3 from 2.3 on (GroupMetadataManager).
"""

from typing import Final

from scenarios.wire.codec.schema import Field, Stored

OFFSET_COMMIT_KEY: Final = Stored(
    "OffsetCommitKey",
    "0-1",
    [Field("group", "string", "0-1"), Field("topic", "string", "0-1"), Field("partition", "int32", "0-1")],
)

OFFSET_COMMIT_VALUE: Final = Stored(
    "OffsetCommitValue",
    "0-3",
    [
        Field("offset", "int64"),
        Field("leader_epoch", "int32", "3+", default=-1),
        Field("metadata", "string"),
        Field("commit_timestamp", "int64"),
        Field("expire_timestamp", "int64", "1", default=-1),
    ],
)

GROUP_METADATA_KEY: Final = Stored("GroupMetadataKey", "2", [Field("group", "string", "2")])

GROUP_METADATA_VALUE: Final = Stored(
    "GroupMetadataValue",
    "0-3",
    [
        Field("protocol_type", "string"),
        Field("generation", "int32"),
        Field("protocol", "string", nullable="0+"),
        Field("leader", "string", nullable="0+"),
        Field("current_state_timestamp", "int64", "2+", default=-1),
        Field("members", "[]struct").of(
            Field("member_id", "string"),
            Field("group_instance_id", "string", "3+", nullable="3+", default=None),
            Field("client_id", "string"),
            Field("client_host", "string"),
            Field("rebalance_timeout", "int32", "1+"),
            Field("session_timeout", "int32"),
            Field("subscription", "bytes"),
            Field("assignment", "bytes"),
        ),
    ],
)

TRANSACTION_LOG_KEY: Final = Stored("TransactionLogKey", "0", [Field("transactional_id", "string", "0")])

TRANSACTION_LOG_VALUE: Final = Stored(
    "TransactionLogValue",
    "0",
    [
        Field("producer_id", "int64", "0"),
        Field("producer_epoch", "int16", "0"),
        Field("transaction_timeout_ms", "int32", "0"),
        Field("transaction_status", "int8", "0"),
        Field("transaction_partitions", "[]struct", "0", nullable="0").of(
            Field("topic", "string"), Field("partition_ids", "[]int32")
        ),
        Field("transaction_last_update_timestamp_ms", "int64", "0"),
        Field("transaction_start_timestamp_ms", "int64", "0"),
    ],
)
