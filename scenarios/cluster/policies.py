"""The policies of each floor: those of the profile, with the scenario's settings and strategy laid over them."""

from collections.abc import Mapping

from attrs import evolve

from brokers.broker_config import BrokerConfig
from brokers.broker_policies import BrokerPolicies
from brokers.groups.config import GroupCoordinatorConfig
from brokers.log.log_config import DEFAULTS, TOPIC_NAMES, LogManagerConfig, Writeback
from brokers.partition.isr import StuckOrSlow
from brokers.service import ServiceTime, ServiceTimes
from brokers.transactions.config import TransactionConfig
from controller.policies import ControllerPolicies
from controller.reassignment.protocol import ReassignmentProtocol
from controller.shapes import SHAPES
from emulator.protocol.api import Request, apis
from emulator.protocol.configs import LONG_MAX, with_settings
from fetchers.policies import FetcherPolicies
from scenarios.language import Scenario, TopicSpec
from scenarios.language.messages import service_key


def broker_policies(scenario: Scenario) -> BrokerPolicies:
    settings, brokers = scenario.settings(), scenario.policies.brokers
    config = evolve(
        with_settings(BrokerConfig(), settings),
        log=with_settings(DEFAULTS, settings),
        log_manager=_log_manager(scenario),
        groups=with_settings(GroupCoordinatorConfig(), settings),
        transactions=with_settings(TransactionConfig(), settings),
    )
    rule = brokers.out_of_sync
    if isinstance(rule, StuckOrSlow):
        rule = StuckOrSlow(config.replica_lag_max_messages)
    return evolve(
        brokers,
        config=config,
        out_of_sync=rule,
        topic_min_insync_replicas=min_insync_replicas(scenario),
        topic_logs=topic_logs(scenario),
        collections=scenario.policies.collections,
        service=_service_times(scenario.cluster.service),
        checks_assignment=brokers.checks_assignment and not SHAPES[scenario.strategy.parsed.shape].admits_unassigned,
    )


def _service_times(stated: Mapping[str, int]) -> ServiceTimes | None:
    """The service times; None where every request takes no time."""
    times: dict[type[Request], ServiceTime] = {}
    for name, time_us in stated.items():
        message, per_partition = service_key(name)
        request = apis()[message].request
        before = times.get(request, ServiceTime())
        times[request] = before._replace(**{"partition_us" if per_partition else "request_us": time_us})
    return ServiceTimes(times) if any(map(any, times.values())) else None


def _log_manager(scenario: Scenario) -> LogManagerConfig:
    settings, writeback_us = scenario.settings(), scenario.cluster.disk.writeback_us
    own = (logs.get("flush.messages") for logs in topic_logs(scenario).values())
    flushes = any(name is not None for name in own) or settings["log.flush.interval.messages"] != LONG_MAX
    return evolve(
        with_settings(LogManagerConfig(), settings),
        flushes=flushes,
        writeback=None if writeback_us is None else Writeback(writeback_us),
    )


def fetcher_policies(scenario: Scenario) -> FetcherPolicies:
    return with_settings(scenario.policies.fetchers, scenario.settings())


def controller_policies(scenario: Scenario) -> ControllerPolicies:
    settings, policies = scenario.settings(), scenario.policies.controller
    return evolve(
        with_settings(policies, settings),
        reassignment=_protocol(scenario),
        auto_rebalance=with_settings(policies.auto_rebalance, settings),
        collections=scenario.policies.collections,
        pinned=scenario.cluster.controller,
    )


def _protocol(scenario: Scenario) -> ReassignmentProtocol:
    """The strategy's protocol, or the profile's own variant of it."""
    bundle, strategy = scenario.policies, scenario.strategy.parsed
    released: dict[str, ReassignmentProtocol] = {"wiki": bundle.wiki, "kip-455": bundle.kip_455}
    return released.get(strategy.shape) or strategy.make_protocol()


def all_topics(scenario: Scenario) -> tuple[TopicSpec, ...]:
    """The topics that exist at the start, and those that the method creates."""
    created = (entry.action.new_topic() for entry in scenario.entries)
    return (*scenario.topics, *(topic for topic in created if topic is not None))


def min_insync_replicas(scenario: Scenario) -> dict[str, int]:
    """The min.insync.replicas of the topics that set their own."""
    key = "min.insync.replicas"
    return {topic.name: int(topic.config[key]) for topic in all_topics(scenario) if key in topic.config}


def topic_logs(scenario: Scenario) -> dict[str, dict[str, str]]:
    """The log settings of each topic that sets any."""
    own = {
        topic.name: {name: str(value) for name, value in topic.config.items() if name in TOPIC_NAMES}
        for topic in all_topics(scenario)
    }
    return {name: settings for name, settings in own.items() if settings}
