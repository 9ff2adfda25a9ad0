"""T4, T5: what controllers show: how many partitions are offline, and that there is one controller."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, ClassVar

from emulator.metrics.events import GaugeSet
from emulator.protocol import znodes
from emulator.protocol.events import ControllerElected, NodeCrashed
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import LeaderAndIsr
from emulator.trace import Event
from emulator.trace.events import ZkSession, ZkWritten
from scenarios.observe.checkers.checker import Checker, Moment, Report
from scenarios.observe.checkers.ghosts import Ghosts
from scenarios.observe.checkers.subscriptions import StateWritten
from scenarios.observe.mbeans import ACTIVE_CONTROLLERS, CONTROLLER_STATE, OFFLINE

IDLE = 0
LONG_US = 20_000_000
"""By then a controller has heard what was written, or has lost its session (18 s since 2.5)."""


class OfflineTrue(Checker):
    """The active controller's OfflinePartitionsCount against ZooKeeper: in the instant in which a failover is over, and
    whenever nothing is left to do.

    Verified: the partitions whose leader is none or not registered, counted anew; those of topics that are to be
        deleted may be counted or not, as releases differ. After a failover those may too whose leader came or went, or
        was changed by an older controller, since the election: the new one may have looked before. On one seed of
        twenty also ten times a second, once nothing that counts has changed for 20 s.

    Not verified: the gauge while the controller has something left to do; the end of a failover where the release has
        no ControllerState to show it (before 0.11).
    """

    name: ClassVar[str] = "offline_true"
    ids: ClassVar[tuple[str, ...]] = ("T4",)
    statement: ClassVar[str] = (
        "after failover and at rest offline = |{p : no live leader}|: "
        "OfflinePartitionsCount counts the partitions without a live leader"
    )
    catches: ClassVar[tuple[str, ...]] = ("KAFKA-1068",)

    def __init__(self, ghosts: Ghosts, report: Report) -> None:
        super().__init__(ghosts, report)
        self._states: dict[TopicPartition, LeaderAndIsr] = {}
        self._registered: dict[int, None] = {}
        self._deleting: dict[str, None] = {}
        self._controller = -1
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
            self._states.pop(event.tp, None)
            return
        self._states[event.tp] = event.state
        if event.state.leader != before:
            self._change(event)
            if self._elected is not None and event.state.controller_epoch < self._elected.controller_epoch:
                self._unsure[event.tp] = None

    def on_written(self, event: ZkWritten) -> None:
        parent, _, child = event.path.rpartition("/")
        gone = event.op == "delete"
        if event.path == znodes.CONTROLLER:
            self._controller = -1 if gone else znodes.decode_controller(event.data)
        elif parent == znodes.BROKER_IDS:
            _put(self._registered, int(child), gone)
            if self._elected is not None:
                self._unsure[int(child)] = None
        elif parent == znodes.DELETE_TOPICS:
            _put(self._deleting, child, gone)
        else:
            return
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
            self._check(event, self._unsure)

    def on_crashed(self, event: NodeCrashed) -> None:
        self._shown.pop(event.node, None)
        if self._elected is not None and event.node == self._elected.node:
            self._elected = None

    def at_rest(self, moment: Moment) -> None:
        self._check(moment)

    def recount(self, moment: Moment) -> None:
        busy = self._shown.get(self._controller, {}).get(CONTROLLER_STATE, IDLE) != IDLE
        if not (busy or self._recounted) and moment.t_us - self._changed_us >= LONG_US:
            self._recounted = True
            self._check(moment)

    def _check(self, event: Event, unsure: Collection[int | TopicPartition] = ()) -> None:
        gauges = self._shown.get(self._controller, {})
        if not gauges.get(ACTIVE_CONTROLLERS):
            return
        least = most = 0
        for tp, state in self._states.items():
            may = state.leader in unsure or tp in unsure
            offline = state.leader not in self._registered
            most += offline or may
            least += offline and not may and tp.topic not in self._deleting
        shown = gauges.get(OFFLINE, 0)
        if not least <= shown <= most:
            self.violated(
                event,
                f"controller {self._controller} shows {shown} offline partitions; {least} have no live leader"
                + (f", and of {most - least} it cannot be told" if most > least else ""),
            )


def _put(among: dict[Any, None], what: Any, gone: bool) -> None:
    if gone:
        among.pop(what, None)
    else:
        among[what] = None


class OneActiveController(Checker):
    """At most one broker with a session shows that it is the controller. One whose session has expired may think so
    until it hears of it.

    Verified: at each change of the gauge and of a session.

    Not verified: that there is one at all.
    """

    name: ClassVar[str] = "one_active_controller"
    ids: ClassVar[tuple[str, ...]] = ("T5",)
    statement: ClassVar[str] = (
        "Σ ActiveControllerCount(b) ≤ 1 over b with a session: "
        "no two brokers with a session show that they are the controller"
    )
    catches: ClassVar[tuple[str, ...]] = ("KAFKA-6082",)

    def __init__(self, ghosts: Ghosts, report: Report) -> None:
        super().__init__(ghosts, report)
        self._sessions: dict[int, dict[int, None]] = {}
        self._active: dict[int, None] = {}

    def on_session(self, event: ZkSession) -> None:
        sessions = self._sessions.setdefault(event.client, {})
        _put(sessions, event.session, event.state != "created")
        if event.state == "created":
            self._check(event)

    def on_set(self, event: GaugeSet) -> None:
        if event.metric == ACTIVE_CONTROLLERS:
            _put(self._active, event.node, not event.value)
            self._check(event)

    def on_crashed(self, event: NodeCrashed) -> None:
        self._active.pop(event.node, None)

    def _check(self, event: GaugeSet | ZkSession) -> None:
        holders = [node for node in self._active if self._sessions.get(node)]
        if len(holders) > 1:
            self.violated(event, f"brokers {', '.join(map(str, sorted(holders)))} show that they are the controller")
