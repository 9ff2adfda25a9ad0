"""What a cluster can be expected to do by itself: which machines run and reach each other, and who is its controller.

A checker of liveness asks since when nothing excuses a delay. What is known is known from events alone: faults, routes,
ZooKeeper's writes. A fault that is not followed machine by machine (a held gate, a slow disk) excuses everything while
it lasts.
"""

from __future__ import annotations

from collections.abc import Callable

from emulator.protocol import znodes
from emulator.protocol.events import (
    BrokerRegistered,
    ControllerElected,
    Fault,
    LogDirFailed,
    NodeCrashed,
    NodeStarted,
    ReplicaOffline,
    RoutesChanged,
)
from emulator.trace.events import Step, ZkSession, ZkWritten
from emulator.zookeeper import ZOOKEEPER

FOLLOWED = (
    "broker.start", "broker.crash", "broker.stop", "broker.controlled_shutdown", "broker.pause", "broker.resume",
    "controller.crash", "link.cut", "host.isolate", "network.partition",
)  # fmt: skip
"""Faults that last and are followed by other events, machine by machine."""

INJECTED = (
    "broker.fail_start_replica", "broker.ignore_become_leader", "fetcher.", "disk.fail", "disk.full", "disk.corrupt",
    "log_dir.",
)  # fmt: skip
"""Errors that a broker meets later, in its own work."""

ORDINARY = (
    "reassign.",
    "topic.",
    "config.",
    "election.",
    "client.",
    "broker.start",
    "broker.controlled_shutdown",
    "broker.stop",
)
"""What operators do every day: the cluster has to do its work meanwhile."""

HEAL = "heal"

SUDDEN = ("broker.crash", "controller.crash")
"""Faults that peers notice at once, since connections are closed."""

READS_BROKERS = "failover.F3"
BROKER_FAILS = "broker-failure.1"
LONG_AGO_US = 10**12


class Circumstances:
    """The fold.

    Args:
        undone_by: ``StartSettings.undone_by``.

    Attributes:
        registered: brokers in /brokers/ids, each with the time of its registration.
        running: brokers whose process runs, each with the time of its start.
        paused, shutting_down: brokers.
        lacks_dirs: brokers of which a log directory has failed since they were started.
        impaired: brokers in which a fault was prepared that shows later, until they are started again.
        controller: the broker in /controller; -1: none.
        controller_since_us: when it won the election.
        calm_since_us: the last moment at which a fault began or ended that delays messages or stops a machine.
        known_dead: brokers that are not registered, as the controller knows: it has found them gone, or has found them
            missing when it was elected; each with the time of that.
        deleting: topics that are marked for deletion.
    """

    def __init__(self, undone_by: Callable[[str], str | None]) -> None:
        self._undone_by = undone_by
        self.registered: dict[int, int] = {}
        self.running: dict[int, int] = {}
        self.paused: dict[int, None] = {}
        self.shutting_down: dict[int, None] = {}
        self.lacks_dirs: dict[int, None] = {}
        self.impaired: dict[int, None] = {}
        self.controller = -1
        self.controller_since_us = 0
        self.calm_since_us = -LONG_AGO_US
        self.known_dead: dict[int, int] = {}
        self._seen: dict[int, None] = {}
        self._missing: dict[int, None] = {}
        """Brokers that have not been registered since the controller was elected."""
        self.deleting: dict[str, None] = {}
        self._cut: dict[tuple[int, int], None] = {}
        self._standing: dict[tuple[str, str], int] = {}
        self._abandoned: dict[int, None] = {}
        self._session_us: dict[int, int] = {}
        """By broker, when its last session was created."""
        self._sessions: dict[int, dict[int, None]] = {}
        """By broker, those that have not ended."""
        self._left_behind: dict[int, None] = {}
        """Brokers whose znode is, or may be, that of an earlier incarnation: its request was carried out after its
        end."""

    @property
    def troubled(self) -> bool:
        """Whether a fault stands that may delay anything."""
        return bool(self._standing)

    def bound_at_rest(self, now_us: int, bound_us: int) -> int:
        """How long a condition may last once nothing more will happen by itself: ``bound_us`` while a request that was
        lost may still wait for the end of its connection, which counts as rest."""
        return 0 if now_us - self.calm_since_us > bound_us else bound_us

    def connected(self, one: int, other: int) -> bool:
        return (one, other) not in self._cut and (other, one) not in self._cut

    def works(self, broker: int) -> bool:
        """Whether a broker runs, is registered and reaches ZooKeeper. A process that was started again quickly cannot
        register before the session of the one before it has expired; that may have begun only after its end."""
        return (
            broker in self.running
            and self.registered.get(broker, -1) >= self.running[broker]
            and broker not in self.paused
            and broker not in self._abandoned
            and broker not in self._left_behind
            and self.connected(broker, ZOOKEEPER)
        )

    def controlled_since_us(self) -> int | None:
        """Since when a controller works, and nothing delays it; None: something does now."""
        if self.troubled or self.controller < 0 or not self.works(self.controller):
            return None
        return max(self.calm_since_us, self.controller_since_us, self.registered[self.controller])

    def reached_since_us(self, broker: int) -> int | None:
        """Since when a controller works that reaches ``broker``, which works too; None: it is not so now."""
        since_us = self.controlled_since_us()
        if since_us is None or not self.works(broker) or not self.connected(broker, self.controller):
            return None
        return max(since_us, self.registered[broker])

    # -- machines -----------------------------------------------------------------------------------------------------

    def on_started(self, event: NodeStarted) -> None:
        self._forget(event.node)
        self.running[event.node] = event.t_us

    def on_crashed(self, event: NodeCrashed) -> None:
        self._forget(event.node)
        if event.kind == "host":
            self.calm_since_us = event.t_us

    def _forget(self, broker: int) -> None:
        self.running.pop(broker, None)
        for brokers in (self.paused, self.shutting_down, self.lacks_dirs, self.impaired):
            brokers.pop(broker, None)

    def on_registered(self, event: BrokerRegistered) -> None:
        """The answer to the broker's request; its session may have expired before it arrives, and the znode is gone."""
        if event.node in self.registered:
            self.registered[event.node] = event.t_us
        self._left_behind.pop(event.node, None)

    def on_elected(self, event: ControllerElected) -> None:
        self.known_dead.clear()
        self._missing = {broker: None for broker in self._seen if broker not in self.registered}

    def on_step(self, event: Step) -> None:
        if event.step == READS_BROKERS and event.edge == "after":
            self.known_dead |= dict.fromkeys(self._missing, event.t_us)
        elif event.step == BROKER_FAILS and event.edge == "before" and event.broker not in self.registered:
            self.known_dead[event.broker] = event.t_us

    def on_dir_failed(self, event: LogDirFailed) -> None:
        """Also as the broker starts: which replicas were there is then in no event."""
        self.lacks_dirs[event.node] = None

    def on_offline(self, event: ReplicaOffline) -> None:
        self.lacks_dirs[event.node] = None

    # -- ZooKeeper ----------------------------------------------------------------------------------------------------

    def on_session(self, event: ZkSession) -> None:
        sessions = self._sessions.setdefault(event.client, {})
        if event.state == "created":
            self._session_us[event.client] = event.t_us
            sessions[event.session] = None
        else:
            sessions.pop(event.session, None)

    def on_written(self, event: ZkWritten) -> None:
        if event.path == znodes.CONTROLLER:
            self.controller = -1 if event.op == "delete" else znodes.decode_controller(event.data)
            self.controller_since_us = event.t_us
        elif event.path.startswith(f"{znodes.DELETE_TOPICS}/"):
            topic = event.path.rpartition("/")[2]
            if event.op == "delete":
                self.deleting.pop(topic, None)
            else:
                self.deleting[topic] = None
        elif event.path.startswith(f"{znodes.BROKER_IDS}/"):
            broker = int(event.path.rpartition("/")[2])
            self._left_behind.pop(broker, None)
            if event.op == "delete":
                self.registered.pop(broker, None)
            else:
                several = len(self._sessions.get(broker, ())) > 1
                if several or self._session_us.get(broker, event.t_us) < self.running.get(broker, 0):
                    self._left_behind[broker] = None
                self.registered[broker] = event.t_us
                self._seen[broker] = None
                self.known_dead.pop(broker, None)
                self._missing.pop(broker, None)

    # -- faults -------------------------------------------------------------------------------------------------------

    def on_routes(self, event: RoutesChanged) -> None:
        self.calm_since_us = event.t_us
        for route in zip(event.sources, event.targets, strict=True):
            if event.cut:
                self._cut[route] = None
            else:
                self._cut.pop(route, None)

    def on_fault(self, event: Fault) -> None:
        action = event.action
        machines = dict.fromkeys(event.brokers)
        if action == HEAL:
            self._heal(machines)
        elif action == "broker.pause":
            self.paused |= machines
        elif action == "broker.resume":
            for broker in machines:
                self.paused.pop(broker, None)
        elif action == "broker.controlled_shutdown":
            self.shutting_down |= machines
        if action.startswith(INJECTED):
            self.impaired |= machines
        if not action.startswith(ORDINARY):
            self._stand(event)
        if not action.startswith(ORDINARY) and action not in SUDDEN:
            self.calm_since_us = event.t_us

    def _heal(self, core: dict[int, None]) -> None:
        """All faults end. Of the brokers that are not in ``core`` nothing is expected any more."""
        self._standing.clear()
        for broker in core:
            self.paused.pop(broker, None)
            self.impaired.pop(broker, None)
        self._abandoned = {broker: None for broker in self._seen if broker not in core}

    def _stand(self, event: Fault) -> None:
        """Note a fault that lasts until its opposite is done to the same machines."""
        undo = None if event.action in FOLLOWED else self._undone_by(event.action)
        if undo is not None:
            key = undo, event.target
            self._standing[key] = self._standing.get(key, 0) + 1
            return
        key = event.action, event.target
        left = self._standing.get(key, 0) - 1
        if left > 0:
            self._standing[key] = left
        else:
            self._standing.pop(key, None)
