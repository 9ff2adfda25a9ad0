"""T1: UnderReplicatedPartitions counts the under-replicated partitions that a broker leads, as it knows them."""

from __future__ import annotations

from typing import ClassVar

from emulator.metrics import short_name
from emulator.metrics.metric_events import GaugeSet, MetricRegistered
from emulator.protocol.events import (
    BecameFollower,
    BecameLeader,
    IsrChanged,
    NodeCrashed,
    ReplicaOffline,
    ReplicaStopped,
)
from emulator.trace import Event
from scenarios.observe.checkers.checker import Checker, Moment
from scenarios.observe.findings.gauge_facts import CountWrong
from scenarios.observe.mbeans import REASSIGNED, REASSIGNING, UNDER_REPLICATED
from scenarios.observe.past.changes import LedChanged
from scenarios.observe.past.knowledge import LedPartition


class CountTrue(Checker):
    """The check of one gauge that counts partitions.

    A transition changes many partitions and then writes the gauge, all in one instant. So the gauge is compared when
    it is written; where it was not written, at a later change, at a recount, or when the cluster is at rest.
    """

    gauge: ClassVar[str]

    def begin(self) -> None:
        self._counts: dict[int, int] = {}
        self._changes = 0
        self._shown: dict[int, int] = {}
        self._changed: dict[int, tuple[Event, int]] = {}
        self._recounted = 0

    def on_registered(self, event: MetricRegistered) -> None:
        if event.metric == self.gauge:
            self._shown[event.node] = 0

    def counts(self, led: LedPartition, node: int) -> bool:
        """Whether the gauge of ``node`` counts a partition that it leads."""
        raise NotImplementedError

    def _count(self, node: int) -> int:
        """How many partitions the gauge of ``node`` should count, counted from scratch."""
        return sum(self.counts(led, node) for led in self.cluster.led[node].values())

    def on_led(self, change: LedChanged) -> None:
        self._changes += 1
        for led, sign in ((change.before, -1), (change.now, 1)):
            if led is not None and self.counts(led, change.node):
                self._counts[change.node] = self._counts.get(change.node, 0) + sign

    def on_set(self, event: GaugeSet) -> None:
        if event.metric == self.gauge:
            self._shown[event.node] = event.value
            self._changed.pop(event.node, None)
            self._check(event.node, event, self._counts.get(event.node, 0))

    def on_change(self, event: BecameLeader | BecameFollower | IsrChanged | ReplicaStopped | ReplicaOffline) -> None:
        self._change(event, event.node)

    def on_crashed(self, event: NodeCrashed) -> None:
        self._shown.pop(event.node, None)
        self._changed.pop(event.node, None)
        self._counts.pop(event.node, None)

    def at_rest(self, moment: Moment) -> None:
        for node in self.cluster.led:
            self._check(node, moment, self._count(node))

    def recount(self, moment: Moment) -> None:
        """Compare if anything has changed since the last recount, but not in this very instant: such a change may not
        be shown yet. A gauge that is written is compared in any case."""
        if self._recounted == self._changes:
            return
        if all(event.t_us < moment.t_us for event, _true in self._changed.values()):
            self._recounted = self._changes
            for node in self.cluster.led:
                self._check(node, moment, self._count(node))

    def finish(self) -> None:
        for node, (event, true) in self._changed.items():
            self._check(node, event, true)

    def _change(self, event: Event, node: int) -> None:
        before = self._changed.get(node)
        if before is not None and before[0].t_us < event.t_us:
            self._check(node, *before)
        self._changed[node] = event, self._counts.get(node, 0)

    def _check(self, node: int, event: Event, true: int) -> None:
        shown = self._shown.get(node)
        if shown is not None and shown != true:
            self.violated(event, CountWrong(node, short_name(self.gauge), shown, true))


class UnderReplicatedTrue(CountTrue):
    """UnderReplicatedPartitions counts partitions that the broker leads, as far as it knows them, by its release's
    definition.

    Verified: at each change, and from scratch when the cluster is at rest; on one seed of twenty also ten times a
        second. What the broker knows is the replicas and the ISR that it has received in LeaderAndIsr or has written
        itself.

    Not verified: that what the broker knows is up to date; requests take their time.
    """

    ids = ("T1",)
    statement = (
        "URP(b) = |{p led by b : p under-replicated}|: "
        "UnderReplicatedPartitions counts the partitions that the broker leads, as it knows them"
    )
    fails_when = "a broker does not count again when an ISR changes"
    gauge = UNDER_REPLICATED

    def begin(self) -> None:
        super().begin()
        self._definitions: dict[int, str] = {}
        """The gauge that came with the release's definition of under-replicated, by broker."""

    def on_registered(self, event: MetricRegistered) -> None:
        super().on_registered(event)
        if event.metric in (REASSIGNED, REASSIGNING):
            self._definitions[event.node] = event.metric

    def on_crashed(self, event: NodeCrashed) -> None:
        super().on_crashed(event)
        self._definitions.pop(event.node, None)

    def counts(self, led: LedPartition, node: int) -> bool:
        """By the factor that the partition keeps, or by one of three definitions (readings §8)."""
        definition = self._definitions.get(node, "")
        if led.replication_factor:
            return led.replication_factor > len(led.isr)
        if definition == REASSIGNED:
            return any(replica not in led.isr for replica in (led.replicas if led.current is None else led.current))
        added = led.adding if definition == REASSIGNING else ()
        return sum(replica not in added for replica in led.replicas) > len(led.isr)
