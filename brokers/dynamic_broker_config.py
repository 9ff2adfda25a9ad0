"""The settings that a running broker accepts, from AlterConfigs and IncrementalAlterConfigs and from the operator's
tool (kafka.server.DynamicBrokerConfig and DynamicThreadPool, 1.1 to 2.7; KIP-226)."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import field, frozen

from brokers.config_def import RATES, ConfigDefinition, ConfigException, ServerProperties

Config = Mapping[str, str]
THREAD_POOLS = (
    "background.threads", "num.io.threads", "num.network.threads", "num.recovery.threads.per.data.dir",
    "num.replica.fetchers",
)  # fmt: skip
"""The settings that are numbers of threads (DynamicThreadPool.ReconfigurableConfigs)."""
CLEANERS = "log.cleaner.threads"
"""The number of cleaner threads, which LogCleaner checks by itself (validateReconfiguration)."""
PER_BROKER = ("listeners", "advertised.listeners", "listener.security.protocol.map")
"""The settings that each broker has for itself."""
_STATIC = """
    advertised.host.name advertised.port alter.config.policy.class.name alter.log.dirs.replication.quota.window.num
    alter.log.dirs.replication.quota.window.size.seconds authorizer.class.name auto.create.topics.enable
    auto.leader.rebalance.enable broker.id broker.id.generation.enable broker.rack client.quota.callback.class
    connection.failed.authentication.delay.ms connections.max.idle.ms control.plane.listener.name
    controlled.shutdown.enable controlled.shutdown.max.retries controlled.shutdown.retry.backoff.ms
    controller.quota.window.num controller.quota.window.size.seconds controller.socket.timeout.ms
    create.topic.policy.class.name default.replication.factor delegation.token.expiry.check.interval.ms
    delegation.token.expiry.time.ms delegation.token.master.key delegation.token.max.lifetime.ms
    delete.records.purgatory.purge.interval.requests delete.topic.enable fetch.max.bytes
    fetch.purgatory.purge.interval.requests group.initial.rebalance.delay.ms group.max.session.timeout.ms
    group.max.size group.min.session.timeout.ms host.name inter.broker.listener.name inter.broker.protocol.version
    kafka.metrics.polling.interval.secs kafka.metrics.reporters leader.imbalance.check.interval.seconds
    leader.imbalance.per.broker.percentage log.cleaner.enable log.dir log.dirs
    log.flush.offset.checkpoint.interval.ms log.flush.scheduler.interval.ms
    log.flush.start.offset.checkpoint.interval.ms log.message.format.version log.retention.check.interval.ms
    log.retention.hours log.retention.minutes log.roll.hours log.roll.jitter.hours
    max.incremental.fetch.session.cache.slots metrics.num.samples metrics.recording.level metrics.sample.window.ms
    num.partitions num.replica.alter.log.dirs.threads offset.metadata.max.bytes offsets.commit.required.acks
    offsets.commit.timeout.ms offsets.load.buffer.size offsets.retention.check.interval.ms offsets.retention.minutes
    offsets.topic.compression.codec offsets.topic.num.partitions offsets.topic.replication.factor
    offsets.topic.segment.bytes password.encoder.cipher.algorithm password.encoder.keyfactory.algorithm
    password.encoder.old.secret password.encoder.secret producer.purgatory.purge.interval.requests
    queued.max.request.bytes queued.max.requests quota.consumer.default quota.producer.default quota.window.num
    quota.window.size.seconds replica.fetch.backoff.ms replica.fetch.max.bytes replica.fetch.min.bytes
    replica.fetch.response.max.bytes replica.fetch.wait.max.ms replica.high.watermark.checkpoint.interval.ms
    replica.lag.max.messages replica.lag.time.max.ms replica.selector.class replica.socket.receive.buffer.bytes
    replica.socket.timeout.ms replication.quota.window.num replication.quota.window.size.seconds request.timeout.ms
    reserved.broker.max.id security.inter.broker.protocol socket.receive.buffer.bytes socket.request.max.bytes
    socket.send.buffer.bytes transaction.abort.timed.out.transaction.cleanup.interval.ms transaction.max.timeout.ms
    transaction.remove.expired.transaction.cleanup.interval.ms transaction.state.log.load.buffer.size
    transaction.state.log.min.isr transaction.state.log.num.partitions transaction.state.log.replication.factor
    transaction.state.log.segment.bytes transactional.id.expiration.ms zookeeper.clientCnxnSocket zookeeper.connect
    zookeeper.connection.timeout.ms zookeeper.max.in.flight.requests zookeeper.session.timeout.ms zookeeper.set.acl
    zookeeper.ssl.cipher.suites zookeeper.ssl.client.enable zookeeper.ssl.crl.enable zookeeper.ssl.enabled.protocols
    zookeeper.ssl.endpoint.identification.algorithm zookeeper.ssl.keystore.location zookeeper.ssl.keystore.password
    zookeeper.ssl.keystore.type zookeeper.ssl.ocsp.enable zookeeper.ssl.protocol zookeeper.ssl.truststore.location
    zookeeper.ssl.truststore.password zookeeper.ssl.truststore.type zookeeper.sync.time.ms
"""
STATIC = tuple(_STATIC.split())
"""The names that brokers of 1.1 to 2.7 know beside these and ``DYNAMIC``, apart from those of SSL and SASL."""


class RefusedConfigs(ConfigException):
    """Settings that a running broker does not accept, in Kafka's words."""

    def __init__(self, what: str) -> None:
        Exception.__init__(self, what)


@frozen
class DynamicBrokerConfig:
    """The layers of a broker's settings.

    Attributes:
        server: the settings with which the brokers were started.
        default: the dynamic settings of all brokers.
        own: the dynamic settings of this broker alone.
    """

    server: ServerProperties
    default: Config = field(factory=dict)
    own: Config = field(factory=dict)

    def validate(self, config: Mapping[str, str | None], *, per_broker: bool) -> dict[str, str]:
        """Check the dynamic settings that one broker (``per_broker``) or all brokers shall have. Returns them with
        their values as Kafka shows them; names that Kafka does not know are kept as they are. Raises:
        ConfigException."""
        self._check_names(config, per_broker=per_broker)
        valid = {}
        for name, value in config.items():
            known = self._definition(name)
            valid[name] = str(value) if known is None else known.parse(value)
        before = (self.own, self.default)
        after = (valid, self.default) if per_broker else (self.own, valid)
        for name in filter(self.server.__contains__, (*THREAD_POOLS, CLEANERS)):
            why_not = self._why_not_cleaners if name == CLEANERS else self._why_not_threads
            why = why_not(name, self._threads(name, before), self._threads(name, after))
            if why:
                raise RefusedConfigs(
                    f"Invalid value org.apache.kafka.common.config.ConfigException: {why} for configuration Invalid "
                    "dynamic configuration"
                )
        return valid

    def _check_names(self, names: Mapping[str, object], *, per_broker: bool) -> None:
        fixed = [name for name in names if self._is_fixed(name)]
        if fixed:
            raise RefusedConfigs(f"Cannot update these configs dynamically: Set({', '.join(fixed)})")
        own = [name for name in names if name in PER_BROKER and not per_broker]
        if own:
            why = "Cannot update these configs at default cluster level, broker id must be specified"
            raise RefusedConfigs(f"{why}: Set({', '.join(own)})")

    def _is_fixed(self, name: str) -> bool:
        found = self.server.get(name)
        return name in STATIC if found is None else not found.is_dynamic

    def _definition(self, name: str) -> ConfigDefinition | None:
        found = self.server.get(name)
        return RATES.get(name) if found is None else found.definition

    def _threads(self, name: str, layers: tuple[Config, ...]) -> int:
        return int(next((layer[name] for layer in layers if name in layer), self.server[name].value))

    @staticmethod
    def _why_not_threads(name: str, before: int, after: int) -> str:
        limits = {
            "should be at least 1": after < 1,
            f"should be at least half the current value {before}": after < before // 2,
            f"should not be greater than double the current value {before}": after > before * 2,
        }
        failed = f"Dynamic thread count update validation failed for {name}={after}, value"
        return next((f"{failed} {limit}" for limit, is_broken in limits.items() if is_broken), "")

    @staticmethod
    def _why_not_cleaners(_name: str, before: int, after: int) -> str:
        limits = {
            "should be at least 1": after < 1,
            f"cannot be reduced to less than half the current value {before}": after < before // 2,
            f"cannot be increased to more than double the current value {before}": after > before * 2,
        }
        return next((f"Log cleaner threads {limit}" for limit, is_broken in limits.items() if is_broken), "")
