"""T4, T5: what controllers show: how many partitions are offline, and that there is one controller."""

from __future__ import annotations

from typing import Any, ClassVar

from emulator.metrics.events import GaugeSet
from emulator.protocol import znodes
from emulator.protocol.events import NodeCrashed
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import LeaderAndIsr
from emulator.trace.events import ZkSession, ZkWritten
from scenarios.checkers.checker import Checker, Moment, Report
from scenarios.checkers.ghosts import Ghosts
from scenarios.checkers.subscriptions import StateWritten
from scenarios.mbeans import ACTIVE_CONTROLLERS, OFFLINE


class OfflineTrue(Checker):
    """The active controller's OfflinePartitionsCount against ZooKeeper, whenever nothing is left to do.

    Verified: the partitions whose leader is none or not registered, counted anew; those of topics that are to be
        deleted may be counted or not, as releases differ.

    Not verified: the gauge while the controller has something left to do.
    """

    name: ClassVar[str] = "offline_true"
    ids: ClassVar[tuple[str, ...]] = ("T4",)
    statement: ClassVar[str] = (
        "at rest offline = |{p : no live leader}|: "
        "at rest OfflinePartitionsCount counts the partitions without a live leader"
    )
    catches: ClassVar[tuple[str, ...]] = ("KAFKA-1068",)

    def __init__(self, ghosts: Ghosts, report: Report) -> None:
        super().__init__(ghosts, report)
        self._states: dict[TopicPartition, LeaderAndIsr] = {}
        self._registered: dict[int, None] = {}
        self._deleting: dict[str, None] = {}
        self._controller = -1
        self._shown: dict[int, dict[str, int]] = {}

    def on_state(self, event: StateWritten) -> None:
        if event.state is None:
            self._states.pop(event.tp, None)
        else:
            self._states[event.tp] = event.state

    def on_written(self, event: ZkWritten) -> None:
        parent, _, child = event.path.rpartition("/")
        gone = event.op == "delete"
        if event.path == znodes.CONTROLLER:
            self._controller = -1 if gone else znodes.decode_controller(event.data)
        elif parent == znodes.BROKER_IDS:
            _put(self._registered, int(child), gone)
        elif parent == znodes.DELETE_TOPICS:
            _put(self._deleting, child, gone)

    def on_set(self, event: GaugeSet) -> None:
        if event.metric in (OFFLINE, ACTIVE_CONTROLLERS):
            self._shown.setdefault(event.node, {})[event.metric] = event.value

    def on_crashed(self, event: NodeCrashed) -> None:
        self._shown.pop(event.node, None)

    def at_rest(self, moment: Moment) -> None:
        gauges = self._shown.get(self._controller, {})
        if not gauges.get(ACTIVE_CONTROLLERS):
            return
        offline = [tp for tp, state in self._states.items() if state.leader not in self._registered]
        least = sum(tp.topic not in self._deleting for tp in offline)
        shown = gauges.get(OFFLINE, 0)
        if not least <= shown <= len(offline):
            self.violated(
                moment,
                f"controller {self._controller} shows {shown} offline partitions; {least} have no live leader"
                + (f", and {len(offline) - least} that are to be deleted" if len(offline) > least else ""),
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
