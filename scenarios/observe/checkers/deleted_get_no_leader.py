"""R8: a topic whose deletion has begun gets no leaders."""

from __future__ import annotations

from emulator.protocol import znodes
from emulator.protocol.events import LeaderElected
from emulator.protocol.types import TopicPartition
from emulator.trace.events import Step, ZkWritten
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.control_facts import DeletedGetsLeader

BEGINS = "delete.partitions"


class DeletedGetNoLeader(Checker):
    """A controller elects no leader for a partition of a topic whose deletion has begun.

    Verified: each election, from the step at which the partitions of the topic leave the partition state machine, until
        the request in /admin/delete_topics is gone; a new controller begins again, with the elections of its failover
        before that.

    Not verified: leaders that the partitions have from before, which brokers give up when they stop the replica.
    """

    ids = ("R8",)
    statement = "the deletion of t has begun ⇒ no elect(l, p) for p ∈ t: a topic that is being deleted gets no leaders"
    fails_when = "partitions can be added to a topic that is being deleted"

    def begin(self) -> None:
        self._begun: dict[str, int] = {}
        """Topic to the controller that has begun to delete it."""

    def on_written(self, event: ZkWritten) -> None:
        parent, _, topic = event.path.rpartition("/")
        if parent == znodes.DELETE_TOPICS and event.op == "delete":
            self._begun.pop(topic, None)

    def on_step(self, event: Step) -> None:
        if event.step == BEGINS and event.edge == "after":
            self._begun[event.topic] = event.node

    def on_elected(self, event: LeaderElected) -> None:
        controller = self._begun.get(event.topic)
        if controller is not None and controller == self.cluster.controller:
            facts = DeletedGetsLeader(controller, event.leader, event.leader_epoch)
            self.violated(event, facts, TopicPartition.of(event.topic, event.partition))
