"""The order of a move's steps: when a controller says that one is over, what it had to do has been done."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from emulator.protocol.types import NO_LEADER, TopicPartition
from emulator.trace.events import Step
from scenarios.observe.specification.move_rules import (
    ADDS,
    CR_IN_SYNC,
    ENDS,
    IN_SYNC,
    KAFKA_42,
    KAFKA_6794,
    KIP_455,
    OLD_DELETED,
    OLD_LEAVE,
    WIKI,
)
from scenarios.observe.specification.move_state import MoveState, Replicas, Writer
from scenarios.observe.specification.rejection import Sentence
from scenarios.observe.specification.state_machines import StateMachines
from scenarios.observe.specification.variables import Variables

TOLD_ALL = {
    "wiki.2": Sentence(
        "Wiki", "WikiStep2", "RaiseEpochAndTell(Work(c), Range(ctl[c].replicas), Range(ctl[c].replicas))",
        "step 2 raises the epoch and tells all of OAR + RAR",
    ),
    "kafka-6794.6": Sentence(
        "Kafka6794", "Kafka6794Step6", "RaiseEpochAndTell(Work(c), all, all)",
        "step 6 raises the epoch and tells all of CR + NR",
    ),
    "kip-455.A1": Sentence(
        "Kip455", "Kip455StepA1", "RaiseEpochAndTell(Work(c), Range(ctl[c].replicas), Range(ctl[c].replicas))",
        "A1 raises the epoch and tells all of ORS + TRS",
    ),
}  # fmt: skip
LEADS = {
    "wiki.7": Sentence(
        "Wiki", "WikiSteps5To7", "MoveLeader(in_memory, ctl[c].target, Range(ctl[c].replicas))",
        "after step 7 one of the target leads, and the target knows",
    ),
    "kafka-42.4": Sentence(
        "Kafka42", "Kafka42Step4", "ElectForReassign(w, w.me.target)", "after step 4 one of the target leads"
    ),
    "kip-455.B3": Sentence(
        "Kip455", "Kip455StepsB1ToB3",
        "MoveLeader(SetReplicas(Work(c), ctl[c].target), ctl[c].target, Range(ctl[c].target))",
        "after B3 one of the target leads, and the target knows",
    ),
}  # fmt: skip
WAITS = {"wiki.4": IN_SYNC, "kafka-42.3": IN_SYNC, "kip-455.B1": IN_SYNC, "kafka-6794.1": CR_IN_SYNC}
LEAVE = {"wiki.8": WIKI, "kafka-42.5": KAFKA_42, "kafka-6794.10": KAFKA_6794, "kip-455.B4": KIP_455}
DELETED = {"wiki.9": WIKI, "kafka-42.5": KAFKA_42, "kafka-6794.11": KAFKA_6794, "kip-455.B5": KIP_455}
WRITTEN = {
    "wiki.10": ENDS[WIKI],
    "kafka-42.6": ENDS[KAFKA_42],
    "kafka-6794.12": ADDS[KAFKA_6794],
    "kip-455.B6": ENDS[KIP_455],
}
REMOVED = {
    "wiki.11": Sentence("Wiki", "WikiStep11", "RemoveFromAdmin(Work(c))", "step 11 removes the request"),
    "kafka-42.7": Sentence("Kafka42", "Kafka42Step7", "RemoveFromAdmin(Work(c))", "step 7 removes the request"),
    "kafka-6794.12": Sentence(
        "Kafka6794", "Kafka6794Steps12And13", "RemoveFromAdmin(Work(c))", "step 12 removes the request"
    ),
    "kip-455.B7": Sentence(
        "Kip455", "Kip455StepsB7AndB8", "IF zk.admin = ctl[c].target THEN RemoveFromAdmin(Work(c))",
        "B7 removes the request, where there is one for the same list",
    ),
}  # fmt: skip


class StepRules:
    """The fold of steps. Only of a controller that may write: another one's steps have no effect."""

    def __init__(self, variables: Variables, machines: StateMachines) -> None:
        self._variables = variables
        self._machines = machines
        self._strangers = "JoinsUnassigned" in variables.constants
        self._checks: dict[str, list[Callable[[Step, TopicPartition, MoveState, Replicas, Writer], None]]] = {}
        for steps, check in (
            (TOLD_ALL, self._told_all), (LEADS, self._leads), (WAITS, self._waited), (LEAVE, self._left),
            (DELETED, self._deleted), (WRITTEN, self._written), (REMOVED, self._removed),
        ):  # fmt: skip
            for step in steps:
                self._checks.setdefault(step, []).append(check)

    def on_step(self, event: Step) -> None:
        checks = self._checks.get(event.step)
        if checks is None or event.edge != "after" or event.partition < 0:
            return
        tp, zk = TopicPartition.of(event.topic, event.partition), self._variables.zk
        writer, move = self._variables.writers.get(event.node), self._variables.moving[tp]
        if writer is None or writer.epoch != zk.controller_epoch or zk.acting_controller != event.node:
            return
        if tp.topic in zk.deleting or not move.states or move.states[-1].controller_epoch > writer.epoch:
            return
        target = self._target(move)
        if target is not None:
            for check in checks:
                check(event, tp, move, target, writer)

    @staticmethod
    def _target(move: MoveState) -> Replicas | None:
        """The target that the step is about; None where that cannot be told."""
        if move.protocol == KIP_455:
            return move.now.requested
        return move.asked[-1] if move.open else None

    def _reject(self, event: Step, tp: TopicPartition, sentence: Sentence, found: str, move: MoveState) -> None:
        self._variables.reject(event, tp, sentence, f"{event.node} says that {event.step} is over: {found}", move)

    @staticmethod
    def _in_sync(move: MoveState, target: Replicas, writer: Writer) -> bool:
        """``AllInIsr``; and a move of KIP-455 that neither adds nor removes a replica does not wait
        (``Kip455Checks``)."""
        moved = move.now.adding or move.now.removing
        return move.was_in_sync(target, writer.seq) or (move.protocol == KIP_455 and not moved)

    def _living(self, brokers: Iterable[int]) -> list[int]:
        return [one for one in brokers if self._machines.lives(one)]

    # -- what a step leaves behind ------------------------------------------------------------------------------------

    def _told_all(self, event: Step, tp: TopicPartition, move: MoveState, target: Replicas, writer: Writer) -> None:
        if self._in_sync(move, target, writer):
            return
        epoch = move.states[-1].leader_epoch
        for broker in self._living(move.now.replicas):
            if move.told.get(broker, -1) < epoch:
                found = f"{broker} was not told of epoch {epoch}"
                self._reject(event, tp, TOLD_ALL[event.step], found, move)

    def _leads(self, event: Step, tp: TopicPartition, move: MoveState, target: Replicas, writer: Writer) -> None:
        state = move.states[-1]
        if not self._in_sync(move, target, writer):
            self._reject(event, tp, IN_SYNC, "not all of the target were in sync", move)
        elif state.leader not in target and state.leader != NO_LEADER:
            may = [one for one in self._living(target) if one in state.isr]
            if may:
                self._reject(event, tp, LEADS[event.step], f"{state.leader} leads, and {may[0]} could", move)

    def _waited(self, event: Step, tp: TopicPartition, move: MoveState, target: Replicas, writer: Writer) -> None:
        hop = event.step == "kafka-6794.1"
        wanted = move.now.replicas if hop else target
        reached = set(wanted) <= set(move.isr) if hop else self._in_sync(move, wanted, writer)
        if not reached:
            self._reject(event, tp, WAITS[event.step], f"not all of {list(wanted)} were in sync", move)

    def _old(self, event: Step, move: MoveState, target: Replicas) -> list[int]:
        """The replicas that a move drops, in the step that drops them."""
        kept = move.now.replicas if move.protocol == KAFKA_6794 else target
        before = (*move.before.replicas, *move.now.replicas) if move.protocol == KAFKA_6794 else move.now.replicas
        return [one for one in dict.fromkeys(before) if one not in kept]

    def _left(self, event: Step, tp: TopicPartition, move: MoveState, target: Replicas, writer: Writer) -> None:
        if self._strangers or len(move.isr) == 1:
            return
        for old in self._old(event, move, target):
            if old in move.isr:
                self._reject(event, tp, OLD_LEAVE[LEAVE[event.step]], f"{old} is in the ISR", move)

    def _deleted(self, event: Step, tp: TopicPartition, move: MoveState, target: Replicas, writer: Writer) -> None:
        for old in self._living(self._old(event, move, target)):
            if move.deletes.get(old, -1) < writer.seq:
                self._reject(event, tp, OLD_DELETED[DELETED[event.step]], f"{old} was not told to delete", move)

    def _written(self, event: Step, tp: TopicPartition, move: MoveState, target: Replicas, writer: Writer) -> None:
        now = move.now
        if now.replicas != target or now.adding or now.removing:
            self._reject(event, tp, WRITTEN[event.step], f"the list is not {list(target)}", move)

    def _removed(self, event: Step, tp: TopicPartition, move: MoveState, target: Replicas, writer: Writer) -> None:
        if self._variables.zk.requested_moves().get(tp) == target and event.step != "kip-455.B7":
            self._reject(event, tp, REMOVED[event.step], "the request is there", move)
