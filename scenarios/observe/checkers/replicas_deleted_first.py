"""R7: a topic is gone once its replicas are."""

from __future__ import annotations

from emulator.protocol import znodes
from emulator.protocol.events import BecameFollower, BecameLeader, ReplicaStopped
from emulator.protocol.types import TopicPartition
from emulator.trace.events import Step, ZkWritten
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.control_facts import ReplicasLeft

FORGETS = "delete.forget"


class ReplicasDeletedFirst(Checker):
    """A controller takes a topic for deleted when the brokers have deleted all of its replicas, which a StopReplica
    asked them for.

    Verified: when the controller is about to forget a topic and to delete its znodes, for each replica that the topic's
        znode has: since the deletion was asked for its broker has deleted it, and has not been made leader or follower
        again. A partition that never had a leader has none.

    Not verified: replicas that are not assigned; what a broker has on its disk after a restart.
    """

    ids = ("R7",)
    statement = "the znodes of a topic go ⇒ every r ∈ RS has been deleted: a topic is gone only once its replicas are"
    catches = ("KAFKA-1074",)
    fails_when = "the answer to a StopReplica that keeps the replica counts as its deletion"

    def begin(self) -> None:
        self._deleted: dict[str, dict[tuple[TopicPartition, int], None]] = {}
        """The replicas that are deleted already, by topic that is being deleted."""

    def on_written(self, event: ZkWritten) -> None:
        parent, _, topic = event.path.rpartition("/")
        if parent == znodes.DELETE_TOPICS:
            if event.op == "create":
                self._deleted[topic] = {}
            elif event.op == "delete":
                self._deleted.pop(topic, None)

    def on_stopped(self, event: ReplicaStopped) -> None:
        deleted = self._deleted.get(event.topic)
        if deleted is not None and event.deleted:
            deleted[TopicPartition.of(event.topic, event.partition), event.node] = None

    def on_role(self, event: BecameLeader | BecameFollower) -> None:
        deleted = self._deleted.get(event.topic)
        if deleted:
            deleted.pop((TopicPartition.of(event.topic, event.partition), event.node), None)

    def on_step(self, event: Step) -> None:
        if event.step != FORGETS or event.edge != "before" or event.topic not in self._deleted:
            return
        deleted = self._deleted[event.topic]
        for tp in self.cluster.partitions(event.topic):
            if self.cluster.state(tp) is None:
                continue
            left = [broker for broker in self.cluster.assignment(tp) if (tp, broker) not in deleted]
            if left:
                self.violated(event, ReplicasLeft(event.node, tuple(left)), tp)
