"""The role of a broker at a moment, as one letter: in one partition, or in the cluster.

Leader, ISR and assignment are ZooKeeper's; whether a broker is down or paused, or a partition has failed on it, comes
from its own events.
"""

from __future__ import annotations

from attrs import frozen

from emulator.protocol.types import TopicPartition
from scenarios.observe.past.cluster_state import FoldedState


def health(cluster: FoldedState, broker: int) -> str:
    """``x`` or ``P``; empty for a broker that runs, or was never seen to start."""
    return "x" if cluster.is_down(broker) else "P" if cluster.is_paused(broker) else ""


@frozen
class ClusterRoles:
    """C the active controller, o up."""

    cluster: FoldedState
    legend = "C controller, o up, x down, P paused, . not started"

    def letter(self, broker: int) -> str:
        if broker not in self.cluster.lives:
            return health(self.cluster, broker) or "."
        return health(self.cluster, broker) or ("C" if broker in self.cluster.acting else "o")


@frozen
class PartitionRoles:
    """L leader, I in-sync follower, f follower catching up, F failed."""

    cluster: FoldedState
    tp: TopicPartition
    legend = "L leader, I in sync, f catching up, F failed, x down, P paused, . none"

    def letter(self, broker: int) -> str:
        cluster, tp = self.cluster, self.tp
        leads, in_sync = broker == cluster.leader(tp), broker in cluster.isr(tp)
        if not leads and not in_sync and broker not in cluster.assignment(tp):
            return "x" if cluster.is_down(broker) else "."
        if not_well := health(cluster, broker):
            return not_well
        if leads:
            return "L"
        return "F" if cluster.has_failed(broker, tp) else "I" if in_sync else "f"
