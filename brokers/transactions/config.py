"""The settings of transaction coordinators (kafka.coordinator.transaction.TransactionConfig, 2.3)."""

from collections.abc import Mapping

from attrs import evolve, frozen

from emulator.protocol.configs import ConfigType, config

TRANSACTION_STATE_TOPIC = "__transaction_state"


@frozen
class TransactionConfig:
    """The settings of a transaction coordinator: Kafka's names, with underscores for dots; times in microseconds, sizes
    in bytes."""

    max_timeout_us: int = config(
        "transaction.max.timeout.ms", 900_000, "a producer may not ask for a longer `transaction.timeout.ms`"
    )
    id_expiration_us: int = config(
        "transactional.id.expiration.ms", 7 * 86_400_000, "how long an unused transactional id is remembered"
    )
    abort_interval_us: int = config(
        "transaction.abort.timed.out.transaction.cleanup.interval.ms", 60_000,
        "how often coordinators look for transactions that last too long, and abort them",
    )  # fmt: skip
    expire_interval_us: int = config(
        "transaction.remove.expired.transaction.cleanup.interval.ms", 3_600_000,
        "how often coordinators look for transactional ids that have expired",
    )  # fmt: skip
    partition_verification_enable: bool = config(
        "transaction.partition.verification.enable", True,
        "whether a leader asks the coordinator before it appends the first records of a transaction (since 3.6)",
        dynamic=True,
    )  # fmt: skip
    num_partitions: int = config(
        "transaction.state.log.num.partitions", 50, "partitions of `__transaction_state`, when a broker creates it"
    )
    replication_factor: int = config(
        "transaction.state.log.replication.factor",
        3,
        "its replicas; it is not created before that many brokers are alive",
        type=ConfigType.SHORT,
    )
    min_isr: int = config("transaction.state.log.min.isr", 2, "its min.insync.replicas")
    segment_bytes: int = config("transaction.state.log.segment.bytes", 100 << 20, "its segment.bytes", at_least=14)

    def changed(self, settings: Mapping[str, str]) -> "TransactionConfig":
        """A copy with what ``settings`` change while brokers run (DynamicProducerStateManagerConfig, 3.6)."""
        enabled = settings.get("transaction.partition.verification.enable")
        return self if enabled is None else evolve(self, partition_verification_enable=enabled.lower() == "true")
