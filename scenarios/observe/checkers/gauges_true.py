"""T1, T2: a broker's gauges of under-replicated and of reassigning partitions are what it was told."""

from __future__ import annotations

from typing import ClassVar

from emulator.metrics import short_name
from emulator.metrics.events import GaugeSet, MetricRegistered
from emulator.protocol.events import BecameFollower, BecameLeader, IsrChanged, NodeCrashed, ReplicaLost, ReplicaStopped
from emulator.trace import Event
from scenarios.observe.checkers.checker import Checker, Moment, Report
from scenarios.observe.checkers.ghosts import Ghosts
from scenarios.observe.mbeans import REASSIGNING, UNDER_REPLICATED


class CountTrue(Checker):
    """Of one gauge. A transition changes many partitions and then writes the gauge, all in one instant: the gauge is
    looked at when it is written and, where it was not, when there is a later change, a recount, or nothing is left to
    do."""

    gauge: ClassVar[str]

    def __init__(self, ghosts: Ghosts, report: Report) -> None:
        super().__init__(ghosts, report)
        self._told = ghosts.told
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
            self._check(event.node, event, self._told.count(event.node, self.gauge))

    def on_became_leader(self, event: BecameLeader) -> None:
        self._change(event, event.node)

    def on_became_follower(self, event: BecameFollower) -> None:
        self._change(event, event.node)

    def on_isr_changed(self, event: IsrChanged) -> None:
        self._change(event, event.node)

    def on_stopped(self, event: ReplicaStopped) -> None:
        self._change(event, event.node)

    def on_lost(self, event: ReplicaLost) -> None:
        self._change(event, event.node)

    def on_crashed(self, event: NodeCrashed) -> None:
        self._shown.pop(event.node, None)
        self._changed.pop(event.node, None)

    def at_rest(self, moment: Moment) -> None:
        for node in self._told.nodes():
            self._check(node, moment, self._told.recounted(node, self.gauge))

    def recount(self, moment: Moment) -> None:
        """Where anything has changed since the last time, and not in this very instant: it may have to be shown still.
        A gauge that is written is looked at in any case."""
        if self._recounted == self._told.changes:
            return
        if all(event.t_us < moment.t_us for event, _true in self._changed.values()):
            self._recounted = self._told.changes
            for node in self._told.nodes():
                self._check(node, moment, self._told.recounted(node, self.gauge))

    def finish(self) -> None:
        for node, (event, true) in self._changed.items():
            self._check(node, event, true)

    def _change(self, event: Event, node: int) -> None:
        before = self._changed.get(node)
        if before is not None and before[0].t_us < event.t_us:
            self._check(node, *before)
        self._changed[node] = event, self._told.count(node, self.gauge)

    def _check(self, node: int, event: Event, true: int) -> None:
        shown = self._shown.get(node)
        if shown is not None and shown != true:
            name = short_name(self.gauge)
            self.violated(event, f"broker {node} shows {name} = {shown}; by what it was told it is {true}")


class UnderReplicatedTrue(CountTrue):
    """UnderReplicatedPartitions counts what the broker leads and was told, by its release's definition.

    Verified: at each change and, counted anew, whenever nothing is left to do; on one seed of twenty ten times a
        second.

    Not verified: that what it was told is so; that takes its time.
    """

    name: ClassVar[str] = "under_replicated_true"
    ids: ClassVar[tuple[str, ...]] = ("T1",)
    statement: ClassVar[str] = (
        "URP(b) = |{p led by b : p under-replicated}|: "
        "UnderReplicatedPartitions counts what the broker leads and was told"
    )
    catches: ClassVar[tuple[str, ...]] = ("KAFKA-8834",)
    gauge: ClassVar[str] = UNDER_REPLICATED


class ReassigningTrue(CountTrue):
    """ReassigningPartitions counts the partitions that the broker leads with replicas being added or removed.

    Verified: at each change and, counted anew, whenever nothing is left to do; on one seed of twenty ten times a
        second.

    Not verified: that what it was told is so.
    """

    name: ClassVar[str] = "reassigning_true"
    ids: ClassVar[tuple[str, ...]] = ("T2",)
    statement: ClassVar[str] = (
        "R(b) = |{p led by b : AR ∪ RR ≠ ∅}|: "
        "ReassigningPartitions counts what the broker leads and a reassignment changes"
    )
    catches: ClassVar[tuple[str, ...]] = ("KAFKA-8834",)
    gauge: ClassVar[str] = REASSIGNING
