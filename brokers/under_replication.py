"""The rules by which a leader reports a partition as under-replicated: 0.8's definition, and the three of readings
§8."""

from typing import ClassVar, Protocol

from attrs import frozen


class LedPartition(Protocol):
    """The replicas of a partition, as its leader knows them (``brokers.partition.partition.Partition``)."""

    @property
    def isr(self) -> tuple[int, ...]: ...
    @property
    def assigned(self) -> tuple[int, ...]: ...
    @property
    def adding(self) -> tuple[int, ...]: ...
    @property
    def current(self) -> tuple[int, ...]: ...
    @property
    def replication_factor(self) -> int: ...


class UnderReplication(Protocol):
    """A rule for the gauges UnderReplicated and ReplicasCount of a partition.

    Attributes:
        keeps_factor: whether it uses the replication factor that a broker has kept (``PartitionCreated``).
    """

    keeps_factor: ClassVar[bool]

    def replicas(self, led: LedPartition) -> int:
        """The number of replicas that the partition should have."""
        ...

    def missing(self, led: LedPartition) -> int:
        """The number of its replicas that are out of sync; 0 or less: the partition is not under-replicated."""
        ...


@frozen
class FactorAtCreation:
    """|ISR| < replication factor, which is the number of replicas in the LeaderAndIsr that brought the partition to
    this broker. No later request changes it, only a deletion or a restart (kafka.cluster.Partition.isUnderReplicated
    and ReplicaManager.getOrCreatePartition, 0.8.0)."""

    keeps_factor: ClassVar[bool] = True

    def replicas(self, led: LedPartition) -> int:
        return led.replication_factor

    def missing(self, led: LedPartition) -> int:
        return led.replication_factor - len(led.isr)


@frozen
class AllAssigned:
    """|ISR| < |assigned|: a reassignment that adds replicas makes the partition under-replicated (Kafka up to 2.4, but
    for 0.8.0)."""

    keeps_factor: ClassVar[bool] = False

    def replicas(self, led: LedPartition) -> int:
        return len(led.assigned)

    def missing(self, led: LedPartition) -> int:
        return len(led.assigned) - len(led.isr)


@frozen
class WithoutAdding:
    """|assigned - adding| > |ISR|: it compares numbers, so an added replica in the ISR makes up for an old one that is
    not (KIP-352 as adopted, Kafka 2.5)."""

    keeps_factor: ClassVar[bool] = False

    def replicas(self, led: LedPartition) -> int:
        return sum(replica not in led.adding for replica in led.assigned)

    def missing(self, led: LedPartition) -> int:
        return self.replicas(led) - len(led.isr)


@frozen
class CurrentReplicas:
    """|current ∩ ISR| < |current|: replicas that are still being added do not count (KIP-352's draft)."""

    keeps_factor: ClassVar[bool] = False

    def replicas(self, led: LedPartition) -> int:
        return len(led.current)

    def missing(self, led: LedPartition) -> int:
        return sum(replica not in led.isr for replica in led.current)
