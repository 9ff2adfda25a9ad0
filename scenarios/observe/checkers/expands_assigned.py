"""I1: a leader adds only assigned replicas to its ISR."""

from __future__ import annotations

from emulator.protocol.events import BecameLeader, IsrProposed
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Checker, shared
from scenarios.observe.findings.isr_facts import AddedUnassigned
from scenarios.observe.past.changes import StateWritten


class ExpandsAssigned(Checker):
    """A leader adds to its ISR only replicas that its LeaderAndIsr named, or that are in the target of the partition's
    open move.

    Verified: each time a leader decides to expand its ISR, against the replicas that the leader counts, and against
        ZooKeeper's assignment of the moment at which the leader's epoch was written there and of now. The target counts
        because KAFKA-42's controller does not name the new replicas to the leader.

    Not verified: that the ISR in ZooKeeper holds assigned replicas only. During a move it does not for a while, and
        with kafka-6794 for longer: the atlas counts that as a harm.
    """

    ids = ("I1",)
    statement = "expand(f) ⇒ f ∈ RS: only assigned replicas join the ISR"
    catches = ("KAFKA-9672", "KAFKA-1170")
    fails_when = "a leader adds any broker that fetches"

    def begin(self) -> None:
        self._commits = self.history.commits
        self._received: dict[int, dict[TopicPartition, tuple[int, ...]]] = {}
        self._began: dict[TopicPartition, tuple[int, tuple[int, ...]]] = {}
        """The newest leader epoch in ZooKeeper, and the assignment there when it was written."""

    def on_state(self, event: StateWritten) -> None:
        if event.state is None:
            self._began.pop(event.tp, None)
        elif event.before is None or event.before.leader_epoch != event.state.leader_epoch:
            self._began[event.tp] = event.state.leader_epoch, self.cluster.assignment(event.tp)

    def on_became_leader(self, event: BecameLeader) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        self._received.setdefault(event.node, {})[tp] = shared(event.replicas)

    def on_proposed(self, event: IsrProposed) -> None:
        if event.kind != "expand":
            return
        tp = TopicPartition.of(event.topic, event.partition)
        received = self._received.get(event.node, {}).get(tp, ())
        target = self._commits.get(event.topic, event.partition).target
        now = self.cluster.assignment(tp)
        epoch, then = self._began.get(tp, (-1, ()))
        for replica in event.replicas:
            if replica in target:
                continue
            if replica not in received:
                self.violated(
                    event, AddedUnassigned(event.node, event.leader_epoch, replica, tuple(received), False), tp
                )
            elif epoch == event.leader_epoch and then and replica not in then and replica not in now:
                self.violated(event, AddedUnassigned(event.node, event.leader_epoch, replica, tuple(then), True), tp)
