"""Requests that few clients send: quotas of clients, and what brokers here do not carry out: SCRAM, features."""

from scenarios.wire.codec.schema import Api, Field

DESCRIBE_CLIENT_QUOTAS = Api(
    48,
    "DescribeClientQuotas",
    "0-1",
    flexible="1+",
    request=[
        Field("components", "[]struct", "0+").of(
            Field("entity_type", "string", "0+"),
            Field("match_type", "int8", "0+"),
            Field("match", "string", "0+", nullable="0+"),
        ),
        Field("strict", "bool", "0+"),
    ],
    response=[
        Field("throttle_time_ms", "int32", "0+"),
        Field("error_code", "int16", "0+"),
        Field("error_message", "string", "0+", nullable="0+"),
        Field("entries", "[]struct", "0+", nullable="0+").of(
            Field("entity", "[]struct", "0+").of(
                Field("entity_type", "string", "0+"),
                Field("entity_name", "string", "0+", nullable="0+"),
            ),
            Field("values", "[]struct", "0+").of(
                Field("key", "string", "0+"),
                Field("value", "float64", "0+"),
            ),
        ),
    ],
)

ALTER_CLIENT_QUOTAS = Api(
    49,
    "AlterClientQuotas",
    "0-1",
    flexible="1+",
    request=[
        Field("entries", "[]struct", "0+").of(
            Field("entity", "[]struct", "0+").of(
                Field("entity_type", "string", "0+"),
                Field("entity_name", "string", "0+", nullable="0+"),
            ),
            Field("ops", "[]struct", "0+").of(
                Field("key", "string", "0+"),
                Field("value", "float64", "0+"),
                Field("remove", "bool", "0+"),
            ),
        ),
        Field("validate_only", "bool", "0+"),
    ],
    response=[
        Field("throttle_time_ms", "int32", "0+"),
        Field("entries", "[]struct", "0+").of(
            Field("error_code", "int16", "0+"),
            Field("error_message", "string", "0+", nullable="0+"),
            Field("entity", "[]struct", "0+").of(
                Field("entity_type", "string", "0+"),
                Field("entity_name", "string", "0+", nullable="0+"),
            ),
        ),
    ],
)

DESCRIBE_USER_SCRAM_CREDENTIALS = Api(
    50,
    "DescribeUserScramCredentials",
    "0",
    flexible="0+",
    request=[
        Field("users", "[]struct", "0+", nullable="0+").of(
            Field("name", "string", "0+"),
        ),
    ],
    response=[
        Field("throttle_time_ms", "int32", "0+"),
        Field("error_code", "int16", "0+"),
        Field("error_message", "string", "0+", nullable="0+"),
        Field("results", "[]struct", "0+").of(
            Field("user", "string", "0+"),
            Field("error_code", "int16", "0+"),
            Field("error_message", "string", "0+", nullable="0+"),
            Field("credential_infos", "[]struct", "0+").of(
                Field("mechanism", "int8", "0+"),
                Field("iterations", "int32", "0+"),
            ),
        ),
    ],
)

ALTER_USER_SCRAM_CREDENTIALS = Api(
    51,
    "AlterUserScramCredentials",
    "0",
    flexible="0+",
    request=[
        Field("deletions", "[]struct", "0+").of(
            Field("name", "string", "0+"),
            Field("mechanism", "int8", "0+"),
        ),
        Field("upsertions", "[]struct", "0+").of(
            Field("name", "string", "0+"),
            Field("mechanism", "int8", "0+"),
            Field("iterations", "int32", "0+"),
            Field("salt", "bytes", "0+"),
            Field("salted_password", "bytes", "0+"),
        ),
    ],
    response=[
        Field("throttle_time_ms", "int32", "0+"),
        Field("results", "[]struct", "0+").of(
            Field("user", "string", "0+"),
            Field("error_code", "int16", "0+"),
            Field("error_message", "string", "0+", nullable="0+"),
        ),
    ],
)

UPDATE_FEATURES = Api(
    57,
    "UpdateFeatures",
    "0-1",
    flexible="0+",
    request=[
        Field("timeout_ms", "int32", "0+", default=60000),
        Field("feature_updates", "[]struct", "0+").of(
            Field("feature", "string", "0+"),
            Field("max_version_level", "int16", "0+"),
            Field("allow_downgrade", "bool", "0"),
            Field("upgrade_type", "int8", "1+", default=1),
        ),
        Field("validate_only", "bool", "1+"),
    ],
    response=[
        Field("throttle_time_ms", "int32", "0+"),
        Field("error_code", "int16", "0+"),
        Field("error_message", "string", "0+", nullable="0+"),
        Field("results", "[]struct", "0+").of(
            Field("feature", "string", "0+"),
            Field("error_code", "int16", "0+"),
            Field("error_message", "string", "0+", nullable="0+"),
        ),
    ],
)
