"""``AtRest`` and ``MovesEnd`` of Kafka.tla: what a move has left behind once nothing is on its way."""

from __future__ import annotations

from typing import NamedTuple

from emulator.protocol.control_requests import ControlChannelClosed
from emulator.protocol.events import ControllerElected, ControlResponse, NodeCrashed, ReplicaOffline
from emulator.protocol.types import NO_LEADER, TopicPartition
from emulator.trace.events import ZkSession
from scenarios.observe.specification.move_rules import IN_SYNC
from scenarios.observe.specification.move_state import MoveState
from scenarios.observe.specification.rejection import Sentence
from scenarios.observe.specification.state_machines import StateMachines
from scenarios.observe.specification.variables import Variables

STRAY = Sentence(
    "Kafka",
    "NoneLostOrStray",
    "{b \\in Brokers : disk[b]} = Range(zk.replicas)",
    "after a move that nothing has interrupted the brokers with a replica are those of the list",
)
ASSIGNED = Sentence(
    "Kafka",
    "LeaderAndIsrAssigned",
    "zk.isr \\cup {zk.leader} \\subseteq Range(zk.replicas)",
    "after a move that nothing has interrupted leader and ISR are of the list",
)


class Rest(NamedTuple):
    """A moment at which nothing is on its way; ``seq`` is that of the last event that could have disturbed a move."""

    t_us: int
    seq: int
    cause: int = 0


class RestRules:
    """The fold of what disturbs moves: the text allows a replica to be left over, or a leader outside the list, only
    after a failover, or where a broker could not be told (``DeletesUnconfirmed``)."""

    def __init__(self, variables: Variables, machines: StateMachines) -> None:
        self._variables = variables
        self._machines = machines
        self._disturbed = 0
        self._said: dict[TopicPartition, None] = {}

    def on_disturbed(
        self, event: ControllerElected | NodeCrashed | ZkSession | ReplicaOffline | ControlChannelClosed
    ) -> None:
        self._disturbed = event.seq

    def on_response(self, event: ControlResponse) -> None:
        if event.refused:
            self._disturbed = event.seq

    def at_rest(self, now_us: int) -> None:
        """Look at the partitions that were moved. Call it where nothing is on its way."""
        zk = self._variables.zk
        if zk.failed_dirs or zk.paused or zk.cut or any(not zk.is_registered(broker) for broker in zk.seen):
            return
        for tp, move in self._variables.moving.items():
            if move.asked and tp not in self._said and move.began > self._disturbed and zk.assignment(tp):
                self._look(Rest(now_us, self._disturbed), tp, move)

    def _look(self, event: Rest, tp: TopicPartition, move: MoveState) -> None:
        reject, state = self._variables.reject, move.states[-1]
        listed = move.now.replicas
        if tp.topic in self._variables.zk.deleting:
            return
        if move.open and not move.is_over:
            target = move.targets[-1]
            if target in move.held and move.held[target][1] == 0 and state.leader != NO_LEADER:
                self._said[tp] = None
                reject(event, tp, IN_SYNC, "the target is in sync, and nothing goes on", move)
            return
        disks = self._variables.with_replica(tp)
        if set(disks) != set(listed):
            self._said[tp] = None
            reject(event, tp, STRAY, f"brokers {sorted(disks)} have a replica", move)
        if not {*state.isr, state.leader} - {NO_LEADER} <= set(listed):
            self._said[tp] = None
            reject(event, tp, ASSIGNED, f"{state.leader} leads", move)
