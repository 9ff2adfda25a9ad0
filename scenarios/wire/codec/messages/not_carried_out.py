"""Requests that few clients send: quotas of clients, and what brokers here do not carry out: SCRAM, features."""

from scenarios.wire.codec.schema import WORDED_ERROR, Api, Field

DESCRIBE_CLIENT_QUOTAS = Api(48, "DescribeClientQuotas", "0-1", flexible="1+").of(
    request=[
        Field("components", "[]struct").of(
            Field("entity_type", "string"), Field("match_type", "int8"), Field("match", "string", nullable="0+")
        ),
        Field("strict", "bool"),
    ],
    response=[
        Field("throttle_time_ms", "int32"),
        *WORDED_ERROR,
        Field("entries", "[]struct", nullable="0+").of(
            Field("entity", "[]struct").of(
                Field("entity_type", "string"), Field("entity_name", "string", nullable="0+")
            ),
            Field("values", "[]struct").of(Field("key", "string"), Field("value", "float64")),
        ),
    ],
)

ALTER_CLIENT_QUOTAS = Api(49, "AlterClientQuotas", "0-1", flexible="1+").of(
    request=[
        Field("entries", "[]struct").of(
            Field("entity", "[]struct").of(
                Field("entity_type", "string"), Field("entity_name", "string", nullable="0+")
            ),
            Field("ops", "[]struct").of(Field("key", "string"), Field("value", "float64"), Field("remove", "bool")),
        ),
        Field("validate_only", "bool"),
    ],
    response=[
        Field("throttle_time_ms", "int32"),
        Field("entries", "[]struct").of(
            *WORDED_ERROR,
            Field("entity", "[]struct").of(
                Field("entity_type", "string"), Field("entity_name", "string", nullable="0+")
            ),
        ),
    ],
)

DESCRIBE_USER_SCRAM_CREDENTIALS = Api(50, "DescribeUserScramCredentials", "0", flexible="0+").of(
    request=[Field("users", "[]struct", nullable="0+").of(Field("name", "string"))],
    response=[
        Field("throttle_time_ms", "int32"),
        *WORDED_ERROR,
        Field("results", "[]struct").of(
            Field("user", "string"),
            *WORDED_ERROR,
            Field("credential_infos", "[]struct").of(Field("mechanism", "int8"), Field("iterations", "int32")),
        ),
    ],
)

ALTER_USER_SCRAM_CREDENTIALS = Api(51, "AlterUserScramCredentials", "0", flexible="0+").of(
    request=[
        Field("deletions", "[]struct").of(Field("name", "string"), Field("mechanism", "int8")),
        Field("upsertions", "[]struct").of(
            Field("name", "string"),
            Field("mechanism", "int8"),
            Field("iterations", "int32"),
            Field("salt", "bytes"),
            Field("salted_password", "bytes"),
        ),
    ],
    response=[
        Field("throttle_time_ms", "int32"),
        Field("results", "[]struct").of(
            Field("user", "string"), Field("error_code", "int16"), Field("error_message", "string", nullable="0+")
        ),
    ],
)

UPDATE_FEATURES = Api(57, "UpdateFeatures", "0-1", flexible="0+").of(
    request=[
        Field("timeout_ms", "int32", default=60000),
        Field("feature_updates", "[]struct").of(
            Field("feature", "string"),
            Field("max_version_level", "int16"),
            Field("allow_downgrade", "bool", "0"),
            Field("upgrade_type", "int8", "1+", default=1),
        ),
        Field("validate_only", "bool", "1+"),
    ],
    response=[
        Field("throttle_time_ms", "int32"),
        *WORDED_ERROR,
        Field("results", "[]struct").of(
            Field("feature", "string"), Field("error_code", "int16"), Field("error_message", "string", nullable="0+")
        ),
    ],
)
