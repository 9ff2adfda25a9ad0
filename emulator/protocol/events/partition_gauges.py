"""Metrics that exist once per partition; the others are in ``emulator.metrics.metric_events``."""

from typing import NamedTuple


class PartitionGauges(NamedTuple):
    """The gauges of ``kafka.cluster:type=Partition`` on one broker: all of them, when one changed. They are 0 while the
    broker does not lead the partition.

    Attributes:
        reassigning: the partition adds or removes replicas (KIP-455).
        reassigned: |impending - current| of KIP-352's draft. Kafka exposes this and the former as sums over the
            broker's partitions.
    """

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    leads: bool
    in_sync_replicas: int
    replicas: int
    under_replicated: bool
    under_min_isr: bool
    at_min_isr: bool
    reassigning: bool
    reassigned: int


class LastStableOffsetLag(NamedTuple):
    """``kafka.cluster:type=Partition,name=LastStableOffsetLag``: the high watermark minus the last stable offset, which
    is lower while a transaction is open. Written once per second while it changes. Since 2.4 also of followers; before,
    0 where the broker does not lead the partition."""

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    lag: int


class ConsumerLag(NamedTuple):
    """``kafka.server:type=FetcherLagMetrics,name=ConsumerLag``: max(0, leader's high watermark - fetch offset), updated
    by fetch responses and written every 100 ms while it changes. -1: the thread does not fetch the partition any more,
    and the gauge was removed."""

    t_us: int
    seq: int
    cause: int
    node: int
    fetcher: str
    topic: str
    partition: int
    lag: int
