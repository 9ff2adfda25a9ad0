"""The contents of the controller's requests, as StateMachines.tla has them: what a LeaderAndIsr says of the state
znode and of the list, and whom a StopReplica stops."""

from __future__ import annotations

from emulator.protocol.control_requests import ControlQueued
from emulator.protocol.leader_and_isr import LeaderAndIsrPartition, LeaderAndIsrRequest
from emulator.protocol.stop_replica import StopReplicaRequest
from emulator.protocol.types import TopicPartition
from scenarios.observe.specification.move_rules import KAFKA_42, KAFKA_6794, KIP_455, OLD_LEAVE
from scenarios.observe.specification.move_state import MoveState, Writer
from scenarios.observe.specification.rejection import Sentence
from scenarios.observe.specification.state_machines import StateMachines
from scenarios.observe.specification.variables import Variables

BY = Sentence(
    "Fencing", "LeaderAndIsr", "by |-> me.epoch", "a request has the controller epoch with which its sender was elected"
)
STATES = Sentence(
    "StateMachines",
    "State",
    "[leader |-> z.leader, epoch |-> z.epoch, isr |-> z.isr, version |-> z.version]",
    "leader, epoch and ISR of a LeaderAndIsr are those of the state znode in its version",
)
KNOWS = Sentence(
    "StateMachines",
    "Decide",
    "!.me.cached = [leader |-> leader, epoch |-> z.epoch, isr |-> isr]",
    "a controller tells what it decided last, and nothing older",
)
LOADED = Sentence(
    "Controller",
    "InitializeControllerContext",
    "![c].cached = [leader |-> zk.leader, epoch |-> zk.epoch, isr |-> zk.isr]",
    "a controller tells nothing older than what it read as it was elected",
)
LISTS = Sentence(
    "StateMachines", "Tell", "LeaderAndIsr(w.me, state, replicas)",
    "the list of a LeaderAndIsr is that of the topic's znode, or the target of a move that is in sync",
)  # fmt: skip
TELLS = Sentence(
    "StateMachines",
    "Tell",
    "IF b \\in to THEN Append(@[b], LeaderAndIsr(w.me, state, replicas))",
    "a LeaderAndIsr goes to replicas of the partition",
)
MARKS = Sentence(
    "Kip455", "ReassignTo", "!.adding = Range(all) \\ Range(Original(z)), !.removing = Range(all) \\ Range(target)",
    "a LeaderAndIsr marks the replicas that the topic's znode says are added and removed",
)  # fmt: skip
STOPS = Sentence(
    "StateMachines", "ToOffline", "stopped == TellStop(w, r, FALSE)",
    "who is stopped has failed, shuts down, or leaves in a move",
)  # fmt: skip
DELETES = Sentence(
    "StateMachines", "ToNonExistent", "StopReplica(w.me, w.me.cached.epoch, TRUE)",
    "who is told to delete its replica leaves in a move, and is not of the target",
)  # fmt: skip
STOP_EPOCH = Sentence(
    "StateMachines", "TellStop", "StopReplica(w.me, w.me.cached.epoch, delete)",
    "a StopReplica has the leader epoch that the controller knows",
)  # fmt: skip


class RequestRules:
    """The fold of what controllers put into their queues."""

    def __init__(self, variables: Variables, machines: StateMachines) -> None:
        self._variables = variables
        self._moving = variables.moving
        self._machines = machines
        self._strangers = "JoinsUnassigned" in variables.constants
        self._checked: LeaderAndIsrPartition | None = None
        """The last part of a request: the requests to all replicas share it."""

    def on_queued(self, event: ControlQueued) -> None:
        request = event.request
        kind = type(request)
        if kind is not LeaderAndIsrRequest and kind is not StopReplicaRequest:
            return
        writer = self._variables.writers.get(event.node)
        if writer is None or request.controller_epoch != writer.epoch:
            found = f"{event.node} sends controller epoch {request.controller_epoch}"
            self._variables.reject(event, None, BY, found, writer)
            return
        if writer.epoch != self._variables.zk.controller_epoch:
            return  # it has been replaced, and does not know yet: no broker takes what it says
        if isinstance(request, LeaderAndIsrRequest):
            for told in request.partitions:
                self._look_at(event, told, writer)
        elif isinstance(request, StopReplicaRequest):
            self._look_at_stops(event, request, writer)

    # -- LeaderAndIsr -------------------------------------------------------------------------------------------------

    def _look_at(self, event: ControlQueued, m: LeaderAndIsrPartition, writer: Writer) -> None:
        move = self._moving[m.tp]
        broker = event.broker
        if move.open:
            move.told[broker] = m.leader_epoch
        if broker not in m.replicas and broker not in move.now.replicas and not self._is_replica(move, broker):
            self._variables.reject(event, m.tp, TELLS, f"{event.node} tells {broker} {_words(m)}", move)
        if m is self._checked or m.tp.topic in self._variables.zk.deleting:
            return
        self._checked = m
        move.said = m.zk_version
        current = move.states[-1] if move.states else None
        state = current if current is not None and current.zk_version == m.zk_version else move.version(m.zk_version)
        if (
            state is None
            or state.leader != m.leader
            or state.leader_epoch != m.leader_epoch
            or state.isr != m.isr
            or m.controller_epoch not in (state.controller_epoch, writer.epoch)
        ):
            words = f"{event.node} tells {_words(m)} of version {m.zk_version}"
            self._variables.reject(event, m.tp, STATES, words, state, move)
        elif state is not current:
            self._check_age(event, m, move, writer)
        if m.replicas != move.now.replicas or m.adding != move.now.adding or m.removing != move.now.removing:
            self._check_list(event, m, move, writer)

    @staticmethod
    def _is_replica(move: MoveState, broker: int) -> bool:
        """Whether a broker was a replica, or KAFKA-42 is about to make it one: it starts those that no list has."""
        return broker in move.before.replicas or (
            move.protocol == KAFKA_42 and move.open and any(broker in target for target in move.asked)
        )

    def _check_age(self, event: ControlQueued, m: LeaderAndIsrPartition, move: MoveState, writer: Writer) -> None:
        own = move.floor_by == writer.epoch
        least = move.floor if own else move.version_at(writer.seq)
        if m.zk_version < least:
            words = f"{event.node} tells {_words(m)} of version {m.zk_version}, and knows version {least}"
            self._variables.reject(event, m.tp, KNOWS if own else LOADED, words, move)

    def _check_list(self, event: ControlQueued, m: LeaderAndIsrPartition, move: MoveState, writer: Writer) -> None:
        if m.impending_replicas:
            return  # KIP-352's draft has another request
        words = f"{event.node} tells {_words(m)}"
        now, before = move.now, move.before
        if m.replicas == now.replicas:
            if (m.adding or m.removing or move.protocol == KIP_455) and not m.removing == m.adding == ():
                self._variables.reject(event, m.tp, MARKS, words, move)
            return
        known = [target for target in move.targets if move.was_in_sync(target, writer.seq)]
        if m.replicas in known or (move.by != event.node and m.replicas == before.replicas):
            return
        joined = {*m.replicas} - {*now.replicas}
        if move.protocol == KAFKA_42 and {*now.replicas} <= {*m.replicas} and any(joined <= {*one} for one in known):
            return  # what is New and becomes Online joins the list in memory, one after the other
        if move.protocol == KAFKA_6794 and set(m.replicas) == {*now.replicas, *before.replicas}:
            return
        self._variables.reject(event, m.tp, LISTS, words, move)

    # -- StopReplica --------------------------------------------------------------------------------------------------

    def _look_at_stops(self, event: ControlQueued, request: StopReplicaRequest, writer: Writer) -> None:
        zk = self._variables.zk
        for index, tp in enumerate(request.partitions):
            if tp.topic in zk.deleting or not zk.assignment(tp):
                continue
            move = self._moving[tp]
            leaves = move.leaving(event.broker, writer.seq)
            words = f"{event.node} tells {event.broker} to {'delete' if request.delete_partitions else 'stop'}"
            if request.delete_partitions:
                move.deletes[event.broker] = event.seq
                if not leaves:
                    self._variables.reject(event, tp, DELETES, words, move)
                elif event.broker in move.isr and self._had_to_leave(move, writer):
                    self._variables.reject(event, tp, OLD_LEAVE[move.protocol], words, move)
            elif not leaves and self._machines.lives(event.broker):
                self._variables.reject(event, tp, STOPS, words, move)
            if request.leader_epochs and request.leader_epochs[index] >= 0:
                self._check_epoch(event, tp, request, index, writer)

    def _had_to_leave(self, move: MoveState, writer: Writer) -> bool:
        """Whether who is stopped cannot be in the ISR: ``ToOffline`` leaves the last member there, ``MayDecide`` what a
        later controller decided, and in 0.8.0 a leader may take it in again."""
        return len(move.isr) > 1 and move.states[-1].controller_epoch <= writer.epoch and not self._strangers

    def _check_epoch(
        self, event: ControlQueued, tp: TopicPartition, request: StopReplicaRequest, index: int, writer: Writer
    ) -> None:
        """A replica that is not deleted is stopped before the decision that takes it out of the ISR (``ToOffline``).
        The requests for all that leave in one step go out together, after the last of these decisions."""
        move, epoch = self._moving[tp], request.leader_epochs[index]
        known = move.version(move.floor if move.floor_by == writer.epoch else move.version_at(writer.seq))
        if known is None:
            return
        together = max(1, len(move.now.removing), len({*move.before.replicas} - {*move.now.replicas}))
        least = known.leader_epoch if request.delete_partitions else known.leader_epoch - together
        if not least <= epoch <= move.states[-1].leader_epoch:
            found = f"{event.node} stops {event.broker} with leader epoch {epoch}"
            self._variables.reject(event, tp, STOP_EPOCH, found, known, move)


def _words(m: LeaderAndIsrPartition) -> str:
    marks = f", adding {list(m.adding)}, removing {list(m.removing)}" if m.adding or m.removing else ""
    return f"leader {m.leader}, epoch {m.leader_epoch}, ISR {list(m.isr)}, replicas {list(m.replicas)}{marks}"
