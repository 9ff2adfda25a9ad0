"""Where a partition's replicas are and where they are going (KIP-455, Kafka 2.4; kafka-behaviour §6.2)."""

from attrs import frozen

Replicas = tuple[int, ...]
"""Brokers, in order of preference."""
Motion = tuple[Replicas, Replicas]
"""AR and RR."""


def among(replicas: Replicas, others: Replicas) -> Replicas:
    """``replicas`` in their order, only those that ``others`` has too."""
    return tuple(replica for replica in replicas if replica in others)


def union(replicas: Replicas, others: Replicas) -> Replicas:
    """``replicas``, then those of ``others`` that are not among them."""
    return (*replicas, *without(others, replicas))


def without(replicas: Replicas, others: Replicas) -> Replicas:
    """``replicas`` in their order, those of ``others`` left out."""
    return tuple(replica for replica in replicas if replica not in others)


@frozen
class ReplicaAssignment:
    """A partition's assignment, with what a reassignment in progress adds to it and takes from it.

    Attributes:
        replicas: RS, the full set in order of preference, the target first while replicas move.
        adding: AR, those of RS that the reassignment adds.
        removing: RR, those of RS that it removes.
    """

    replicas: Replicas
    adding: Replicas = ()
    removing: Replicas = ()

    @property
    def origin(self) -> Replicas:
        """ORS = RS - AR: what the assignment was before. Its order may be lost: RS has the target first."""
        return without(self.replicas, self.adding)

    @property
    def target(self) -> Replicas:
        """TRS = RS - RR: what it is to be."""
        return without(self.replicas, self.removing)

    @property
    def motion(self) -> Motion:
        """AR and RR, which stand beside the assignment in ZooKeeper."""
        return self.adding, self.removing

    @property
    def being_reassigned(self) -> bool:
        """Does any replica come or go? Another order alone is no reassignment."""
        return bool(self.adding or self.removing)

    def reassign_to(self, target: Replicas) -> "ReplicaAssignment":
        """The assignment on its way to ``target``, whatever it was on its way to: ORS stays what it was.

        To cancel is to reassign to ORS.
        """
        origin = self.origin
        replicas = union(target, origin)
        return ReplicaAssignment(replicas, without(replicas, origin), without(replicas, target))
