"""The policies of each floor: those of the profile, with the scenario's settings and strategy laid over them."""

from attrs import evolve

from brokers.log import LogManagerConfig, Writeback
from brokers.log.config import BROKER_NAMES, DEFAULTS, NEVER
from brokers.partition.isr import StuckOrSlow
from brokers.policies import BrokerConfig, BrokerPolicies
from controller import ControllerPolicies
from controller.reassignment.policy import ReassignmentProtocol
from controller.reassignment.registry import SHAPES
from fetchers import FetcherPolicies
from scenarios.language import Scenario
from scenarios.language.configs import LONG_MAX
from scenarios.profiles.releases import BUNDLES
from scenarios.profiles.topics import min_insync_replicas, topic_logs


def broker_policies(scenario: Scenario) -> BrokerPolicies:
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
        checks_assignment=brokers.checks_assignment and not SHAPES[scenario.strategy.parsed.shape].admits_unassigned,
    )


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


def fetcher_policies(scenario: Scenario) -> FetcherPolicies:
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


def controller_policies(scenario: Scenario) -> ControllerPolicies:
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
    """The strategy's protocol; where the profile runs it in a way of its own, that."""
    bundle, strategy = BUNDLES[scenario.profile], scenario.strategy.parsed
    released: dict[str, ReassignmentProtocol] = {"wiki": bundle.wiki, "kip-455": bundle.kip_455}
    return released.get(strategy.shape) or SHAPES[strategy.shape].make(strategy.width)
