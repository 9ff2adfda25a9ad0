"""A broker's settings under Kafka's names. Each is declared here once, with its name, default and meaning: the scenario
file and its documentation take them from these declarations."""

from attrs import field, frozen

from brokers.groups.config import GroupCoordinatorConfig
from brokers.log.log_config import DEFAULTS, LogConfig, LogManagerConfig
from brokers.transactions.config import TransactionConfig
from emulator.protocol.configs import CONTROLLER_SOCKET_TIMEOUT, ConfigType, config, field_of


@frozen
class BrokerConfig:
    """The settings of a broker: Kafka's names, with underscores for dots; times in microseconds, sizes in bytes. The
    defaults are those of 2.3.

    Attributes:
        log: the settings of logs whose topics do not set their own.
        log_manager: the settings of all logs together.
        groups: the settings of group coordinators.
        transactions: the settings of transaction coordinators.
    """

    min_insync_replicas: int = config(
        "min.insync.replicas", 1, "acks=all needs that many replicas in the ISR",
        topic_name="min.insync.replicas", dynamic=True,
    )  # fmt: skip
    replica_lag_time_max_us: int = config(
        "replica.lag.time.max.ms", 10_000, "a follower not caught up for longer leaves the ISR", type=ConfigType.LONG
    )
    replica_lag_max_messages: int = config(
        "replica.lag.max.messages",
        4_000,
        "a follower that lags by more leaves the ISR; kafka-0.8 only",
        type=ConfigType.LONG,
    )
    replica_high_watermark_checkpoint_interval_us: int = config(
        "replica.high.watermark.checkpoint.interval.ms",
        5_000,
        "how often high watermarks are saved",
        type=ConfigType.LONG,
    )
    controller_socket_timeout_us: int = field_of(CONTROLLER_SOCKET_TIMEOUT)
    controlled_shutdown_enable: bool = config(
        "controlled.shutdown.enable", True, "whether a broker asks the controller before it ends"
    )
    controlled_shutdown_max_retries: int = config(
        "controlled.shutdown.max.retries", 3, "how often it asks before it ends without the controller"
    )
    controlled_shutdown_retry_backoff_us: int = config(
        "controlled.shutdown.retry.backoff.ms", 5_000, "pause after each failure", at_least=0, type=ConfigType.LONG
    )
    num_io_threads: int = config(
        "num.io.threads", 8, "request handler threads, where requests take time (`cluster.service`)"
    )
    queued_max_requests: int = config(
        "queued.max.requests", 500, "requests that wait for these threads; more are not read from their connections"
    )
    failed_authentication_delay_us: int = config(
        "connection.failed.authentication.delay.ms", 100, "how much later a login that fails is answered (since 2.1)",
        at_least=0,
    )  # fmt: skip
    connections_max_reauth_us: int = config(
        "connections.max.reauth.ms", 0, "how long a login holds; 0: as long as its connection (since 2.2)",
        at_least=0, type=ConfigType.LONG,
    )  # fmt: skip
    request_timeout_us: int = config(
        "request.timeout.ms", 30_000, "how long a request may be unanswered before it has failed"
    )
    replication_quota_window_num: int = config(
        "replication.quota.window.num", 11, "number of samples in the window of a replication throttle"
    )
    replication_quota_window_size_us: int = config("replication.quota.window.size.seconds", 1, "length of one sample")
    auto_create_topics_enable: bool = config(
        "auto.create.topics.enable", True, "whether a real client's question about an unknown topic creates it"
    )
    num_partitions: int = config("num.partitions", 1, "partitions of topics that are created without a number of them")
    default_replication_factor: int = config(
        "default.replication.factor", 1, "replicas of topics that are created by themselves"
    )
    fetch_max_bytes: int = config(
        "fetch.max.bytes", 55 << 20, "the largest number of bytes in an answer to Fetch; before 2.5 no limit",
        at_least=1024,
    )  # fmt: skip
    fetch_session_slots: int = config(
        "max.incremental.fetch.session.cache.slots", 1000, "fetch sessions of real clients that a broker keeps",
        at_least=0,
    )  # fmt: skip
    log: LogConfig = DEFAULTS
    log_manager: LogManagerConfig = field(factory=LogManagerConfig)
    groups: GroupCoordinatorConfig = field(factory=GroupCoordinatorConfig)
    transactions: TransactionConfig = field(factory=TransactionConfig)
    isr_change_propagation_interval_us: int = 2_500_000
    isr_change_propagation_blackout_us: int = 5_000_000
    isr_change_propagation_max_us: int = 60_000_000
