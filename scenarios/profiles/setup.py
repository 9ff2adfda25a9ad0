"""From a scenario to the set-up of its cluster: profile, settings and strategy, composed."""

from attrs import evolve

from brokers.lifecycle import BrokerSpec
from brokers.log import LogManagerConfig, Writeback
from brokers.log.config import BROKER_NAMES, DEFAULTS, NEVER, TOPIC_NAMES
from brokers.partition.isr_rules import StuckOrSlow
from brokers.policies import BrokerConfig, BrokerPolicies
from controller import ControllerPolicies
from controller.reassignment.kafka_42 import Kafka42
from controller.reassignment.kafka_6794 import Kafka6794, above_target, literal
from controller.reassignment.policy import ReassignmentProtocol
from emulator.disks import DiskSpeed
from emulator.network import Card, NetworkSpec
from emulator.protocol.types import TopicPartition
from emulator.zookeeper import ZkSpec
from fetchers import FetcherPolicies
from scenarios.clients import Consumption, Workload
from scenarios.cluster import ClusterSetup, TopicSetup
from scenarios.model import DiskSpec, Scenario, TopicSpec, WorkloadSpec
from scenarios.model.configs import LONG_MAX, QUOTA_RATES
from scenarios.model.consumers import ConsumerSpec
from scenarios.model.workloads import STICKY
from scenarios.profiles.releases import BUNDLES


def cluster_setup(scenario: Scenario) -> ClusterSetup:
    """The cluster that ``scenario`` describes, under its profile and its strategy."""
    spec = scenario.cluster
    return ClusterSetup(
        brokers=spec.brokers,
        broker=BrokerSpec(_broker_policies(scenario), _fetcher_policies(scenario)),
        controller=_controller_policies(scenario),
        network=_network(scenario),
        zk=ZkSpec(
            rtt_us=spec.zk.rtt_us,
            session_timeout_us=scenario.session_timeout_us,
            max_in_flight=spec.zk.max_in_flight,
        ),
        racks=spec.racks,
        log_dirs=spec.log_dir_names,
        disk_speed=_disk_speed(spec.disk),
        topics=tuple(topic_setup(scenario, topic) for topic in scenario.topics),
        workloads=tuple(one for load in scenario.workloads for one in _workloads(scenario, load)),
        consumers=tuple(_consumption(scenario, consumer) for consumer in scenario.consumers),
        broker_settings=_quota_rates(scenario),
        moves_forbid_expansion=BUNDLES[scenario.profile].moves_forbid_expansion,
    )


def lacks_metrics(profile: str) -> frozenset[str]:
    """The names of the metrics that brokers of ``profile`` do not have."""
    return BUNDLES[profile].brokers.lacks_metrics


def _network(scenario: Scenario) -> NetworkSpec:
    spec = scenario.cluster.network
    cards = {
        broker: Card(card.egress or spec.egress, card.ingress or spec.ingress)
        for card in spec.cards
        for broker in card.brokers
    }
    return NetworkSpec(spec.latency_us, spec.jitter_us, spec.egress, spec.ingress, spec.sigma, cards)


def topic_setup(scenario: Scenario, topic: TopicSpec) -> TopicSetup:
    """A topic of ``scenario``, or one that its method creates."""
    lists = topic.replica_lists(scenario.cluster.brokers)
    sizes = [load.message_size for load in scenario.workloads if load.topic == topic.name]
    config = {name: str(value).lower() for name, value in topic.config.items()}
    return TopicSetup(topic.name, dict(enumerate(lists)), topic.size_bytes, (sizes or [1024])[0], config)


def _workloads(scenario: Scenario, load: WorkloadSpec) -> list[Workload]:
    """One for each producer; together they have the rate."""
    count = next(topic.partitions for topic in all_topics(scenario) if topic.name == load.topic)
    partitions = tuple(TopicPartition(load.topic, partition) for partition in range(count))
    each, extra = divmod(load.producer_rate, load.producers)
    timeout_ms = load.config.get("request.timeout.ms", scenario.settings()["request.timeout.ms"])
    return [
        Workload(
            partitions,
            each + (number < extra),
            load.message_size,
            load.required_acks,
            load.linger_us,
            load.start_us,
            load.stop_us,
            request_timeout_us=int(timeout_ms) * 1000,
            delivery_timeout_us=load.delivery_timeout_us,
            retry_backoff_us=int(load.setting("retry.backoff.ms")) * 1000,
            keys=load.keys,
            sticky=load.partitioner == STICKY,
            idempotent=bool(load.setting("enable.idempotence")),
            retries=int(load.setting("retries")),
            batch_size=int(load.setting("batch.size")),
            max_in_flight=int(load.setting("max.in.flight.requests.per.connection")),
        )
        for number in range(load.producers)
    ]


def _consumption(scenario: Scenario, consumer: ConsumerSpec) -> Consumption:
    count = next(topic.partitions for topic in all_topics(scenario) if topic.name == consumer.topic)
    return Consumption(
        tuple(TopicPartition(consumer.topic, partition) for partition in consumer.partitions or range(count)),
        consumer.offset_reset,
        consumer.poll_us,
        consumer.start_us,
        consumer.stop_us,
        max_poll_records=consumer.setting("max.poll.records"),
        min_bytes=consumer.setting("fetch.min.bytes"),
        max_wait_us=consumer.setting("fetch.max.wait.ms") * 1000,
        max_bytes=consumer.setting("fetch.max.bytes"),
        max_partition_bytes=consumer.setting("max.partition.fetch.bytes"),
        request_timeout_us=consumer.setting("request.timeout.ms") * 1000,
        retry_backoff_us=consumer.setting("retry.backoff.ms") * 1000,
        knows_epochs=BUNDLES[scenario.profile].brokers.checks_epochs,
    )


def _broker_policies(scenario: Scenario) -> BrokerPolicies:
    settings, brokers = scenario.settings(), BUNDLES[scenario.profile].brokers
    config = BrokerConfig(
        min_insync_replicas=settings["min.insync.replicas"],
        replica_lag_time_max_us=settings["replica.lag.time.max.ms"] * 1000,
        replica_high_watermark_checkpoint_interval_us=settings["replica.high.watermark.checkpoint.interval.ms"] * 1000,
        log=DEFAULTS.changed({name: str(settings[name]) for name in BROKER_NAMES}, BROKER_NAMES),
        log_manager=_log_manager(scenario),
        request_timeout_us=settings["request.timeout.ms"] * 1000,
        replication_quota_window_num=settings["replication.quota.window.num"],
        replication_quota_window_size_us=settings["replication.quota.window.size.seconds"] * 1_000_000,
        controller_socket_timeout_us=settings["controller.socket.timeout.ms"] * 1000,
        controlled_shutdown_enable=bool(settings["controlled.shutdown.enable"]),
        controlled_shutdown_max_retries=settings["controlled.shutdown.max.retries"],
        controlled_shutdown_retry_backoff_us=settings["controlled.shutdown.retry.backoff.ms"] * 1000,
    )
    rule = brokers.out_of_sync
    if isinstance(rule, StuckOrSlow):
        rule = StuckOrSlow(settings["replica.lag.max.messages"])
    return evolve(
        brokers,
        config=config,
        out_of_sync=rule,
        topic_min_insync_replicas=min_insync_replicas(scenario),
        topic_logs=topic_logs(scenario),
        # KAFKA-42's controller does not tell the leader of new replicas: under no release could the move end otherwise.
        checks_assignment=brokers.checks_assignment and scenario.strategy.parsed.protocol != "kafka-42",
    )


def _disk_speed(disk: DiskSpec) -> DiskSpeed | None:
    """None where disks take no time."""
    if disk.read is None and disk.write is None and not disk.latency_us:
        return None
    return DiskSpeed(disk.read, disk.write, disk.latency_us)


def _log_manager(scenario: Scenario) -> LogManagerConfig:
    settings, writeback_us = scenario.settings(), scenario.cluster.disk.writeback_us
    own = (logs.get("flush.messages") for logs in topic_logs(scenario).values())
    flushes = any(name is not None for name in own) or settings["log.flush.interval.messages"] < LONG_MAX
    check_ms = settings["log.flush.scheduler.interval.ms"]
    return LogManagerConfig(
        delete_delay_us=settings["log.segment.delete.delay.ms"] * 1000,
        retention_check_us=settings["log.retention.check.interval.ms"] * 1000,
        flush_check_us=NEVER if check_ms == LONG_MAX else check_ms * 1000,
        flushes=flushes,
        writeback=None if writeback_us is None else Writeback(writeback_us),
    )


def topic_logs(scenario: Scenario) -> dict[str, dict[str, str]]:
    """Topic -> what it sets for its logs, of those that set anything."""
    own = {
        topic.name: {name: str(value) for name, value in topic.config.items() if name in TOPIC_NAMES}
        for topic in all_topics(scenario)
    }
    return {name: settings for name, settings in own.items() if settings}


def min_insync_replicas(scenario: Scenario) -> dict[str, int]:
    """Topic -> its own min.insync.replicas, of those that set one."""
    key = "min.insync.replicas"
    return {topic.name: int(topic.config[key]) for topic in all_topics(scenario) if key in topic.config}


def all_topics(scenario: Scenario) -> tuple[TopicSpec, ...]:
    """The topics that exist at the start, and those that the method creates."""
    created = (entry.param("topic") for entry in scenario.method if entry.action == "topic.create")
    return (*scenario.topics, *created)


def _fetcher_policies(scenario: Scenario) -> FetcherPolicies:
    settings = scenario.settings()
    return evolve(
        BUNDLES[scenario.profile].fetchers,
        num_replica_fetchers=settings["num.replica.fetchers"],
        replica_fetch_wait_max_us=settings["replica.fetch.wait.max.ms"] * 1000,
        replica_fetch_min_bytes=settings["replica.fetch.min.bytes"],
        replica_fetch_max_bytes=settings["replica.fetch.max.bytes"],
        replica_fetch_response_max_bytes=settings["replica.fetch.response.max.bytes"],
        replica_fetch_backoff_us=settings["replica.fetch.backoff.ms"] * 1000,
        replica_socket_timeout_us=settings["replica.socket.timeout.ms"] * 1000,
    )


def _quota_rates(scenario: Scenario) -> dict[str, str]:
    """The rates that each broker has from the start. They bind whom the lists of topics name."""
    settings = scenario.settings()
    return {name: str(settings[name]) for name in QUOTA_RATES if settings[name] != LONG_MAX}


def _controller_policies(scenario: Scenario) -> ControllerPolicies:
    settings, policies = scenario.settings(), BUNDLES[scenario.profile].controller
    rebalance = evolve(
        policies.auto_rebalance,
        enabled=bool(settings["auto.leader.rebalance.enable"]),
        percentage=settings["leader.imbalance.per.broker.percentage"],
        interval_us=settings["leader.imbalance.check.interval.seconds"] * 1_000_000,
    )
    return evolve(
        policies,
        reassignment=_protocol(scenario),
        unclean_leader_election=bool(settings["unclean.leader.election.enable"]),
        delete_topics=bool(settings["delete.topic.enable"]),
        auto_rebalance=rebalance,
        request_timeout_us=settings["controller.socket.timeout.ms"] * 1000,
        pinned=scenario.cluster.controller,
    )


def _protocol(scenario: Scenario) -> ReassignmentProtocol:
    bundle, strategy = BUNDLES[scenario.profile], scenario.strategy.parsed
    protocols: dict[str, ReassignmentProtocol] = {
        "wiki": bundle.wiki,
        "kafka-6794": Kafka6794(strategy.width, literal if strategy.shape == "grow-then-shrink" else above_target),
        "kafka-42": Kafka42(),
        "kip-455": bundle.kip_455,
    }
    return protocols[strategy.protocol]
