"""Topics and configurations, as an administrator creates, changes and describes them."""

from scenarios.wire.codec.schema import WORDED_ERROR, Api, Field

CREATE_TOPICS = Api(19, "CreateTopics", "0-7", flexible="5+").of(
    request=[
        Field("topics", "[]struct").of(
            Field("name", "string"),
            Field("num_partitions", "int32"),
            Field("replication_factor", "int16"),
            Field("assignments", "[]struct").of(Field("partition_index", "int32"), Field("broker_ids", "[]int32")),
            Field("configs", "[]struct").of(Field("name", "string"), Field("value", "string", nullable="0+")),
        ),
        Field("timeout_ms", "int32", default=60000),
        Field("validate_only", "bool", "1+"),
    ],
    response=[
        Field("throttle_time_ms", "int32", "2+"),
        Field("topics", "[]struct").of(
            Field("name", "string"),
            Field("topic_id", "uuid", "7+"),
            Field("error_code", "int16"),
            Field("error_message", "string", "1+", nullable="0+"),
            Field("topic_config_error_code", "int16", "5+", tag=0),
            Field("num_partitions", "int32", "5+", default=-1),
            Field("replication_factor", "int16", "5+", default=-1),
            Field("configs", "[]struct", "5+", nullable="5+").of(
                Field("name", "string"),
                Field("value", "string", nullable="5+"),
                Field("read_only", "bool"),
                Field("config_source", "int8", default=-1),
                Field("is_sensitive", "bool"),
            ),
        ),
    ],
)

DELETE_TOPICS = Api(20, "DeleteTopics", "0-6", flexible="4+").of(
    request=[
        Field("topics", "[]struct", "6+").of(
            Field("name", "string", nullable="6+", default=None), Field("topic_id", "uuid")
        ),
        Field("topic_names", "[]string", "0-5"),
        Field("timeout_ms", "int32"),
    ],
    response=[
        Field("throttle_time_ms", "int32", "1+"),
        Field("responses", "[]struct").of(
            Field("name", "string", nullable="6+"),
            Field("topic_id", "uuid", "6+"),
            Field("error_code", "int16"),
            Field("error_message", "string", "5+", nullable="5+", default=None),
        ),
    ],
)

CREATE_PARTITIONS = Api(37, "CreatePartitions", "0-3", flexible="2+").of(
    request=[
        Field("topics", "[]struct").of(
            Field("name", "string"),
            Field("count", "int32"),
            Field("assignments", "[]struct", nullable="0+").of(Field("broker_ids", "[]int32")),
        ),
        Field("timeout_ms", "int32"),
        Field("validate_only", "bool"),
    ],
    response=[
        Field("throttle_time_ms", "int32"),
        Field("results", "[]struct").of(
            Field("name", "string"),
            Field("error_code", "int16"),
            Field("error_message", "string", nullable="0+", default=None),
        ),
    ],
)

DESCRIBE_CONFIGS = Api(32, "DescribeConfigs", "0-4", flexible="4+").of(
    request=[
        Field("resources", "[]struct").of(
            Field("resource_type", "int8"),
            Field("resource_name", "string"),
            Field("configuration_keys", "[]string", nullable="0+"),
        ),
        Field("include_synonyms", "bool", "1+"),
        Field("include_documentation", "bool", "3+"),
    ],
    response=[
        Field("throttle_time_ms", "int32"),
        Field("results", "[]struct").of(
            *WORDED_ERROR,
            Field("resource_type", "int8"),
            Field("resource_name", "string"),
            Field("configs", "[]struct").of(
                Field("name", "string"),
                Field("value", "string", nullable="0+"),
                Field("read_only", "bool"),
                Field("is_default", "bool", "0"),
                Field("config_source", "int8", "1+", default=-1),
                Field("is_sensitive", "bool"),
                Field("synonyms", "[]struct", "1+").of(
                    Field("name", "string"), Field("value", "string", nullable="0+"), Field("source", "int8")
                ),
                Field("config_type", "int8", "3+"),
                Field("documentation", "string", "3+", nullable="0+"),
            ),
        ),
    ],
)

ALTER_CONFIGS = Api(33, "AlterConfigs", "0-2", flexible="2+").of(
    request=[
        Field("resources", "[]struct").of(
            Field("resource_type", "int8"),
            Field("resource_name", "string"),
            Field("configs", "[]struct").of(Field("name", "string"), Field("value", "string", nullable="0+")),
        ),
        Field("validate_only", "bool"),
    ],
    response=[
        Field("throttle_time_ms", "int32"),
        Field("responses", "[]struct").of(
            *WORDED_ERROR, Field("resource_type", "int8"), Field("resource_name", "string")
        ),
    ],
)

INCREMENTAL_ALTER_CONFIGS = Api(44, "IncrementalAlterConfigs", "0-1", flexible="1+").of(
    request=[
        Field("resources", "[]struct").of(
            Field("resource_type", "int8"),
            Field("resource_name", "string"),
            Field("configs", "[]struct").of(
                Field("name", "string"), Field("config_operation", "int8"), Field("value", "string", nullable="0+")
            ),
        ),
        Field("validate_only", "bool"),
    ],
    response=[
        Field("throttle_time_ms", "int32"),
        Field("responses", "[]struct").of(
            *WORDED_ERROR, Field("resource_type", "int8"), Field("resource_name", "string")
        ),
    ],
)
