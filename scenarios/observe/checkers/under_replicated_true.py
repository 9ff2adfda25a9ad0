"""T1: UnderReplicatedPartitions counts the under-replicated partitions that a broker leads, as it knows them."""

from __future__ import annotations

from typing import ClassVar

from emulator.metrics import short_name
from emulator.metrics.events import GaugeSet, MetricRegistered
from emulator.protocol.events import (
    BecameFollower,
    BecameLeader,
    IsrChanged,
    NodeCrashed,
    ReplicaOffline,
    ReplicaStopped,
)
from emulator.trace import Event
from scenarios.observe.checkers.checker import Checker, Moment, Report
from scenarios.observe.findings.gauge_facts import CountWrong
from scenarios.observe.history.history import History
from scenarios.observe.mbeans import UNDER_REPLICATED


class CountTrue(Checker):
    """The check of one gauge that counts partitions.

    A transition changes many partitions and then writes the gauge, all in one instant. So the gauge is compared when
    it is written; where it was not written, at a later change, at a recount, or when the cluster is at rest.
    """

    gauge: ClassVar[str]

    def __init__(self, history: History, report: Report) -> None:
        super().__init__(history, report)
        self._led = history.led_partitions
        self._shown: dict[int, int] = {}
        self._changed: dict[int, tuple[Event, int]] = {}
        self._recounted = 0

    def on_registered(self, event: MetricRegistered) -> None:
        if event.metric == self.gauge:
            self._shown[event.node] = 0

    def on_set(self, event: GaugeSet) -> None:
        if event.metric == self.gauge:
            self._shown[event.node] = event.value
            self._changed.pop(event.node, None)
            self._check(event.node, event, self._led.count(event.node, self.gauge))

    def on_became_leader(self, event: BecameLeader) -> None:
        self._change(event, event.node)

    def on_became_follower(self, event: BecameFollower) -> None:
        self._change(event, event.node)

    def on_isr_changed(self, event: IsrChanged) -> None:
        self._change(event, event.node)

    def on_stopped(self, event: ReplicaStopped) -> None:
        self._change(event, event.node)

    def on_lost(self, event: ReplicaOffline) -> None:
        self._change(event, event.node)

    def on_crashed(self, event: NodeCrashed) -> None:
        self._shown.pop(event.node, None)
        self._changed.pop(event.node, None)

    def at_rest(self, moment: Moment) -> None:
        for node in self._led.nodes():
            self._check(node, moment, self._led.recounted(node, self.gauge))

    def recount(self, moment: Moment) -> None:
        """Compare if anything has changed since the last recount, but not in this very instant: such a change may not
        be shown yet. A gauge that is written is compared in any case."""
        if self._recounted == self._led.changes:
            return
        if all(event.t_us < moment.t_us for event, _true in self._changed.values()):
            self._recounted = self._led.changes
            for node in self._led.nodes():
                self._check(node, moment, self._led.recounted(node, self.gauge))

    def finish(self) -> None:
        for node, (event, true) in self._changed.items():
            self._check(node, event, true)

    def _change(self, event: Event, node: int) -> None:
        before = self._changed.get(node)
        if before is not None and before[0].t_us < event.t_us:
            self._check(node, *before)
        self._changed[node] = event, self._led.count(node, self.gauge)

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

    name: ClassVar[str] = "under_replicated_true"
    ids: ClassVar[tuple[str, ...]] = ("T1",)
    statement: ClassVar[str] = (
        "URP(b) = |{p led by b : p under-replicated}|: "
        "UnderReplicatedPartitions counts the partitions that the broker leads, as it knows them"
    )
    catches: ClassVar[tuple[str, ...]] = ("KIP-352",)
    fails_when: ClassVar[str | None] = "a broker does not count again when an ISR changes"
    gauge: ClassVar[str] = UNDER_REPLICATED
