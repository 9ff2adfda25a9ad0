"""Requests that a broker without security can only refuse."""

from scenarios.wire.codec.schema import WORDED_ERROR, Api, Field

SASL_HANDSHAKE = Api(17, "SaslHandshake", "0-1").of(
    request=[Field("mechanism", "string")], response=[Field("error_code", "int16"), Field("mechanisms", "[]string")]
)

DESCRIBE_ACLS = Api(29, "DescribeAcls", "0-3", flexible="2+").of(
    request=[
        Field("resource_type_filter", "int8"),
        Field("resource_name_filter", "string", nullable="0+"),
        Field("pattern_type_filter", "int8", "1+", default=3),
        Field("principal_filter", "string", nullable="0+"),
        Field("host_filter", "string", nullable="0+"),
        Field("operation", "int8"),
        Field("permission_type", "int8"),
    ],
    response=[
        Field("throttle_time_ms", "int32"),
        *WORDED_ERROR,
        Field("resources", "[]struct").of(
            Field("resource_type", "int8"),
            Field("resource_name", "string"),
            Field("pattern_type", "int8", "1+", default=3),
            Field("acls", "[]struct").of(
                Field("principal", "string"),
                Field("host", "string"),
                Field("operation", "int8"),
                Field("permission_type", "int8"),
            ),
        ),
    ],
)

CREATE_ACLS = Api(30, "CreateAcls", "0-3", flexible="2+").of(
    request=[
        Field("creations", "[]struct").of(
            Field("resource_type", "int8"),
            Field("resource_name", "string"),
            Field("resource_pattern_type", "int8", "1+", default=3),
            Field("principal", "string"),
            Field("host", "string"),
            Field("operation", "int8"),
            Field("permission_type", "int8"),
        )
    ],
    response=[
        Field("throttle_time_ms", "int32"),
        Field("results", "[]struct").of(Field("error_code", "int16"), Field("error_message", "string", nullable="0+")),
    ],
)

DELETE_ACLS = Api(31, "DeleteAcls", "0-3", flexible="2+").of(
    request=[
        Field("filters", "[]struct").of(
            Field("resource_type_filter", "int8"),
            Field("resource_name_filter", "string", nullable="0+"),
            Field("pattern_type_filter", "int8", "1+", default=3),
            Field("principal_filter", "string", nullable="0+"),
            Field("host_filter", "string", nullable="0+"),
            Field("operation", "int8"),
            Field("permission_type", "int8"),
        )
    ],
    response=[
        Field("throttle_time_ms", "int32"),
        Field("filter_results", "[]struct").of(
            *WORDED_ERROR,
            Field("matching_acls", "[]struct").of(
                *WORDED_ERROR,
                Field("resource_type", "int8"),
                Field("resource_name", "string"),
                Field("pattern_type", "int8", "1+", default=3),
                Field("principal", "string"),
                Field("host", "string"),
                Field("operation", "int8"),
                Field("permission_type", "int8"),
            ),
        ),
    ],
)

SASL_AUTHENTICATE = Api(36, "SaslAuthenticate", "0-2", flexible="2+").of(
    request=[Field("auth_bytes", "bytes")],
    response=[*WORDED_ERROR, Field("auth_bytes", "bytes"), Field("session_lifetime_ms", "int64", "1+")],
)

CREATE_DELEGATION_TOKEN = Api(38, "CreateDelegationToken", "0-3", flexible="2+").of(
    request=[
        Field("owner_principal_type", "string", "3+", nullable="3+"),
        Field("owner_principal_name", "string", "3+", nullable="3+"),
        Field("renewers", "[]struct").of(Field("principal_type", "string"), Field("principal_name", "string")),
        Field("max_lifetime_ms", "int64"),
    ],
    response=[
        Field("error_code", "int16"),
        Field("principal_type", "string"),
        Field("principal_name", "string"),
        Field("token_requester_principal_type", "string", "3+"),
        Field("token_requester_principal_name", "string", "3+"),
        Field("issue_timestamp_ms", "int64"),
        Field("expiry_timestamp_ms", "int64"),
        Field("max_timestamp_ms", "int64"),
        Field("token_id", "string"),
        Field("hmac", "bytes"),
        Field("throttle_time_ms", "int32"),
    ],
)

RENEW_DELEGATION_TOKEN = Api(39, "RenewDelegationToken", "0-2", flexible="2+").of(
    request=[Field("hmac", "bytes"), Field("renew_period_ms", "int64")],
    response=[Field("error_code", "int16"), Field("expiry_timestamp_ms", "int64"), Field("throttle_time_ms", "int32")],
)

EXPIRE_DELEGATION_TOKEN = Api(40, "ExpireDelegationToken", "0-2", flexible="2+").of(
    request=[Field("hmac", "bytes"), Field("expiry_time_period_ms", "int64")],
    response=[Field("error_code", "int16"), Field("expiry_timestamp_ms", "int64"), Field("throttle_time_ms", "int32")],
)

DESCRIBE_DELEGATION_TOKEN = Api(41, "DescribeDelegationToken", "0-3", flexible="2+").of(
    request=[
        Field("owners", "[]struct", nullable="0+").of(
            Field("principal_type", "string"), Field("principal_name", "string")
        )
    ],
    response=[
        Field("error_code", "int16"),
        Field("tokens", "[]struct").of(
            Field("principal_type", "string"),
            Field("principal_name", "string"),
            Field("token_requester_principal_type", "string", "3+"),
            Field("token_requester_principal_name", "string", "3+"),
            Field("issue_timestamp", "int64"),
            Field("expiry_timestamp", "int64"),
            Field("max_timestamp", "int64"),
            Field("token_id", "string"),
            Field("hmac", "bytes"),
            Field("renewers", "[]struct").of(Field("principal_type", "string"), Field("principal_name", "string")),
        ),
        Field("throttle_time_ms", "int32"),
    ],
)
