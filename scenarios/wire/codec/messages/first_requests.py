"""The first requests of a client: the versions that a broker speaks, and what it knows of the cluster."""

from scenarios.wire.codec.schema import Api, Field

API_VERSIONS = Api(18, "ApiVersions", "0-4", flexible="3+").of(
    request=[Field("client_software_name", "string", "3+"), Field("client_software_version", "string", "3+")],
    response=[
        Field("error_code", "int16"),
        Field("api_keys", "[]struct").of(
            Field("api_key", "int16"), Field("min_version", "int16"), Field("max_version", "int16")
        ),
        Field("throttle_time_ms", "int32", "1+"),
        Field("supported_features", "[]struct", "3+", tag=0).of(
            Field("name", "string"), Field("min_version", "int16"), Field("max_version", "int16")
        ),
        Field("finalized_features_epoch", "int64", "3+", tag=1, default=-1),
        Field("finalized_features", "[]struct", "3+", tag=2).of(
            Field("name", "string"), Field("max_version_level", "int16"), Field("min_version_level", "int16")
        ),
        Field("zk_migration_ready", "bool", "3+", tag=3),
    ],
)

METADATA = Api(3, "Metadata", "0-12", flexible="9+").of(
    request=[
        Field("topics", "[]struct", nullable="1+").of(
            Field("topic_id", "uuid", "10+"), Field("name", "string", nullable="10+")
        ),
        Field("allow_auto_topic_creation", "bool", "4+", default=True),
        Field("include_cluster_authorized_operations", "bool", "8-10"),
        Field("include_topic_authorized_operations", "bool", "8+"),
    ],
    response=[
        Field("throttle_time_ms", "int32", "3+"),
        Field("brokers", "[]struct").of(
            Field("node_id", "int32"),
            Field("host", "string"),
            Field("port", "int32"),
            Field("rack", "string", "1+", nullable="1+", default=None),
        ),
        Field("cluster_id", "string", "2+", nullable="2+", default=None),
        Field("controller_id", "int32", "1+", default=-1),
        Field("topics", "[]struct").of(
            Field("error_code", "int16"),
            Field("name", "string", nullable="12+"),
            Field("topic_id", "uuid", "10+"),
            Field("is_internal", "bool", "1+"),
            Field("partitions", "[]struct").of(
                Field("error_code", "int16"),
                Field("partition_index", "int32"),
                Field("leader_id", "int32"),
                Field("leader_epoch", "int32", "7+", default=-1),
                Field("replica_nodes", "[]int32"),
                Field("isr_nodes", "[]int32"),
                Field("offline_replicas", "[]int32", "5+"),
            ),
            Field("topic_authorized_operations", "int32", "8+", default=-2147483648),
        ),
        Field("cluster_authorized_operations", "int32", "8-10", default=-2147483648),
    ],
)

DESCRIBE_CLUSTER = Api(60, "DescribeCluster", "0-1", flexible="0+").of(
    request=[Field("include_cluster_authorized_operations", "bool"), Field("endpoint_type", "int8", "1+", default=1)],
    response=[
        Field("throttle_time_ms", "int32"),
        Field("error_code", "int16"),
        Field("error_message", "string", nullable="0+", default=None),
        Field("endpoint_type", "int8", "1+", default=1),
        Field("cluster_id", "string"),
        Field("controller_id", "int32", default=-1),
        Field("brokers", "[]struct").of(
            Field("broker_id", "int32"),
            Field("host", "string"),
            Field("port", "int32"),
            Field("rack", "string", nullable="0+", default=None),
        ),
        Field("cluster_authorized_operations", "int32", default=-2147483648),
    ],
)
