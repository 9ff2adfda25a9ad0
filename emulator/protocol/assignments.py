"""Where a partition's replicas are and where they are going (KIP-455, Kafka 2.4; kafka-behaviour §6.2)."""

from typing import NamedTuple

from attrs import frozen

Replicas = tuple[int, ...]
"""Brokers, in order of preference."""


class ReassigningReplicas(NamedTuple):
    """The changes that a reassignment in progress makes to a partition's replicas (KIP-455).

    Attributes:
        adding: AR, the replicas that it adds.
        removing: RR, those that it removes.
    """

    adding: Replicas = ()
    removing: Replicas = ()


NOT_REASSIGNED = ReassigningReplicas()
"""The changes of a partition without a reassignment: none."""


def among(replicas: Replicas, others: Replicas) -> Replicas:
    """The members of ``replicas`` that are in ``others`` too, in the order of ``replicas``."""
    return tuple(replica for replica in replicas if replica in others)


def union(replicas: Replicas, others: Replicas) -> Replicas:
    """``replicas``, followed by those of ``others`` that are not in ``replicas``."""
    return (*replicas, *without(others, replicas))


def without(replicas: Replicas, others: Replicas) -> Replicas:
    """``replicas`` without those that are in ``others``, in the order of ``replicas``."""
    return tuple(replica for replica in replicas if replica not in others)


@frozen
class ReplicaAssignment:
    """A partition's assignment, with the replicas that a reassignment in progress adds and removes.

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
        """ORS = RS - AR: the assignment before the reassignment. Its order may be lost, because RS has the
        target first."""
        return without(self.replicas, self.adding)

    @property
    def target(self) -> Replicas:
        """TRS = RS - RR: the assignment after the reassignment."""
        return without(self.replicas, self.removing)

    @property
    def reassigning(self) -> ReassigningReplicas:
        """AR and RR, which are stored with the assignment in ZooKeeper."""
        return ReassigningReplicas(self.adding, self.removing)

    @property
    def being_reassigned(self) -> bool:
        """Whether a replica is added or removed. A different order alone is not a reassignment."""
        return bool(self.adding or self.removing)

    def reassign_to(self, target: Replicas) -> "ReplicaAssignment":
        """The assignment during a reassignment to ``target``, which replaces any earlier target. ORS does not change.

        To cancel a reassignment is to reassign to ORS.
        """
        origin = self.origin
        replicas = union(target, origin)
        return ReplicaAssignment(replicas, without(replicas, origin), without(replicas, target))
