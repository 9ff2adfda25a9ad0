"""Controllers, their requests and elections, and the states of partitions."""

from __future__ import annotations

from collections.abc import Iterator

from controller.states import PARTITION_PREDECESSORS, PartitionState, ReplicaState
from emulator.protocol.control_requests import PartitionsChanged, ReplicasChanged
from emulator.protocol.events import (
    ControllerElected,
    ControllerResigned,
    ControlRequest,
    ControlResponse,
    LeaderElected,
    NodeCrashed,
    NodeStarted,
)
from scenarios.observe.past.cluster_state import FoldedState
from scenarios.observe.reach.part import ReachPart, Release

APIS = ("LeaderAndIsr", "UpdateMetadata", "StopReplica")
RACE = "StopReplica races LeaderAndIsr"
ZOMBIE_CONTROLLER = "a replaced controller lives on"


class ReachedRequests(ReachPart):
    """Control requests that are refused, and those that race: to the same broker, of two controllers."""

    def __init__(self, counts: dict[str, int], cluster: FoldedState) -> None:
        super().__init__(counts, cluster)
        self._under_way: dict[tuple[int, str], int] = {}
        """The controller whose request has no answer yet, by receiver and API."""

    @classmethod
    def names(cls, release: Release) -> Iterator[str]:
        controller, brokers = release.policies.controller, release.policies.brokers
        for api in APIS:
            yield f"{api} refused: STALE_CONTROLLER_EPOCH"
            if controller.broker_epochs:
                yield f"{api} refused: STALE_BROKER_EPOCH"
                if not brokers.accepts_newer_broker_epoch:
                    yield f"{api} refused: UNKNOWN_SERVER_ERROR"
        yield "LeaderAndIsr refused for partitions"
        yield "StopReplica refused for partitions"
        yield RACE

    def on_request(self, event: ControlRequest) -> None:
        other = {"StopReplica": "LeaderAndIsr", "LeaderAndIsr": "StopReplica"}.get(event.api)
        if other is not None and self._under_way.get((event.broker, other), event.node) != event.node:
            self.count(RACE)
        self._under_way[event.broker, event.api] = event.node

    def on_response(self, event: ControlResponse) -> None:
        self._under_way.pop((event.node, event.api), None)
        if event.error != "NONE":
            self.count(f"{event.api} refused: {event.error}")
        elif event.refused:
            self.count(f"{event.api} refused for partitions")


class ReachedElections(ReachPart):
    """Elections of leaders by their selector, and of controllers."""

    def __init__(self, counts: dict[str, int], cluster: FoldedState) -> None:
        super().__init__(counts, cluster)
        self._running: dict[int, None] = {}
        self._controller = -1

    @classmethod
    def names(cls, release: Release) -> Iterator[str]:
        for selector in ("new", "offline", "preferred", "reassigned", "controlled-shutdown"):
            yield f"leader elected: {selector}"
        yield "leader elected: offline, unclean"
        yield "controller elected"
        yield "controller resigned"
        yield ZOMBIE_CONTROLLER

    def on_leader(self, event: LeaderElected) -> None:
        self.count(f"leader elected: {event.selector}{', unclean' if event.unclean else ''}")

    def on_started(self, event: NodeStarted) -> None:
        self._running[event.node] = None

    def on_crashed(self, event: NodeCrashed) -> None:
        self._running.pop(event.node, None)

    def on_elected(self, event: ControllerElected) -> None:
        self.count("controller elected")
        if self._controller != event.node and self._controller in self._running:
            self.count(ZOMBIE_CONTROLLER)
        self._controller = event.node

    def on_resigned(self, event: ControllerResigned) -> None:
        self.count("controller resigned")
        if self._controller == event.node:
            self._controller = -1


class ReachedStates(ReachPart):
    """The changes of state that the controller's two state machines make."""

    @classmethod
    def names(cls, release: Release) -> Iterator[str]:
        for state, before in PARTITION_PREDECESSORS.items():
            if state is not PartitionState.NON_EXISTENT or release.policies.deletes_topics:
                yield from (f"partition {predecessor.name} to {state.name}" for predecessor in before)
        for replica_state, replica_before in release.policies.controller.replicas.predecessors.items():
            yield from (f"replica {predecessor.name} to {replica_state.name}" for predecessor in replica_before)

    def on_partitions(self, event: PartitionsChanged) -> None:
        for before in dict.fromkeys(event.before):
            self.count(f"partition {PartitionState(before).name} to {PartitionState(event.after).name}")

    def on_replicas(self, event: ReplicasChanged) -> None:
        for before in dict.fromkeys(event.before):
            self.count(f"replica {ReplicaState(before).name} to {ReplicaState(event.after).name}")
