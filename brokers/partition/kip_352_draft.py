"""The gauges of KIP-352's draft, as a leader can know them (seed 002; readings, 8)."""

from brokers.partition.partition import Partition


def under_replicated(partition: Partition) -> bool:
    """|Current ∩ ISR| < |Current|; a replica that only impends is not missed. False unless it leads."""
    return partition.is_leader and not all(replica in partition.isr for replica in partition.current)


def reassigned(partition: Partition) -> int:
    """|Impending - Current|, of which ReassignedCount is the sum: replicas, not partitions. 0 unless it leads."""
    return sum(replica not in partition.current for replica in partition.impending) if partition.is_leader else 0
