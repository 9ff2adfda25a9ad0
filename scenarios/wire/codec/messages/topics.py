"""Topics and configurations, as an administrator creates, changes and describes them."""

from scenarios.wire.codec.schema import Api, Field

CREATE_TOPICS = Api(
    19,
    "CreateTopics",
    "0-7",
    flexible="5+",
    request=[
        Field("topics", "[]struct", "0+").of(
            Field("name", "string", "0+"),
            Field("num_partitions", "int32", "0+"),
            Field("replication_factor", "int16", "0+"),
            Field("assignments", "[]struct", "0+").of(
                Field("partition_index", "int32", "0+"),
                Field("broker_ids", "[]int32", "0+"),
            ),
            Field("configs", "[]struct", "0+").of(
                Field("name", "string", "0+"),
                Field("value", "string", "0+", nullable="0+"),
            ),
        ),
        Field("timeout_ms", "int32", "0+", default=60000),
        Field("validate_only", "bool", "1+"),
    ],
    response=[
        Field("throttle_time_ms", "int32", "2+"),
        Field("topics", "[]struct", "0+").of(
            Field("name", "string", "0+"),
            Field("topic_id", "uuid", "7+"),
            Field("error_code", "int16", "0+"),
            Field("error_message", "string", "1+", nullable="0+"),
            Field("topic_config_error_code", "int16", "5+", tag=0),
            Field("num_partitions", "int32", "5+", default=-1),
            Field("replication_factor", "int16", "5+", default=-1),
            Field("configs", "[]struct", "5+", nullable="5+").of(
                Field("name", "string", "5+"),
                Field("value", "string", "5+", nullable="5+"),
                Field("read_only", "bool", "5+"),
                Field("config_source", "int8", "5+", default=-1),
                Field("is_sensitive", "bool", "5+"),
            ),
        ),
    ],
)

DELETE_TOPICS = Api(
    20,
    "DeleteTopics",
    "0-6",
    flexible="4+",
    request=[
        Field("topics", "[]struct", "6+").of(
            Field("name", "string", "6+", nullable="6+", default=None),
            Field("topic_id", "uuid", "6+"),
        ),
        Field("topic_names", "[]string", "0-5"),
        Field("timeout_ms", "int32", "0+"),
    ],
    response=[
        Field("throttle_time_ms", "int32", "1+"),
        Field("responses", "[]struct", "0+").of(
            Field("name", "string", "0+", nullable="6+"),
            Field("topic_id", "uuid", "6+"),
            Field("error_code", "int16", "0+"),
            Field("error_message", "string", "5+", nullable="5+", default=None),
        ),
    ],
)

CREATE_PARTITIONS = Api(
    37,
    "CreatePartitions",
    "0-3",
    flexible="2+",
    request=[
        Field("topics", "[]struct", "0+").of(
            Field("name", "string", "0+"),
            Field("count", "int32", "0+"),
            Field("assignments", "[]struct", "0+", nullable="0+").of(
                Field("broker_ids", "[]int32", "0+"),
            ),
        ),
        Field("timeout_ms", "int32", "0+"),
        Field("validate_only", "bool", "0+"),
    ],
    response=[
        Field("throttle_time_ms", "int32", "0+"),
        Field("results", "[]struct", "0+").of(
            Field("name", "string", "0+"),
            Field("error_code", "int16", "0+"),
            Field("error_message", "string", "0+", nullable="0+", default=None),
        ),
    ],
)

DESCRIBE_CONFIGS = Api(
    32,
    "DescribeConfigs",
    "0-4",
    flexible="4+",
    request=[
        Field("resources", "[]struct", "0+").of(
            Field("resource_type", "int8", "0+"),
            Field("resource_name", "string", "0+"),
            Field("configuration_keys", "[]string", "0+", nullable="0+"),
        ),
        Field("include_synonyms", "bool", "1+"),
        Field("include_documentation", "bool", "3+"),
    ],
    response=[
        Field("throttle_time_ms", "int32", "0+"),
        Field("results", "[]struct", "0+").of(
            Field("error_code", "int16", "0+"),
            Field("error_message", "string", "0+", nullable="0+"),
            Field("resource_type", "int8", "0+"),
            Field("resource_name", "string", "0+"),
            Field("configs", "[]struct", "0+").of(
                Field("name", "string", "0+"),
                Field("value", "string", "0+", nullable="0+"),
                Field("read_only", "bool", "0+"),
                Field("is_default", "bool", "0"),
                Field("config_source", "int8", "1+", default=-1),
                Field("is_sensitive", "bool", "0+"),
                Field("synonyms", "[]struct", "1+").of(
                    Field("name", "string", "1+"),
                    Field("value", "string", "1+", nullable="0+"),
                    Field("source", "int8", "1+"),
                ),
                Field("config_type", "int8", "3+"),
                Field("documentation", "string", "3+", nullable="0+"),
            ),
        ),
    ],
)

ALTER_CONFIGS = Api(
    33,
    "AlterConfigs",
    "0-2",
    flexible="2+",
    request=[
        Field("resources", "[]struct", "0+").of(
            Field("resource_type", "int8", "0+"),
            Field("resource_name", "string", "0+"),
            Field("configs", "[]struct", "0+").of(
                Field("name", "string", "0+"),
                Field("value", "string", "0+", nullable="0+"),
            ),
        ),
        Field("validate_only", "bool", "0+"),
    ],
    response=[
        Field("throttle_time_ms", "int32", "0+"),
        Field("responses", "[]struct", "0+").of(
            Field("error_code", "int16", "0+"),
            Field("error_message", "string", "0+", nullable="0+"),
            Field("resource_type", "int8", "0+"),
            Field("resource_name", "string", "0+"),
        ),
    ],
)

INCREMENTAL_ALTER_CONFIGS = Api(
    44,
    "IncrementalAlterConfigs",
    "0-1",
    flexible="1+",
    request=[
        Field("resources", "[]struct", "0+").of(
            Field("resource_type", "int8", "0+"),
            Field("resource_name", "string", "0+"),
            Field("configs", "[]struct", "0+").of(
                Field("name", "string", "0+"),
                Field("config_operation", "int8", "0+"),
                Field("value", "string", "0+", nullable="0+"),
            ),
        ),
        Field("validate_only", "bool", "0+"),
    ],
    response=[
        Field("throttle_time_ms", "int32", "0+"),
        Field("responses", "[]struct", "0+").of(
            Field("error_code", "int16", "0+"),
            Field("error_message", "string", "0+", nullable="0+"),
            Field("resource_type", "int8", "0+"),
            Field("resource_name", "string", "0+"),
        ),
    ],
)
