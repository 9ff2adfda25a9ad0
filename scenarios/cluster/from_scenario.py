"""The cluster that a scenario describes: its profile, settings, strategy, topics and load, composed."""

from __future__ import annotations

from functools import cache, partial
from typing import TYPE_CHECKING

from brokers.broker import BrokerSpec
from emulator.disks import DiskSpeed
from emulator.network import NetworkSpec, Nic
from emulator.protocol.configs import LONG_MAX, as_text
from emulator.protocol.types import TopicPartition
from emulator.zookeeper import ZkSpec
from scenarios.cluster.clients.tools.topic_command import any_move, move_of_the_topic
from scenarios.cluster.clients.workload import Workload
from scenarios.cluster.cluster import ClusterSetup, TopicSetup
from scenarios.cluster.policies import all_topics, broker_policies, controller_policies, fetcher_policies
from scenarios.language import DiskSpec, Scenario, TopicSpec, WorkloadSpec
from scenarios.language.cluster_spec import DRAWN
from scenarios.language.kafka_settings import QUOTA_RATES
from scenarios.language.workloads import STICKY, ConsumerSpec
from scenarios.profiles import PROFILES

if TYPE_CHECKING:
    from brokers.config_def import ServerProperties
    from scenarios.cluster.clients.consuming import Consumption


def cluster_setup(scenario: Scenario) -> ClusterSetup:
    """The cluster that ``scenario`` describes, under its profile and its strategy."""
    spec, policies = scenario.cluster, scenario.policies
    return ClusterSetup(
        brokers=spec.ids,
        broker=BrokerSpec(
            broker_policies(scenario),
            fetcher_policies(scenario),
            topic_version=controller_policies(scenario).topic_version,
            server=cache(partial(_server_properties, scenario)),
            any_move_forbids_expansion=policies.any_move_forbids_expansion,
        ),
        controller=controller_policies(scenario),
        network=_network(scenario),
        zk=ZkSpec(
            rtt_us=spec.zk.rtt_us,
            session_timeout_us=scenario.session_timeout_us,
            max_in_flight=spec.zk.max_in_flight,
        ),
        rack_of=spec.rack_of,
        log_dirs=spec.log_dir_names,
        disk_speed=_disk_speed(spec.disk),
        topics=tuple(topic_setup(scenario, topic) for topic in scenario.topics),
        workloads=tuple(one for load in scenario.workloads for one in _workloads(scenario, load)),
        consumers=tuple(_consumption(scenario, consumer) for consumer in scenario.consumers),
        own_clients=tuple(client for client in scenario.clients for _ in range(client.count)),
        broker_settings=_quota_rates(scenario),
        drawn_phases=spec.phases == DRAWN,
        has_tool_2_6=PROFILES[scenario.profile].tool == "api",
        tool_heeds_moves=policies.tool_heeds_moves,
        tool_keeps_widenings=policies.tool_keeps_widenings,
        moves_forbid_expansion=any_move if policies.any_move_forbids_expansion else move_of_the_topic,
    )


def _server_properties(scenario: Scenario) -> ServerProperties:
    """The settings of brokers for admin clients; only runs with these import this."""
    from scenarios.cluster.server_properties import server_properties

    return server_properties(scenario)


def _network(scenario: Scenario) -> NetworkSpec:
    spec = scenario.cluster.network
    nics = {
        broker: Nic(card.egress or spec.egress, card.ingress or spec.ingress)
        for card in spec.cards
        for broker in card.brokers
    }
    return NetworkSpec(spec.latency_us, spec.jitter_us, spec.egress, spec.ingress, spec.sigma, nics)


def _workloads(scenario: Scenario, load: WorkloadSpec) -> list[Workload]:
    """The workloads of the producers, one for each; together they have the rate."""
    count = partition_count(scenario, load.topic)
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
            key_skew=load.key_skew,
            shares=load.shares,
            sticky=load.partitioner == STICKY,
            idempotent=bool(load.setting("enable.idempotence")),
            retries=int(load.setting("retries")),
            batch_size=int(load.setting("batch.size")),
            max_request_size=int(load.setting("max.request.size")),
            max_in_flight=int(load.setting("max.in.flight.requests.per.connection")),
            knows_epochs=scenario.policies.brokers.checks_epochs,
            name=load.name,
        )
        for number in range(load.producers)
    ]


def _consumption(scenario: Scenario, consumer: ConsumerSpec) -> Consumption:
    from scenarios.cluster.clients.consuming import Consumption

    count = partition_count(scenario, consumer.topic)
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
        knows_epochs=scenario.policies.brokers.checks_epochs,
        name=consumer.name,
    )


def _disk_speed(disk: DiskSpec) -> DiskSpeed | None:
    """The speed of disks; None where they take no time."""
    if disk.read is None and disk.write is None and not disk.latency_us:
        return None
    return DiskSpeed(disk.read, disk.write, disk.latency_us)


def _quota_rates(scenario: Scenario) -> dict[str, str]:
    """The rates that each broker has from the start. They limit the replicas that the topics' lists name."""
    settings = scenario.settings()
    return {name: str(settings[name]) for name in QUOTA_RATES if settings[name] != LONG_MAX}


def topic_setup(scenario: Scenario, topic: TopicSpec) -> TopicSetup:
    """A topic of ``scenario``, or one that its method creates."""
    lists = topic.replica_lists(scenario.cluster.ids)
    sizes = [load.message_size for load in scenario.workloads if load.topic == topic.name]
    config = {name: as_text(value) for name, value in topic.config.items()}
    return TopicSetup(
        topic.name, dict(enumerate(lists)), topic.size_bytes, (sizes or [1024])[0], config, topic.sizes, topic.log_dirs
    )


def partition_count(scenario: Scenario, name: str) -> int:
    """The number of partitions that the topic of that name has at the start."""
    return next(topic.partitions for topic in all_topics(scenario) if topic.name == name)
