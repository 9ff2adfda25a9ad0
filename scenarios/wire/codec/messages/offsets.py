"""The offsets that consumer groups commit."""

from scenarios.wire.codec.schema import Api, Field

OFFSET_COMMIT = Api(
    8,
    "OffsetCommit",
    "0-9",
    flexible="8+",
    request=[
        Field("group_id", "string", "0+"),
        Field("generation_id", "int32", "1+", default=-1),
        Field("member_id", "string", "1+"),
        Field("group_instance_id", "string", "7+", nullable="7+", default=None),
        Field("retention_time_ms", "int64", "2-4", default=-1),
        Field("topics", "[]struct", "0+").of(
            Field("name", "string", "0+"),
            Field("partitions", "[]struct", "0+").of(
                Field("partition_index", "int32", "0+"),
                Field("committed_offset", "int64", "0+"),
                Field("committed_leader_epoch", "int32", "6+", default=-1),
                Field("commit_timestamp", "int64", "1", default=-1),
                Field("committed_metadata", "string", "0+", nullable="0+"),
            ),
        ),
    ],
    response=[
        Field("throttle_time_ms", "int32", "3+"),
        Field("topics", "[]struct", "0+").of(
            Field("name", "string", "0+"),
            Field("partitions", "[]struct", "0+").of(
                Field("partition_index", "int32", "0+"),
                Field("error_code", "int16", "0+"),
            ),
        ),
    ],
)

OFFSET_FETCH = Api(
    9,
    "OffsetFetch",
    "0-9",
    flexible="6+",
    request=[
        Field("group_id", "string", "0-7"),
        Field("topics", "[]struct", "0-7", nullable="2-7").of(
            Field("name", "string", "0-7"),
            Field("partition_indexes", "[]int32", "0-7"),
        ),
        Field("groups", "[]struct", "8+").of(
            Field("group_id", "string", "8+"),
            Field("member_id", "string", "9+", nullable="9+", default=None),
            Field("member_epoch", "int32", "9+", default=-1),
            Field("topics", "[]struct", "8+", nullable="8+").of(
                Field("name", "string", "8+"),
                Field("partition_indexes", "[]int32", "8+"),
            ),
        ),
        Field("require_stable", "bool", "7+"),
    ],
    response=[
        Field("throttle_time_ms", "int32", "3+"),
        Field("topics", "[]struct", "0-7").of(
            Field("name", "string", "0-7"),
            Field("partitions", "[]struct", "0-7").of(
                Field("partition_index", "int32", "0-7"),
                Field("committed_offset", "int64", "0-7"),
                Field("committed_leader_epoch", "int32", "5-7", default=-1),
                Field("metadata", "string", "0-7", nullable="0-7"),
                Field("error_code", "int16", "0-7"),
            ),
        ),
        Field("error_code", "int16", "2-7"),
        Field("groups", "[]struct", "8+").of(
            Field("group_id", "string", "8+"),
            Field("topics", "[]struct", "8+").of(
                Field("name", "string", "8+"),
                Field("partitions", "[]struct", "8+").of(
                    Field("partition_index", "int32", "8+"),
                    Field("committed_offset", "int64", "8+"),
                    Field("committed_leader_epoch", "int32", "8+", default=-1),
                    Field("metadata", "string", "8+", nullable="8+"),
                    Field("error_code", "int16", "8+"),
                ),
            ),
            Field("error_code", "int16", "8+"),
        ),
    ],
)

OFFSET_DELETE = Api(
    47,
    "OffsetDelete",
    "0",
    request=[
        Field("group_id", "string", "0+"),
        Field("topics", "[]struct", "0+").of(
            Field("name", "string", "0+"),
            Field("partitions", "[]struct", "0+").of(
                Field("partition_index", "int32", "0+"),
            ),
        ),
    ],
    response=[
        Field("error_code", "int16", "0+"),
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
