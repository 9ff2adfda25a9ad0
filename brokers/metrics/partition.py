"""The gauges of one partition as figures, of which the broker's own gauges are the sums."""

from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from brokers.metrics.replication import UnderReplication
    from brokers.partition import Partition


class Figures(NamedTuple):
    """See ``emulator.protocol.events.PartitionGauges``, whose columns these are."""

    leads: bool = False
    in_sync_replicas: int = 0
    replicas: int = 0
    under_replicated: bool = False
    under_min_isr: bool = False
    at_min_isr: bool = False
    reassigning: bool = False
    reassigned: int = 0


NOT_LEADING = Figures()

shared = lru_cache(1024)(Figures)
"""Few differ, and there is one for each of a great many partitions."""


def figures(partition: "Partition", rule: "UnderReplication", min_isr: int) -> Figures:
    """What the gauges of ``partition`` show now; ``min_isr``: the topic's min.insync.replicas."""
    if not partition.is_leader:
        return NOT_LEADING
    in_sync = len(partition.isr)
    return shared(
        True,
        in_sync,
        rule.replicas(partition),
        rule.missing(partition) > 0,
        in_sync < min_isr,
        in_sync == min_isr,
        bool(partition.adding or partition.removing),
        reassigned(partition),
    )


def reassigned(partition: "Partition") -> int:
    """|impending - current|, of which ReassignedCount is the sum: replicas, not partitions (seed 002; readings, 8)."""
    return sum(replica not in partition.current for replica in partition.impending)
