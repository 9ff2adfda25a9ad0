"""When a leader holds a partition for under-replicated: three definitions (readings, 8)."""

from typing import Protocol

from attrs import frozen


class Led(Protocol):
    """What a leader knows of its partition (``brokers.partition.Partition``)."""

    @property
    def isr(self) -> tuple[int, ...]: ...
    @property
    def assigned(self) -> tuple[int, ...]: ...
    @property
    def adding(self) -> tuple[int, ...]: ...
    @property
    def current(self) -> tuple[int, ...]: ...


class UnderReplication(Protocol):
    """A rule for the gauges UnderReplicated and ReplicasCount of a partition that is led here."""

    def replicas(self, led: Led) -> int:
        """How many replicas it should have."""
        ...

    def missing(self, led: Led) -> int:
        """How many of them are out of sync; 0 or less: it is not under-replicated."""
        ...


@frozen
class AllAssigned:
    """|ISR| < |assigned|: every move that grows the assignment raises it (Kafka up to 2.4)."""

    def replicas(self, led: Led) -> int:
        return len(led.assigned)

    def missing(self, led: Led) -> int:
        return len(led.assigned) - len(led.isr)


@frozen
class WithoutAdding:
    """|assigned - adding| > |ISR|: numbers only, so that an added replica in sync makes up for a missing old one
    (KIP-352 as adopted, Kafka 2.5)."""

    def replicas(self, led: Led) -> int:
        return sum(replica not in led.adding for replica in led.assigned)

    def missing(self, led: Led) -> int:
        return self.replicas(led) - len(led.isr)


@frozen
class CurrentReplicas:
    """|current ∩ ISR| < |current|: a replica that only impends is not missed (KIP-352's draft, seed 002)."""

    def replicas(self, led: Led) -> int:
        return len(led.current)

    def missing(self, led: Led) -> int:
        return sum(replica not in led.isr for replica in led.current)
