"""What a run records of metrics that exist once for each partition; the others are in ``emulator.metrics.events``."""

from typing import NamedTuple


class PartitionGauges(NamedTuple):
    """The gauges of ``kafka.cluster:type=Partition`` on one broker: all of them, when one has changed.

    0 while the broker does not lead the partition. ``reassigned``: |impending - current| of KIP-352's draft;
    ``reassigning``: it adds or removes replicas (KIP-455). Kafka shows these two as sums over the broker's partitions.
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
    """The leader's log end less its last stable offset, which is the high watermark where there are no transactions;
    written once a second while it changes. 0 where the broker does not lead."""

    t_us: int
    seq: int
    cause: int
    node: int
    topic: str
    partition: int
    lag: int


class ConsumerLag(NamedTuple):
    """``kafka.server:type=FetcherLagMetrics,name=ConsumerLag``: max(0, leader's high watermark - fetch offset) as the
    answer to a fetch shows it, every 100 ms while it changes. -1: the thread does not fetch the partition any more, and
    the gauge is gone."""

    t_us: int
    seq: int
    cause: int
    node: int
    fetcher: str
    topic: str
    partition: int
    lag: int
