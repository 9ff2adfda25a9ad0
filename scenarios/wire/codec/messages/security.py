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
    "0-2",
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
