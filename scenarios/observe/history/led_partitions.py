"""The partitions that each broker leads, as the broker knows them, and how many of them its gauges should count."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from attrs import evolve, frozen

from emulator.metrics.events import MetricRegistered
from emulator.protocol.events import (
    BecameFollower,
    BecameLeader,
    ImpendingReplicasReceived,
    IsrChanged,
    NodeCrashed,
    PartitionCreated,
    ReplicaOffline,
    ReplicaStopped,
    UnassignedFollowerAdded,
)
from emulator.protocol.types import TopicPartition
from scenarios.observe.mbeans import REASSIGNED, REASSIGNING, UNDER_REPLICATED


@frozen
class LedPartition:
    """One partition as its leader knows it; ``current``: the replicas from before a move, where it receives them;
    None: those assigned;
    ``replication_factor``: the one that it keeps (0.8); 0: it keeps none."""

    isr: tuple[int, ...]
    replicas: tuple[int, ...]
    adding: tuple[int, ...]
    removing: tuple[int, ...]
    current: tuple[int, ...] | None = None
    replication_factor: int = 0

    @property
    def reassigning(self) -> bool:
        return bool(self.adding or self.removing)

    def under_replicated(self, definition: str) -> bool:
        """By the factor that it keeps, or by one of three definitions (readings §8); ``definition`` is the gauge that
        was introduced with it."""
        if self.replication_factor:
            return self.replication_factor > len(self.isr)
        if definition == REASSIGNED:
            counted = self.replicas if self.current is None else self.current
            return any(replica not in self.isr for replica in counted)
        added = self.adding if definition == REASSIGNING else ()
        return sum(replica not in added for replica in self.replicas) > len(self.isr)


_shared = lru_cache(4096)(LedPartition)
"""Many partitions and few different ones: most of those that a broker leads are equal in all of this."""


class LedPartitions:
    """The fold. A broker's definition of under-replicated follows from the other gauges that it registers.

    Attributes:
        changes: how many changes there were, on all brokers.
    """

    def __init__(self) -> None:
        self.changes = 0
        self._led: dict[int, dict[TopicPartition, LedPartition]] = {}
        self._definitions: dict[int, str] = {}
        self._factors: dict[int, dict[TopicPartition, int]] = {}
        self._under_replicated: dict[int, int] = {}
        self._reassigning: dict[int, int] = {}

    def count(self, node: int, gauge: str) -> int:
        """How many partitions the gauge of ``node`` should count."""
        return (self._under_replicated if gauge == UNDER_REPLICATED else self._reassigning).get(node, 0)

    def recounted(self, node: int, gauge: str) -> int:
        """The same, counted from scratch."""
        definition = self._definitions.get(node, "")
        if gauge == UNDER_REPLICATED:
            return sum(led.under_replicated(definition) for led in self._led.get(node, {}).values())
        return sum(led.reassigning for led in self._led.get(node, {}).values())

    def nodes(self) -> Iterator[int]:
        yield from self._led

    def _set(self, node: int, topic: str, partition: int, now: LedPartition | None) -> None:
        self.changes += 1
        led, tp = self._led.setdefault(node, {}), TopicPartition.of(topic, partition)
        for each, sign in ((led.pop(tp, None), -1), (now, 1)):
            if each is not None:
                under = each.under_replicated(self._definitions.get(node, ""))
                self._under_replicated[node] = self._under_replicated.get(node, 0) + sign * under
                self._reassigning[node] = self._reassigning.get(node, 0) + sign * each.reassigning
        if now is not None:
            led[tp] = now

    def get(self, node: int, tp: TopicPartition) -> LedPartition | None:
        """What ``node`` knows of ``tp``; None where it does not lead it."""
        return self._led.get(node, {}).get(tp)

    def _get(self, node: int, topic: str, partition: int) -> LedPartition | None:
        return self.get(node, TopicPartition.of(topic, partition))

    def on_registered(self, event: MetricRegistered) -> None:
        if event.metric in (REASSIGNED, REASSIGNING):
            self._definitions[event.node] = event.metric

    def on_created(self, event: PartitionCreated) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        self._factors.setdefault(event.node, {})[tp] = event.replication_factor

    def on_became_leader(self, event: BecameLeader) -> None:
        known = self._get(event.node, event.topic, event.partition)
        current = None if known is None else known.current
        factor = self._factors.get(event.node, {}).get(TopicPartition.of(event.topic, event.partition), 0)
        led = _shared(event.isr, event.replicas, event.adding, event.removing, current, factor)
        self._set(event.node, event.topic, event.partition, led)

    def on_impending_replicas_received(self, event: ImpendingReplicasReceived) -> None:
        """Comes before ``BecameLeader``, so the current replicas are kept for that."""
        known = self._get(event.node, event.topic, event.partition) or LedPartition((), (), (), ())
        current = event.current if event.impending else None
        self._set(event.node, event.topic, event.partition, evolve(known, current=current))

    def on_isr_changed(self, event: IsrChanged) -> None:
        known = self._get(event.node, event.topic, event.partition)
        if known is not None:
            self._set(event.node, event.topic, event.partition, evolve(known, isr=event.isr))

    def on_taken_in(self, event: UnassignedFollowerAdded) -> None:
        known = self._get(event.node, event.topic, event.partition)
        if known is not None:
            taken = evolve(known, replicas=(*known.replicas, event.broker))
            self._set(event.node, event.topic, event.partition, taken)

    def on_became_follower(self, event: BecameFollower) -> None:
        self._set(event.node, event.topic, event.partition, None)

    def on_stopped(self, event: ReplicaStopped) -> None:
        if event.deleted:
            self._set(event.node, event.topic, event.partition, None)

    def on_lost(self, event: ReplicaOffline) -> None:
        self._set(event.node, event.topic, event.partition, None)

    def on_crashed(self, event: NodeCrashed) -> None:
        for table in (self._led, self._definitions, self._factors, self._under_replicated, self._reassigning):
            table.pop(event.node, None)
