"""The settings of group coordinators (kafka.coordinator.group: GroupConfig and OffsetConfig, 2.3)."""

from attrs import frozen

from emulator.protocol.configs import ConfigType, config

GROUP_METADATA_TOPIC = "__consumer_offsets"
INT_MAX = 2**31 - 1


@frozen
class GroupCoordinatorConfig:
    """The settings of a group coordinator: Kafka's names, with underscores for dots; times in microseconds, sizes in
    bytes."""

    min_session_timeout_us: int = config(
        "group.min.session.timeout.ms", 6_000, "a member of a group may not ask for a shorter session"
    )
    max_session_timeout_us: int = config(
        "group.max.session.timeout.ms", 1_800_000, "a member of a group may not ask for a longer session"
    )
    initial_rebalance_delay_us: int = config(
        "group.initial.rebalance.delay.ms", 3_000, "how long an empty group waits for more members", at_least=0
    )
    max_size: int = config("group.max.size", INT_MAX, "how many members a group may have")
    num_partitions: int = config(
        "offsets.topic.num.partitions", 50, "partitions of `__consumer_offsets`, when a broker creates it"
    )
    replication_factor: int = config(
        "offsets.topic.replication.factor",
        3,
        "its replicas; it is not created before that many brokers are alive",
        type=ConfigType.SHORT,
    )
    segment_bytes: int = config("offsets.topic.segment.bytes", 100 << 20, "its segment.bytes", at_least=14)
    retention_us: int = config(
        "offsets.retention.minutes", 7 * 24 * 60, "how long the offsets of a group without members are kept"
    )
    retention_check_interval_us: int = config(
        "offsets.retention.check.interval.ms",
        600_000,
        "how often offsets are looked for that have expired",
        type=ConfigType.LONG,
    )
    metadata_max_bytes: int = config(
        "offset.metadata.max.bytes", 4_096, "the longest text that a client may commit with an offset", at_least=0
    )
    commit_timeout_us: int = config(
        "offsets.commit.timeout.ms", 5_000, "how long a commit waits for the replicas of `__consumer_offsets`"
    )
