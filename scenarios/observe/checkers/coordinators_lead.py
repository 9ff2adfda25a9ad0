"""G2: the leader of a partition of an internal topic is the coordinator of what is in it, and no other broker is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from emulator.protocol.shown import Remembered
from emulator.protocol.types import NO_LEADER
from scenarios.observe.checkers.broker_memory import BrokerMemory, Unlike

INTERNAL = "__consumer_offsets", "__transaction_state"


class CoordinatorsLead(BrokerMemory):
    """A broker coordinates the groups of the partitions of __consumer_offsets that it leads, and the transactional ids
    of those of __transaction_state, and no others (GroupMetadataManager, TransactionStateManager, 0.11 to 2.7).

    Verified: when the cluster is at rest, and before (``BrokerMemory.looks_meanwhile``), on each broker that the
        controller has reached for long enough, against the leaders in ZooKeeper: two brokers that both answer for one
        group are seen, and a group for which none does.

    Not verified: coordinators while leaders change, when a broker may not know it yet; those of a replica that is left
        on a broker, which has never received that it is not assigned any more (``converged`` looks at these); the last
        leader of a partition that has none: a broker that receives that goes on as it was
        (ReplicaManager.makeFollowers, 0.8 to 3.9).
    """

    ids = ("G2",)
    statement = (
        "at rest coordinates(b, p) ⇔ Z[p].leader = b: the leader of a partition of an internal topic is the coordinator"
        " of what is in it, and no other broker is"
    )
    catches = ("KAFKA-9235", "KAFKA-9307", "KAFKA-10614")
    fails_when = "a broker that does not lead any more goes on as the coordinator"
    looks_meanwhile = True

    def unlike(self, event: Remembered, memories: Mapping[str, Any]) -> Iterator[Unlike]:
        broker, cluster, owned = event.node, self.cluster, memories["coordinates"]
        replicas = memories["replicas"]
        for tp in owned:
            leader, is_left = cluster.leader(tp), tp in replicas and broker not in cluster.assignment(tp)
            goes_on = leader == NO_LEADER and tp in replicas and replicas[tp].leads
            if leader != broker and not (is_left or goes_on) and not cluster.is_deleting(tp.topic):
                yield Unlike("coordinates", "", "it is the coordinator", f"broker {leader} leads", tp)
        for tp in (tp for topic in INTERNAL if topic in cluster.topics for tp in cluster.partitions(topic)):
            replica = replicas.get(tp)
            if tp not in owned and replica is not None and replica.leads and cluster.leader(tp) == broker:
                yield Unlike("coordinates", "", "it is not the coordinator", "it leads", tp)
