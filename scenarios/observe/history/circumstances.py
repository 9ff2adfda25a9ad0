"""Circumstances: what a cluster can be expected to do by itself, as far as faults excuse no delay.

A checker of liveness asks since when nothing excuses a delay. A fault that is not followed machine by machine (a held
gate, a slow disk) excuses everything while it lasts.
"""

from __future__ import annotations

from collections.abc import Callable

from emulator.protocol.events import Fault, NodeCrashed, NodeStarted, RoutesChanged
from emulator.protocol.types import TopicPartition
from emulator.trace.events import ZkWritten
from emulator.zookeeper import ZOOKEEPER
from scenarios.observe.past.changes import StateWritten
from scenarios.observe.past.cluster_past import HEAL
from scenarios.observe.past.cluster_state import FoldedState

CLOCK = "broker.clock"

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
"""Actions of every day's operation: the cluster has to do its work meanwhile."""

SUDDEN = ("broker.crash", "controller.crash")
"""Faults that peers notice at once, since connections are closed."""

LONG_AGO_US = 10**12

ANNOUNCED_US = 10_000_000
"""A broker announces the changes of the ISRs that it leads once none of them has changed for 5 s, and looks every 2.5 s
(ReplicaManager.maybePropagateIsrChanges, 0.8.2 to 2.6)."""


class Circumstances:
    """A fold that knows which faults excuse a delay, and until when.

    Args:
        cluster: the present state of the cluster.
        undone_by: ``StartSettings.undone_by``.

    Attributes:
        impaired: brokers in which a fault was prepared that shows later, until they are started again.
        calm_since_us: the last moment at which a fault began or ended that delays messages or stops a machine.
        clocks: the brokers whose clock a fault has set.
        throttled: whether a throttle of replication was ever written.
    """

    def __init__(self, cluster: FoldedState, undone_by: Callable[[str], str | None]) -> None:
        self._cluster = cluster
        self._undone_by = undone_by
        self.impaired: dict[int, None] = {}
        self.calm_since_us = -LONG_AGO_US
        self.clocks: dict[int, None] = {}
        self.throttled = False
        self._standing: dict[tuple[str, str], int] = {}
        self._abandoned: dict[int, None] = {}
        self._states_us: dict[int, int] = {}
        """When the state of a partition that a broker leads was last written."""

    @property
    def troubled(self) -> bool:
        """Whether a fault stands that may delay anything."""
        return bool(self._standing)

    def bound_at_rest(self, now_us: int, bound_us: int) -> int:
        """How long a condition may last once nothing more will happen by itself: ``bound_us`` while a request that was
        lost may still wait for the end of its connection, which counts as rest."""
        return 0 if now_us - self.calm_since_us > bound_us else bound_us

    def isr_announced(self, tp: TopicPartition, now_us: int) -> bool:
        """Whether no ISR of the leader of ``tp`` has changed for so long that it has announced what has: a change of
        any of them puts off the announcement of all. Not known of a leader whose clock a fault has set, by which it
        waits."""
        if self._cluster.leader(tp) in self.clocks:
            return False
        return now_us - self._states_us.get(self._cluster.leader(tp), 0) > ANNOUNCED_US

    def works(self, broker: int) -> bool:
        """Whether a broker runs, is registered and reaches ZooKeeper. A process that was started again quickly cannot
        register before the session of the one before it has expired; that may have begun only after its end."""
        cluster = self._cluster
        started_us, registration = cluster.started_us(broker), cluster.registrations.get(broker)
        if started_us is None or registration is None or registration.of_earlier_process:
            return False
        reaches = not cluster.is_paused(broker) and cluster.connected(broker, ZOOKEEPER)
        return registration.t_us >= started_us and reaches and broker not in self._abandoned

    def worked_since_us(self, broker: int) -> int | None:
        """The time since which a broker works, whichever one is the controller, and nothing delays it; None: something
        does now."""
        if self.troubled or not self.works(broker):
            return None
        return max(self.calm_since_us, self._cluster.registrations[broker].t_us)

    def controlled_since_us(self) -> int | None:
        """The time since which a controller works, and nothing delays it; None: something does now."""
        since_us = self.worked_since_us(self._cluster.controller)
        return None if since_us is None else max(since_us, self._cluster.controller_since_us)

    def reached_since_us(self, broker: int) -> int | None:
        """The time since which a controller works that reaches ``broker``, which works too; None: not now."""
        cluster, since_us = self._cluster, self.controlled_since_us()
        if since_us is None or not self.works(broker) or not cluster.connected(broker, cluster.controller):
            return None
        return max(since_us, cluster.registrations[broker].t_us)

    def on_state(self, event: StateWritten) -> None:
        if event.state is not None:
            self._states_us[event.state.leader] = event.t_us

    def on_written(self, event: ZkWritten) -> None:
        self.throttled |= "throttled" in event.data

    def on_started(self, event: NodeStarted) -> None:
        self.impaired.pop(event.node, None)

    def on_crashed(self, event: NodeCrashed) -> None:
        self.impaired.pop(event.node, None)
        if event.kind == "host":
            self.calm_since_us = event.t_us

    # -- faults -------------------------------------------------------------------------------------------------------

    def on_routes(self, event: RoutesChanged) -> None:
        self.calm_since_us = event.t_us

    def on_fault(self, event: Fault) -> None:
        action = event.action
        machines = dict.fromkeys(event.brokers)
        if action == HEAL:
            self._heal(machines)
        if action == CLOCK:
            self.clocks |= machines
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
            self.impaired.pop(broker, None)
        self._abandoned = {broker: None for broker in self._cluster.seen if broker not in core}

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
