"""T4: OfflinePartitionsCount counts the partitions without a live leader."""

from __future__ import annotations

from collections.abc import Collection

from emulator.metrics.metric_events import GaugeSet
from emulator.protocol import znodes
from emulator.protocol.events import ControllerElected, NodeCrashed
from emulator.protocol.types import TopicPartition
from emulator.trace import Event
from emulator.trace.events import ZkWritten
from scenarios.observe.checkers.checker import Checker, Moment
from scenarios.observe.findings.gauge_facts import OfflineCounted, OfflineShown
from scenarios.observe.mbeans import ACTIVE_CONTROLLERS, CONTROLLER_STATE, OFFLINE
from scenarios.observe.past.changes import StateWritten

IDLE = 0
LONG_US = 20_000_000
"""Time in which a controller is notified of a write, or loses its session (18 s since 2.5)."""


class OfflineTrue(Checker):
    """The active controller's OfflinePartitionsCount against ZooKeeper: at the instant at which a failover ends, and
    when the cluster is at rest. That of the other brokers is 0.

    Verified: the gauge against the partitions whose leader is none or not registered, counted from scratch. Partitions
        of topics that are being deleted may be counted or not, as releases differ. After a failover this also holds
        for partitions whose leader registered or went, or was changed by an older controller, since the election: the
        new controller may have read before that. On one seed of twenty the count is also compared ten times a second,
        once nothing that it depends on has changed for 20 s. At rest no registered broker but the controller shows
        offline partitions.

    Not verified: the gauge while the controller has work to do; the end of a failover in releases without the gauge
        ControllerState (before 0.11).
    """

    ids = ("T4",)
    statement = (
        "after failover and at rest offline = |{p : no live leader}|: "
        "OfflinePartitionsCount counts the partitions without a live leader"
    )
    fails_when = "a new controller counts only what changes later"

    def begin(self) -> None:
        self._shown: dict[int, dict[str, int]] = {}
        self._changed_us = 0
        self._recounted = False
        self._elected: ControllerElected | None = None
        self._unsure: dict[int | TopicPartition, None] = {}

    def on_elected(self, event: ControllerElected) -> None:
        self._elected = event
        self._unsure.clear()

    def on_state(self, event: StateWritten) -> None:
        before = None if event.before is None else event.before.leader
        if event.state is None:
            self._change(event)
            return
        if event.state.leader != before:
            self._change(event)
            if self._elected is not None and event.state.controller_epoch < self._elected.controller_epoch:
                self._unsure[event.tp] = None

    def on_written(self, event: ZkWritten) -> None:
        parent, _, child = event.path.rpartition("/")
        if parent == znodes.BROKER_IDS and self._elected is not None:
            self._unsure[int(child)] = None
        if parent in (znodes.BROKER_IDS, znodes.DELETE_TOPICS) or event.path == znodes.CONTROLLER:
            self._change(event)

    def _change(self, event: Event) -> None:
        self._changed_us = event.t_us
        self._recounted = False

    def on_set(self, event: GaugeSet) -> None:
        if event.metric in (OFFLINE, ACTIVE_CONTROLLERS, CONTROLLER_STATE):
            self._shown.setdefault(event.node, {})[event.metric] = event.value
            self._recounted = False
        if event.metric == CONTROLLER_STATE and self._elected is not None and event.node == self._elected.node:
            self._elected = None
            if event.node == self.cluster.controller:  # it may have been replaced meanwhile
                self._check(event, self._unsure)

    def on_crashed(self, event: NodeCrashed) -> None:
        self._shown.pop(event.node, None)
        if self._elected is not None and event.node == self._elected.node:
            self._elected = None

    def at_rest(self, moment: Moment) -> None:
        self._check(moment)
        for broker, gauges in self._shown.items():
            shown = gauges.get(OFFLINE, 0)
            if shown and broker != self.cluster.controller and self.cluster.is_registered(broker):
                self.violated(moment, OfflineShown(broker, shown))

    def recount(self, moment: Moment) -> None:
        busy = self._shown.get(self.cluster.controller, {}).get(CONTROLLER_STATE, IDLE) != IDLE
        if not (busy or self._recounted) and moment.t_us - self._changed_us >= LONG_US:
            self._recounted = True
            self._check(moment)

    def _check(self, event: Event, unsure: Collection[int | TopicPartition] = ()) -> None:
        gauges = self._shown.get(self.cluster.controller, {})
        if not gauges.get(ACTIVE_CONTROLLERS):
            return
        least = most = 0
        for tp, state in self.cluster.states.items():
            may = state.leader in unsure or tp in unsure
            offline = not self.cluster.is_registered(state.leader)
            most += offline or may
            least += offline and not may and not self.cluster.is_deleting(tp.topic)
        shown = gauges.get(OFFLINE, 0)
        if not least <= shown <= most:
            self.violated(event, OfflineCounted(self.cluster.controller, shown, least, most - least))
