"""CreateAcls and DeleteAcls, which a broker without an authorizer refuses; DescribeAcls is in ``security``."""

from scenarios.wire.codec.schema import Api, Field

CREATE_ACLS = Api(
    30,
    "CreateAcls",
    "0-2",
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
    "0-2",
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
