"""R1, R4: a move ends once all its replicas are in sync, and one of them leads."""

from __future__ import annotations

from collections.abc import Mapping

from controller.procedures import still_to_come
from emulator.protocol import znodes
from emulator.protocol.assignments import Replicas, without
from emulator.protocol.types import TopicPartition
from emulator.trace.events import ZkWritten
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.control_facts import EndsOutOfSync, LeaderDropped
from scenarios.observe.past.changes import AssignmentWritten, ReassigningWritten, StateWritten


class MovesEndInSync(Checker):
    """A controller drops the replicas that a move removes once all those that the partition is to have are in the ISR
    (KafkaController.areReplicasInIsr, 0.8; isReassignmentComplete, 2.4), and one of them leads.

    Verified: each write of an assignment by a controller that drops replicas, and names the replicas that
        /admin/reassign_partitions or the topic's znode asks for. All of them were in the ISR at one moment since the
        move was asked for; the leader in ZooKeeper is one of them, or none of them is live and in the ISR.

    Not verified: what a controller writes that was replaced (``controller_fence``); moves that are cancelled, and what
        a later request drops of an earlier one (KIP-455, U1); the hops of ``kafka-6794`` but for the last one, and its
        leader, which it elects afterwards (step 9); that they are in the ISR still, as that may change meanwhile.
    """

    ids = ("R4", "R1")
    statement = (
        "r leaves RS ⇒ TRS ⊆ isr was seen ∧ leader ∈ TRS: a move ends once all its replicas are in sync, and one of "
        "them leads"
    )
    fails_when = "a controller does not wait until what a move adds is in sync"

    def begin(self) -> None:
        self._targets: dict[TopicPartition, Replicas] = {}
        """The replicas that each partition is to have which is being moved."""
        self._seen: dict[TopicPartition, None] = {}
        """The partitions of these whose target was in the ISR as a whole."""
        self._asked: Mapping[TopicPartition, Replicas] = {}

    def on_written(self, event: ZkWritten) -> None:
        if event.path != znodes.REASSIGN_PARTITIONS:
            return
        before, self._asked = self._asked, self.cluster.requested_moves()
        for tp, target in self._asked.items():
            if before.get(tp) != target:
                self._begin(tp, target)

    def on_reassigning(self, event: ReassigningWritten) -> None:
        if event.moves:
            tp = event.tp
            self._begin(tp, without(self.cluster.assignment(tp), self.cluster.removing(tp)))

    def _begin(self, tp: TopicPartition, target: Replicas) -> None:
        self._targets[tp] = target
        self._seen.pop(tp, None)
        self._compare(tp, self.cluster.isr(tp))

    def on_state(self, event: StateWritten) -> None:
        if event.tp in self._targets and event.state is not None:
            self._compare(event.tp, event.state.isr)

    def _compare(self, tp: TopicPartition, isr: Replicas) -> None:
        if set(self._targets[tp]) <= set(isr):
            self._seen[tp] = None

    def on_assigned(self, event: AssignmentWritten) -> None:
        tp, target = event.tp, self._targets.get(event.tp)
        if target is None or event.client != self.cluster.controller or set(event.replicas) != set(target):
            return
        if set(event.before) <= set(event.replicas):
            return
        state = self.cluster.state(tp)
        if state is None or self.cluster.is_deleting(tp.topic):
            return
        if tp not in self._seen and not self._comes_later(tp, "move.wait"):  # a plug-in's protocol may wait later
            self.violated(event, EndsOutOfSync(event.client, target, tuple(state.isr)), tp)
        may_lead = [one for one in target if one in state.isr and self.cluster.is_registered(one)]
        dropped = state.leader in event.before and state.leader not in target
        if dropped and may_lead and not self._comes_later(tp, "move.leader"):
            self.violated(event, LeaderDropped(event.client, state.leader, tuple(may_lead)), tp)

    def _comes_later(self, tp: TopicPartition, phase: str) -> bool:
        """Whether a phase of the partition's move ends after the step that it is in."""
        step = self.cluster.step(tp)
        return step is not None and bool(still_to_come(step.step, phase))
