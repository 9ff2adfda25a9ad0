"""The metrics a scenario may set limits on: Kafka's gauges and meters where they exist, Understudy's
figures elsewhere.

A `gauge` has a value at any virtual time; a `counter` only grows and can be read at any time; a `total` is
known when the run has ended. Kafka's names are those of `kafka-behaviour` §9; the three under-replicated
times are the three definitions of readings §8, all of them recorded in every run.
"""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from scenarios.observe import mbeans


@frozen
class Metric:
    name: str
    form: str
    unit: str
    help: str
    jmx: str | None = None


def _percentiles(prefix: str, help: str, jmx: str | None = None) -> tuple[Metric, ...]:
    texts = {"p50": "median", "p95": "95th percentile", "p99": "99th percentile", "max": "maximum"}
    return tuple(
        Metric(f"{prefix}_{suffix}", "total", "messages", f"{text} over time of {help}", jmx)
        for suffix, text in texts.items()
    )


METRICS: Mapping[str, Metric] = {
    metric.name: metric
    for metric in (
        Metric(
            "offline_partitions",
            "gauge",
            "partitions",
            "partitions for which ZooKeeper names no leader",
            mbeans.OFFLINE,
        ),
        Metric(
            "under_replicated_partitions",
            "gauge",
            "partitions",
            "partitions whose ISR lacks an assigned replica",
            mbeans.UNDER_REPLICATED,
        ),
        Metric(
            "under_min_isr_partitions",
            "gauge",
            "partitions",
            "partitions whose ISR is below min.insync.replicas",
            mbeans.UNDER_MIN_ISR,
        ),
        Metric(
            "failed_partitions",
            "gauge",
            "partitions",
            "partitions that a fetcher gave up on (KIP-461)",
            mbeans.FAILED_PARTITIONS,
        ),
        Metric(
            "active_controllers",
            "gauge",
            "controllers",
            "live brokers that hold themselves to be controller",
            mbeans.ACTIVE_CONTROLLERS,
        ),
        Metric(
            "leader_elections",
            "counter",
            "elections",
            "leaders elected after the start",
            mbeans.LEADER_ELECTIONS,
        ),
        Metric("isr_shrinks", "counter", "events", "times an ISR lost replicas", mbeans.ISR_SHRINKS),
        Metric("isr_expands", "counter", "events", "times an ISR gained replicas", mbeans.ISR_EXPANDS),
        Metric("acked_batches", "counter", "batches", "batches acknowledged to producers"),
        Metric("consumed_messages", "counter", "messages", "messages that consumers have given to their applications"),
        Metric(
            "lost_batches",
            "counter",
            "batches",
            "acknowledged batches found lost, with acks=1 or by unclean elections",
        ),
        Metric("time_to_complete_s", "total", "s", "from the start of the moves until the last is done"),
        Metric(
            "under_replicated_assigned_s",
            "total",
            "partition-seconds",
            "under-replicated time, all assigned replicas",
        ),
        Metric(
            "under_replicated_draft_s",
            "total",
            "partition-seconds",
            "the same, as KIP-352's draft defines it",
        ),
        Metric("under_replicated_final_s", "total", "partition-seconds", "the same, as KIP-352 was adopted"),
        Metric("under_min_isr_s", "total", "partition-seconds", "time below min.insync.replicas"),
        Metric("offline_s", "total", "partition-seconds", "time without a live leader"),
        Metric("excess_isr_s", "total", "replica-seconds", "in-sync replicas beyond the replication factor"),
        Metric("extra_replica_s", "total", "replica-seconds", "assigned replicas beyond the replication factor"),
        Metric("peak_replicas", "total", "replicas", "the most that one partition was assigned at a time"),
        *_percentiles(
            "lag",
            "Kafka's replica lag (leader high watermark less fetch offset)",
            mbeans.CONSUMER_LAG,
        ),
        *_percentiles("true_lag", "the distance of the follower's log from the leader's"),
        *_percentiles("consumer_lag", "how many committed messages a consumer has yet to read"),
    )
}
