"""The moves of Wiki.tla, Kafka42.tla, Kafka6794.tla and Kip455.tla: what controllers write of them to ZooKeeper."""

from __future__ import annotations

from emulator.protocol.events import ControllerElected, MoveCancelled, MoveStarted
from emulator.protocol.types import NO_LEADER, TopicPartition
from emulator.protocol.znodes import REASSIGN_PARTITIONS, TOPICS
from emulator.trace.events import Step, ZkWritten
from scenarios.observe.past.changes import AssignmentWritten, ReassigningWritten, StateWritten
from scenarios.observe.specification.move_state import Assignment, MoveState, Replicas, Writer
from scenarios.observe.specification.rejection import Sentence
from scenarios.observe.specification.state_machines import MAY_WRITE, StateMachines
from scenarios.observe.specification.variables import Variables

WIKI, KAFKA_42, KAFKA_6794, KIP_455 = "wiki", "kafka-42", "kafka-6794", "kip-455"

ADDS = {
    WIKI: Sentence(
        "Wiki", "WikiStep1", "all == Union(ctl[c].target, ctl[c].replicas)", "step 1 writes the old list with the new"
    ),
    KAFKA_42: Sentence(
        "Kafka42", "Kafka42Step6", "WriteReplicas(SetReplicas(Work(c), ctl[c].target), ctl[c].target)",
        "nothing is written to the topic's znode before step 6, which writes the new list",
    ),
    KAFKA_6794: Sentence(
        "Kafka6794", "Kafka6794Steps1To5", "WriteReplicas(w, Target(w))", "step 5 writes TR, as step 2 has it"
    ),
    KIP_455: Sentence(
        "Kip455", "Kip455StepsU1AndU2", "z == ReassignTo(zk, ctl[c].target)",
        "U1 writes TRS + ORS, and who of them is added and removed",
    ),
}  # fmt: skip
ENDS = {
    WIKI: Sentence(
        "Wiki", "WikiStep10", "WriteReplicas(Work(c), ctl[c].target)", "step 10 writes the new list, after steps 4 to 9"
    ),
    KAFKA_42: Sentence(
        "Kafka42", "Kafka42Step6", "WriteReplicas(SetReplicas(Work(c), ctl[c].target), ctl[c].target)",
        "step 6 writes the new list, after steps 3 to 5",
    ),
    KIP_455: Sentence(
        "Kip455", "Kip455StepB6", "!.zk.replicas = ctl[c].target, !.zk.adding = {}, !.zk.removing = {}",
        "B6 writes TRS, after A2 to B5",
    ),
}  # fmt: skip
IN_SYNC = Sentence(
    "Wiki",
    "AllInIsr",
    "Range(w.me.target) \\subseteq w.zk.isr",
    "a move goes on from its wait once the ISR has all of the target",
)
CR_IN_SYNC = Sentence(
    "Kafka6794",
    "Kafka6794Steps1To5",
    "Range(ctl[c].replicas) \\subseteq zk.isr",
    "a hop begins once the ISR has all of CR",
)
OLD_LEAVE = {
    WIKI: Sentence(
        "Wiki", "WikiStep8", 'IF w.me.todo = {} THEN "wiki.9" ELSE "wiki.8"', "each of the old leaves the ISR in step 8"
    ),
    KAFKA_42: Sentence(
        "Kafka42", "Kafka42Step5", 'IF w.me.todo = {} THEN At(ToNonExistent(w, w.me.old), "42.6")',
        "each of the old leaves the ISR in step 5",
    ),
    KAFKA_6794: Sentence(
        "Kafka6794", "Kafka6794Steps10And11", "IF w.me.todo = {} THEN At(ToNonExistent(w, w.me.old), next)",
        "each of the dropped leaves the ISR in step 10",
    ),
    KIP_455: Sentence(
        "Kip455", "Kip455StepsB4AndB5", 'IF w.me.todo = {} THEN At(ToNonExistent(w, w.me.old), "455.B6")',
        "each of the old leaves the ISR in B4",
    ),
}  # fmt: skip
OLD_DELETED = {
    WIKI: Sentence(
        "Wiki", "WikiStep9", "ToNonExistent(Work(c), ctl[c].old)", "each of the old is told to delete in step 9"
    ),
    KAFKA_42: Sentence(
        "Kafka42", "Kafka42Step5", "ToNonExistent(w, w.me.old)", "each of the old is told to delete in step 5"
    ),
    KAFKA_6794: Sentence(
        "Kafka6794", "Kafka6794Steps10And11", "ToNonExistent(w, w.me.old)",
        "each of the dropped is told to delete in step 11",
    ),
    KIP_455: Sentence(
        "Kip455", "Kip455StepsB4AndB5", "ToNonExistent(w, w.me.old)", "each of the old is told to delete in B5"
    ),
}  # fmt: skip
MOVE_NOT_LOST = Sentence(
    "Kafka",
    "MoveNotLost",
    "zk.admin = <<>> => Range(zk.replicas) = Range(After)",
    "the request for a move goes once the topic's znode has the new list",
)
ONLY_REMOVES = Sentence(
    "StateMachines", "RemoveFromAdmin", "!.zk.admin = <<>>", "a controller only removes from the requests for moves"
)
RAISES_IN_MOVE = Sentence(
    "StateMachines", "RaiseEpochAndTell", "Decide(w, w.zk.leader, w.zk.isr)",
    "the epoch of a leader that stays is raised only in a move",
)  # fmt: skip
TAKES_OLD = Sentence(
    "StateMachines", "ToOffline", "w.zk.isr \\ {r}", "who lives and leaves the ISR is not in the target of the move"
)
UNSYNCED_REFUSALS = frozenset({"TruncatesToHighWatermark"})
"""A constant of the releases whose controller refuses a move to a broker that is dead (0.8.0, 0.8.2.2 read)."""


class MoveRules:
    """The fold of the topics' znodes, of /admin/reassign_partitions, and of decisions in moves."""

    def __init__(self, variables: Variables, machines: StateMachines) -> None:
        self._variables = variables
        self._moving = variables.moving
        self._machines = machines
        constants = variables.constants
        self._unfenced = "WritesUnfenced" in constants
        self._stale = bool(constants & {"CachedLeadershipStale", "JoinsUnassigned"})
        """0.8.0 has only KAFKA-42, which raises no epoch; with another protocol it is like 0.8.2.2."""
        self._by_controller = "IsrByController" in constants
        self._strangers = "JoinsUnassigned" in constants
        self._forgets = "DeletesMoveUnread" in constants
        self._refuses_dead = bool(constants & UNSYNCED_REFUSALS)
        self._requested: dict[TopicPartition, Replicas] = {}
        self._changed: dict[TopicPartition, Replicas | None] = {}
        self._dropped: dict[TopicPartition, Writer] = {}
        """The controllers that removed a request last."""
        self._taken: dict[TopicPartition, int] = {}
        """Moves that a controller has begun or refused, by the event of its first step."""

    # -- who asks -----------------------------------------------------------------------------------------------------

    def on_elected(self, event: ControllerElected) -> None:
        self._variables.writers[event.node] = Writer(event.node, event.controller_epoch, event.seq)

    def on_started(self, event: MoveStarted) -> None:
        """A request by API. A tool that writes the znode emits this too, and so does one that is refused."""
        pending = self._moving[TopicPartition.of(event.topic, event.partition)].pending
        if event.target not in pending:
            pending.append(event.target)

    def on_cancelled(self, event: MoveCancelled) -> None:
        self._moving[TopicPartition.of(event.topic, event.partition)].cancelled = True

    def on_step(self, event: Step) -> None:
        if not event.topic or event.partition < 0:
            return
        protocol = event.step.partition(".")[0]
        if protocol in OLD_LEAVE:
            tp = TopicPartition.of(event.topic, event.partition)
            self._moving[tp].protocol = protocol
            self._taken[tp] = event.seq

    # -- what is written ----------------------------------------------------------------------------------------------

    def on_assigned(self, event: AssignmentWritten) -> None:
        self._changed[event.tp] = event.before

    def on_reassigning(self, event: ReassigningWritten) -> None:
        self._changed.setdefault(event.tp, None)

    def on_state(self, event: StateWritten) -> None:
        move, state, before = self._moving[event.tp], event.state, event.before
        if state is None:
            move.states.clear()
            move.seqs.clear()
            return
        if before is not None and event.tp.topic not in self._variables.zk.deleting:
            if state.leader_epoch != before.leader_epoch or state.leader != before.leader:
                self._look_at_decision(event, move)
            writer = self._variables.writers.get(event.client)
            raised = state.leader == before.leader and state.isr == before.isr
            by_controller = self._by_controller or state.leader_epoch != before.leader_epoch
            if writer is not None and by_controller and not (raised and self._stale):
                move.floor, move.floor_by = state.zk_version, writer.epoch
        move.see_state(state, event.seq, created=before is None)

    def _look_at_decision(self, event: StateWritten, move: MoveState) -> None:
        before, state, tp = event.before, event.state, event.tp
        assert before is not None
        assert state is not None
        writer = self._variables.writers.get(event.client)
        words = f"{event.client} writes leader {state.leader}, epoch {state.leader_epoch}, ISR {list(state.isr)}"
        if state.leader == before.leader and state.isr == before.isr:
            preferred = move.now.replicas[:1] == (state.leader,)  # may be elected though it leads
            asked = move.open or move.now.replicas in move.pending  # by API to the same list: U1 writes nothing
            again = writer is not None and before.controller_epoch == writer.epoch and move.said < before.zk_version
            if not (asked or preferred or again) and self._machines.lives(before.leader):
                self._variables.reject(event, tp, RAISES_IN_MOVE, words, move)
            return
        if not move.open:
            return
        since = 0 if writer is None else writer.seq
        kept = state.leader in (before.leader, NO_LEADER)
        for member in before.isr:
            if member in state.isr or not self._machines.lives(member):
                continue
            if kept and not move.leaving(member, since):
                self._variables.reject(event, tp, TAKES_OLD, words, move)

    def on_written(self, event: ZkWritten) -> None:
        if event.path == REASSIGN_PARTITIONS:
            self._requests_written(event)
        elif self._changed and event.path.startswith(TOPICS):
            changed, self._changed = self._changed, {}
            for tp, before in changed.items():
                self._assigned(event, tp, before)

    # -- /admin/reassign_partitions -----------------------------------------------------------------------------------

    def _requests_written(self, event: ZkWritten) -> None:
        before, now = self._requested, dict(self._variables.zk.requested_moves())
        self._requested = now
        for tp, target in now.items():
            if before.get(tp) != target:
                if event.client >= 0 and not self._gives_back(event, tp, target):
                    found = f"{event.client} asks to move it to {list(target)}"
                    self._variables.reject(event, tp, ONLY_REMOVES, found, self._moving[tp])
                self._moving[tp].ask(target, event.seq)
                self._taken.pop(tp, None)
        for tp, target in before.items():
            if tp not in now:
                self._removed(event, tp, target)
        if event.client >= 0:
            self._check_writer(event, None, f"{event.client} writes {event.path}")

    def _gives_back(self, event: ZkWritten, tp: TopicPartition, target: Replicas) -> bool:
        """Whether a request comes back that a controller has in its memory and an earlier one has removed: both write
        to the znode, and each what it remembers (KAFKA-6082)."""
        by, writer = self._dropped.get(tp), self._variables.writers.get(event.client)
        if by is None or writer is None or target not in self._moving[tp].asked:
            return False
        return self._unfenced and by.epoch < writer.epoch

    def _removed(self, event: ZkWritten, tp: TopicPartition, target: Replicas) -> None:
        move = self._moving[tp]
        if event.client in self._variables.writers:
            self._dropped[tp] = self._variables.writers[event.client]
        done = set(move.now.replicas) == set(target) and not move.now.adding and not move.now.removing
        if event.client >= 0 and not (done or self._may_refuse(event, tp, target)):
            found = f"{event.client} removes the request to move it to {list(target)}"
            self._variables.reject(event, tp, MOVE_NOT_LOST, found, move)
        if event.client >= 0 and not (move.now.adding or move.now.removing):
            move.end()

    def _may_refuse(self, event: ZkWritten, tp: TopicPartition, target: Replicas) -> bool:
        """Whether a request may go that did not lead to the list. It is for no partition, or for a broker that is dead
        (0.8). A step of the move fails, as its partition has never had a leader or, where writes are unfenced, a later
        controller has decided (``updateLeaderEpoch``, 0.8.2.2 to 3.9.0). Another one has taken its place (KIP-455). Or
        it is deleted unread (2.3.1)."""
        zk, move = self._variables.zk, self._moving[tp]
        if not zk.assignment(tp) or tp.topic in zk.deleting or not move.states:
            return True
        refusing = self._refuses_dead or move.protocol == KAFKA_42
        if refusing and any(not self._machines.lives(one) for one in target):
            return True
        if move.protocol == KIP_455 and (move.pending or move.cancelled or move.now.requested != target):
            return True
        writer = self._variables.writers.get(event.client)
        if self._unfenced and writer is not None and move.states[-1].controller_epoch > writer.epoch:
            return True
        unread = writer is not None and self._taken.get(tp, -1) < writer.seq
        return self._forgets and unread

    # -- the topics' znodes -------------------------------------------------------------------------------------------

    def _assigned(self, event: ZkWritten, tp: TopicPartition, before: Replicas | None) -> None:
        zk, move = self._variables.zk, self._moving[tp]
        was, now = move.now, Assignment(zk.assignment(tp), zk.adding(tp), zk.removing(tp))
        created = before == () or not was.replicas
        move.before, move.now, move.by, move.written = was, now, event.client, event.seq
        if event.client < 0 or created or not now.replicas or tp.topic in zk.deleting:
            if not now.replicas:
                move.end()
                move.asked.clear()
            return
        words = f"{event.client} writes {now}"
        self._check_writer(event, tp, words)
        writer = self._variables.writers.get(event.client)
        self._check_assignment(event, tp, was, words, -1 if writer is None else writer.seq)

    def _check_assignment(self, event: ZkWritten, tp: TopicPartition, was: Assignment, words: str, since: int) -> None:
        move, protocol = self._moving[tp], self._moving[tp].protocol
        now, reject = move.now, self._variables.reject
        ended = [one for one in move.asked if self._is(protocol, was, now, one)]
        if protocol == KIP_455 and self._is_taken_up(event, was, move):
            return
        if protocol == WIKI and any(set(now.replicas) == {*was.replicas, *one} != set(one) for one in move.asked):
            return
        if protocol == WIKI and any(set(now.replicas) == {*was.replicas, *one} for one in move.asked):
            return  # no replica leaves: step 1 and step 10 write the same
        if protocol == KAFKA_6794:
            self._check_hop(event, tp, was, words)
        elif not ended:
            reject(event, tp, ADDS[protocol], words, was, move)
        else:
            self._check_end(event, tp, was, ended[-1], words, since)

    @staticmethod
    def _is_taken_up(event: ZkWritten, was: Assignment, move: MoveState) -> bool:
        """Whether a write is U1 of a move that was asked for, or was cancelled."""
        asked = [*move.asked, *move.pending, *([was.original] if move.cancelled else [])]
        found = [one for one in asked if was.reassigned_to(one) == move.now]
        if found:
            move.ask(found[-1], event.seq)
        return bool(found)

    @staticmethod
    def _is(protocol: str, was: Assignment, now: Assignment, target: Replicas) -> bool:
        """Whether a write is the last one of a move to ``target``."""
        if now.replicas != target or now.adding or now.removing:
            return False
        return protocol != KIP_455 or was.requested == target

    def _check_hop(self, event: ZkWritten, tp: TopicPartition, was: Assignment, words: str) -> None:
        move = self._moving[tp]
        leader = move.states[-1].leader if move.states else NO_LEADER
        planned = self._variables.other_hops or any(move.now.replicas == was.hop_to(one, leader) for one in move.asked)
        if not planned:
            self._variables.reject(event, tp, ADDS[KAFKA_6794], words, was, move)
        elif not set(was.replicas) <= set(move.isr):
            self._variables.reject(event, tp, CR_IN_SYNC, words, was, move)
        move.deletes.clear()

    def _check_end(
        self, event: ZkWritten, tp: TopicPartition, was: Assignment, target: Replicas, words: str, since: int
    ) -> None:
        move, reject = self._moving[tp], self._variables.reject
        if not move.was_in_sync(target, since):
            reject(event, tp, IN_SYNC, words, was, move)
        writer = self._variables.writers.get(event.client)
        later = bool(move.states) and writer is not None and move.states[-1].controller_epoch > writer.epoch
        replaced = writer is None or writer.epoch != self._variables.zk.controller_epoch  # its requests go unheard
        for old in was.replicas:
            if old in target:
                continue
            if old in move.isr and len(move.isr) > 1 and not later and not self._strangers:
                reject(event, tp, OLD_LEAVE[move.protocol], f"{words}, {old} is in the ISR", was, move)
            if not replaced and old not in move.deletes and self._machines.lives(old):
                reject(event, tp, OLD_DELETED[move.protocol], f"{words}, {old} was not told to", was, move)
        if tp not in self._requested:
            move.end()

    def _check_writer(self, event: ZkWritten, tp: TopicPartition | None, words: str) -> None:
        writer, zk = self._variables.writers.get(event.client), self._variables.zk
        if writer is None or (not self._unfenced and writer.epoch != zk.controller_epoch):
            self._variables.reject(event, tp, MAY_WRITE, words, f"controller epoch {zk.controller_epoch}")
