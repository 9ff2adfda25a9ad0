"""The offsets that consumer groups commit."""

from scenarios.wire.codec.schema import Api, Field, of_partitions

OFFSET_COMMIT = Api(8, "OffsetCommit", "0-9", flexible="8+").of(
    request=[
        Field("group_id", "string"),
        Field("generation_id", "int32", "1+", default=-1),
        Field("member_id", "string", "1+"),
        Field("group_instance_id", "string", "7+", nullable="7+", default=None),
        Field("retention_time_ms", "int64", "2-4", default=-1),
        of_partitions(
            Field("partition_index", "int32"),
            Field("committed_offset", "int64"),
            Field("committed_leader_epoch", "int32", "6+", default=-1),
            Field("commit_timestamp", "int64", "1", default=-1),
            Field("committed_metadata", "string", nullable="0+"),
        ),
    ],
    response=[
        Field("throttle_time_ms", "int32", "3+"),
        of_partitions(Field("partition_index", "int32"), Field("error_code", "int16")),
    ],
)

OFFSET_FETCH = Api(9, "OffsetFetch", "0-9", flexible="6+").of(
    request=[
        Field("group_id", "string", "0-7"),
        Field("topics", "[]struct", "0-7", nullable="2-7").of(
            Field("name", "string"), Field("partition_indexes", "[]int32")
        ),
        Field("groups", "[]struct", "8+").of(
            Field("group_id", "string"),
            Field("member_id", "string", "9+", nullable="9+", default=None),
            Field("member_epoch", "int32", "9+", default=-1),
            Field("topics", "[]struct", nullable="8+").of(
                Field("name", "string"), Field("partition_indexes", "[]int32")
            ),
        ),
        Field("require_stable", "bool", "7+"),
    ],
    response=[
        Field("throttle_time_ms", "int32", "3+"),
        Field("topics", "[]struct", "0-7").of(
            Field("name", "string"),
            Field("partitions", "[]struct").of(
                Field("partition_index", "int32"),
                Field("committed_offset", "int64"),
                Field("committed_leader_epoch", "int32", "5-7", default=-1),
                Field("metadata", "string", nullable="0-7"),
                Field("error_code", "int16"),
            ),
        ),
        Field("error_code", "int16", "2-7"),
        Field("groups", "[]struct", "8+").of(
            Field("group_id", "string"),
            of_partitions(
                Field("partition_index", "int32"),
                Field("committed_offset", "int64"),
                Field("committed_leader_epoch", "int32", default=-1),
                Field("metadata", "string", nullable="8+"),
                Field("error_code", "int16"),
            ),
            Field("error_code", "int16"),
        ),
    ],
)

OFFSET_DELETE = Api(47, "OffsetDelete", "0").of(
    request=[Field("group_id", "string"), of_partitions(Field("partition_index", "int32"))],
    response=[
        Field("error_code", "int16"),
        Field("throttle_time_ms", "int32"),
        of_partitions(Field("partition_index", "int32"), Field("error_code", "int16")),
    ],
)
