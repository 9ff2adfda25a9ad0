"""The role of a broker at a moment, as one letter: in one partition, or in the cluster.

Leader, ISR and assignment are ZooKeeper's; whether a broker is down or paused, or a partition has failed on it, comes
from its own events.
"""

from __future__ import annotations

from typing import Any

from emulator.protocol import znodes
from emulator.protocol.events import (
    ControllerElected,
    ControllerResigned,
    Fault,
    NodeCrashed,
    NodeStarted,
    PartitionFailed,
    PartitionFailureCleared,
)
from emulator.protocol.types import TopicPartition
from emulator.trace.events import ZkWritten


class Health:
    """Which brokers have started, are down or paused."""

    legend = "x down, P paused, . not started"

    def __init__(self) -> None:
        self._up: dict[int, bool] = {}
        self._paused: dict[int, bool] = {}

    def see(self, event: Any) -> None:
        kind = type(event)
        if kind is NodeStarted:
            self._up[event.node] = True
        elif kind is NodeCrashed:
            self._up[event.node] = self._paused[event.node] = False
        elif kind is Fault and event.action in ("broker.pause", "broker.resume"):
            for broker in event.brokers:
                self._paused[broker] = event.action == "broker.pause"

    def letter(self, broker: int) -> str:
        """``x`` or ``P``; empty for a broker that runs, or was never seen to start."""
        if not self._up.get(broker, True):
            return "x"
        return "P" if self._paused.get(broker) else ""

    def started(self, broker: int) -> bool:
        return broker in self._up


class ClusterRoles:
    """C the active controller, o up."""

    legend = "C controller, o up, x down, P paused, . not started"

    def __init__(self) -> None:
        self._health = Health()
        self._controllers: dict[int, bool] = {}

    def see(self, event: Any) -> None:
        self._health.see(event)
        kind = type(event)
        if kind is ControllerElected:
            self._controllers[event.node] = True
        elif kind in (ControllerResigned, NodeCrashed):
            self._controllers[event.node] = False

    def letter(self, broker: int) -> str:
        health = self._health.letter(broker)
        if health or not self._health.started(broker):
            return health or "."
        return "C" if self._controllers.get(broker) else "o"


class PartitionRoles:
    """L leader, I in-sync follower, f follower catching up, F failed."""

    legend = "L leader, I in sync, f catching up, F failed, x down, P paused, . none"

    def __init__(self, tp: TopicPartition) -> None:
        self._health = Health()
        self._tp = tp
        self._state_path = znodes.state_path(tp)
        self._topic_path = znodes.topic_path(tp.topic)
        self._state: znodes.LeaderAndIsr | None = None
        self._assignment: tuple[int, ...] = ()
        self._failed: dict[int, bool] = {}

    def see(self, event: Any) -> None:
        kind = type(event)
        if kind is ZkWritten:
            self._see_znode(event)
        elif kind in (PartitionFailed, PartitionFailureCleared):
            if (event.topic, event.partition) == self._tp:
                self._failed[event.node] = kind is PartitionFailed
        else:
            self._health.see(event)
            if kind is NodeCrashed:
                self._failed[event.node] = False

    def _see_znode(self, event: ZkWritten) -> None:
        gone = event.op == "delete"
        if event.path == self._state_path:
            self._state = None if gone else znodes.LeaderAndIsr.decode(event.data, event.version)
        elif event.path == self._topic_path:
            assigned = {} if gone else znodes.decode_topic(event.data)
            self._assignment = assigned.get(self._tp.partition, ())

    def letter(self, broker: int) -> str:
        state = self._state
        in_sync = state is not None and broker in state.isr
        leads = state is not None and broker == state.leader
        if not leads and not in_sync and broker not in self._assignment:
            return "x" if self._health.letter(broker) == "x" else "."
        health = self._health.letter(broker)
        if health:
            return health
        if leads:
            return "L"
        return "F" if self._failed.get(broker) else "I" if in_sync else "f"
