"""Requests that a broker without security can only refuse."""

from scenarios.wire.codec.schema import Api, Field

SASL_HANDSHAKE = Api(
    17,
    "SaslHandshake",
    "0-1",
    request=[
        Field("mechanism", "string", "0+"),
    ],
    response=[
        Field("error_code", "int16", "0+"),
        Field("mechanisms", "[]string", "0+"),
    ],
)

DESCRIBE_ACLS = Api(
    29,
    "DescribeAcls",
    "0-3",
    flexible="2+",
    request=[
        Field("resource_type_filter", "int8", "0+"),
        Field("resource_name_filter", "string", "0+", nullable="0+"),
        Field("pattern_type_filter", "int8", "1+", default=3),
        Field("principal_filter", "string", "0+", nullable="0+"),
        Field("host_filter", "string", "0+", nullable="0+"),
        Field("operation", "int8", "0+"),
        Field("permission_type", "int8", "0+"),
    ],
    response=[
        Field("throttle_time_ms", "int32", "0+"),
        Field("error_code", "int16", "0+"),
        Field("error_message", "string", "0+", nullable="0+"),
        Field("resources", "[]struct", "0+").of(
            Field("resource_type", "int8", "0+"),
            Field("resource_name", "string", "0+"),
            Field("pattern_type", "int8", "1+", default=3),
            Field("acls", "[]struct", "0+").of(
                Field("principal", "string", "0+"),
                Field("host", "string", "0+"),
                Field("operation", "int8", "0+"),
                Field("permission_type", "int8", "0+"),
            ),
        ),
    ],
)

CREATE_ACLS = Api(
    30,
    "CreateAcls",
    "0-3",
    flexible="2+",
    request=[
        Field("creations", "[]struct", "0+").of(
            Field("resource_type", "int8", "0+"),
            Field("resource_name", "string", "0+"),
            Field("resource_pattern_type", "int8", "1+", default=3),
            Field("principal", "string", "0+"),
            Field("host", "string", "0+"),
            Field("operation", "int8", "0+"),
            Field("permission_type", "int8", "0+"),
        ),
    ],
    response=[
        Field("throttle_time_ms", "int32", "0+"),
        Field("results", "[]struct", "0+").of(
            Field("error_code", "int16", "0+"),
            Field("error_message", "string", "0+", nullable="0+"),
        ),
    ],
)

DELETE_ACLS = Api(
    31,
    "DeleteAcls",
    "0-3",
    flexible="2+",
    request=[
        Field("filters", "[]struct", "0+").of(
            Field("resource_type_filter", "int8", "0+"),
            Field("resource_name_filter", "string", "0+", nullable="0+"),
            Field("pattern_type_filter", "int8", "1+", default=3),
            Field("principal_filter", "string", "0+", nullable="0+"),
            Field("host_filter", "string", "0+", nullable="0+"),
            Field("operation", "int8", "0+"),
            Field("permission_type", "int8", "0+"),
        ),
    ],
    response=[
        Field("throttle_time_ms", "int32", "0+"),
        Field("filter_results", "[]struct", "0+").of(
            Field("error_code", "int16", "0+"),
            Field("error_message", "string", "0+", nullable="0+"),
            Field("matching_acls", "[]struct", "0+").of(
                Field("error_code", "int16", "0+"),
                Field("error_message", "string", "0+", nullable="0+"),
                Field("resource_type", "int8", "0+"),
                Field("resource_name", "string", "0+"),
                Field("pattern_type", "int8", "1+", default=3),
                Field("principal", "string", "0+"),
                Field("host", "string", "0+"),
                Field("operation", "int8", "0+"),
                Field("permission_type", "int8", "0+"),
            ),
        ),
    ],
)

SASL_AUTHENTICATE = Api(
    36,
    "SaslAuthenticate",
    "0-2",
    flexible="2+",
    request=[
        Field("auth_bytes", "bytes", "0+"),
    ],
    response=[
        Field("error_code", "int16", "0+"),
        Field("error_message", "string", "0+", nullable="0+"),
        Field("auth_bytes", "bytes", "0+"),
        Field("session_lifetime_ms", "int64", "1+"),
    ],
)

CREATE_DELEGATION_TOKEN = Api(
    38,
    "CreateDelegationToken",
    "0-3",
    flexible="2+",
    request=[
        Field("owner_principal_type", "string", "3+", nullable="3+"),
        Field("owner_principal_name", "string", "3+", nullable="3+"),
        Field("renewers", "[]struct", "0+").of(
            Field("principal_type", "string", "0+"),
            Field("principal_name", "string", "0+"),
        ),
        Field("max_lifetime_ms", "int64", "0+"),
    ],
    response=[
        Field("error_code", "int16", "0+"),
        Field("principal_type", "string", "0+"),
        Field("principal_name", "string", "0+"),
        Field("token_requester_principal_type", "string", "3+"),
        Field("token_requester_principal_name", "string", "3+"),
        Field("issue_timestamp_ms", "int64", "0+"),
        Field("expiry_timestamp_ms", "int64", "0+"),
        Field("max_timestamp_ms", "int64", "0+"),
        Field("token_id", "string", "0+"),
        Field("hmac", "bytes", "0+"),
        Field("throttle_time_ms", "int32", "0+"),
    ],
)

RENEW_DELEGATION_TOKEN = Api(
    39,
    "RenewDelegationToken",
    "0-2",
    flexible="2+",
    request=[
        Field("hmac", "bytes", "0+"),
        Field("renew_period_ms", "int64", "0+"),
    ],
    response=[
        Field("error_code", "int16", "0+"),
        Field("expiry_timestamp_ms", "int64", "0+"),
        Field("throttle_time_ms", "int32", "0+"),
    ],
)

EXPIRE_DELEGATION_TOKEN = Api(
    40,
    "ExpireDelegationToken",
    "0-2",
    flexible="2+",
    request=[
        Field("hmac", "bytes", "0+"),
        Field("expiry_time_period_ms", "int64", "0+"),
    ],
    response=[
        Field("error_code", "int16", "0+"),
        Field("expiry_timestamp_ms", "int64", "0+"),
        Field("throttle_time_ms", "int32", "0+"),
    ],
)

DESCRIBE_DELEGATION_TOKEN = Api(
    41,
    "DescribeDelegationToken",
    "0-3",
    flexible="2+",
    request=[
        Field("owners", "[]struct", "0+", nullable="0+").of(
            Field("principal_type", "string", "0+"),
            Field("principal_name", "string", "0+"),
        ),
    ],
    response=[
        Field("error_code", "int16", "0+"),
        Field("tokens", "[]struct", "0+").of(
            Field("principal_type", "string", "0+"),
            Field("principal_name", "string", "0+"),
            Field("token_requester_principal_type", "string", "3+"),
            Field("token_requester_principal_name", "string", "3+"),
            Field("issue_timestamp", "int64", "0+"),
            Field("expiry_timestamp", "int64", "0+"),
            Field("max_timestamp", "int64", "0+"),
            Field("token_id", "string", "0+"),
            Field("hmac", "bytes", "0+"),
            Field("renewers", "[]struct", "0+").of(
                Field("principal_type", "string", "0+"),
                Field("principal_name", "string", "0+"),
            ),
        ),
        Field("throttle_time_ms", "int32", "0+"),
    ],
)
