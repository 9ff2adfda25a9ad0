"""T5: at most one broker with a session shows that it is the controller."""

from __future__ import annotations

from emulator.metrics.metric_events import GaugeSet
from emulator.protocol.events import ControllerElected, ControllerResigned, NodeCrashed
from emulator.protocol.znodes import CONTROLLER
from emulator.trace.events import ZkSession, ZkWritten
from emulator.zookeeper import ZOOKEEPER
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.control_facts import ResignedShows, SeveralControllers
from scenarios.observe.mbeans import ACTIVE_CONTROLLERS


class OneActiveController(Checker):
    """At most one broker with a ZooKeeper session shows that it is the controller. A broker whose session has expired,
    or whose /controller an operator has deleted, may still show it until it learns of that.

    Verified: at each change of the gauge ActiveControllerCount and of a session. A broker that resigns shows in the
        same step that it is not the controller any more (KafkaController.onControllerResignation, 1.1 to 2.7); that is
        looked at when something is written to ZooKeeper next.

    Not verified: that there is a controller at all.
    """

    ids = ("T5",)
    statement = (
        "Σ ActiveControllerCount(b) ≤ 1 over b with a session: "
        "no two brokers with a session show that they are the controller"
    )
    fails_when = "a controller that resigns shows it too late"

    def begin(self) -> None:
        self._active: dict[int, None] = {}
        self._deposed: dict[int, None] = {}
        """The brokers whose /controller an operator has deleted. They may show only later that they resigned."""
        self._resigned: dict[int, int] = {}
        """The times at which brokers resigned, for those that may still show that they are the controller."""
        self._owner: int | None = None
        """The broker that has created /controller."""

    def on_session(self, event: ZkSession) -> None:
        if event.state == "created":
            self._check(event)

    def on_set(self, event: GaugeSet) -> None:
        if event.metric == ACTIVE_CONTROLLERS:
            if event.value:
                self._active[event.node] = None
            else:
                self._active.pop(event.node, None)
                self._deposed.pop(event.node, None)
            self._check(event)

    def on_elected(self, event: ControllerElected) -> None:
        self._resigned.pop(event.node, None)

    def on_resigned(self, event: ControllerResigned) -> None:
        self._resigned[event.node] = event.t_us

    def on_written(self, event: ZkWritten) -> None:
        for node, since_us in list(self._resigned.items()) if self._resigned else ():
            if since_us < event.t_us:
                del self._resigned[node]
                if node in self._active:
                    self.violated(event, ResignedShows(node))
        if event.path != CONTROLLER:
            return
        if event.op == "create":
            self._owner = event.client
            self._deposed.pop(event.client, None)
        elif event.op == "delete" and event.client < ZOOKEEPER:  # the operator
            self._deposed |= self._active
            if self._owner is not None:
                self._deposed[self._owner] = None

    def on_crashed(self, event: NodeCrashed) -> None:
        self._active.pop(event.node, None)
        self._resigned.pop(event.node, None)

    def _check(self, event: GaugeSet | ZkSession) -> None:
        with_session = filter(self.cluster.own_session, self._active)
        holders = [node for node in with_session if node not in self._deposed]
        if len(holders) > 1:
            brokers = tuple(sorted(holders))
            self.violated(event, SeveralControllers(brokers), brokers=brokers)
