"""ZooKeeper's state of every partition: its assignment, its leader and its ISR, decoded once for all folds.

The truth is ZooKeeper's tree, as events show it: a dead broker stays leader, and in the ISR, until a write changes
that, because the cluster acts upon ZooKeeper.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from emulator.protocol.assignments import ReassigningReplicas, without
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import TOPICS, LeaderAndIsr, decode_reassigning, decode_topic, state_path_partition
from emulator.trace import Trace
from emulator.trace.events import ZkWritten

Assigned = Callable[[ZkWritten, TopicPartition, tuple[int, ...]], None]
"""The topic's znode gives a partition other replicas; an empty tuple: the topic is gone."""
Stated = Callable[[ZkWritten, TopicPartition, LeaderAndIsr | None], None]
"""A state znode was written, or (None) deleted; ``Topology.state`` still returns the earlier state."""
Moved = Callable[[ZkWritten, TopicPartition, bool], None]
"""The topic's znode names adding or removing replicas of a partition, or others (True), or none any more (KIP-455)."""

DELETED_FROM = "delete.partitions"
"""After this step a topic's partitions are gone for the controller, whatever ZooKeeper still has of them."""

_TOPIC_DEPTH = TOPICS.count("/") + 1


class Topology:
    """Decodes the writes to topic and state znodes and reports what changed to its subscribers."""

    def __init__(self, trace: Trace) -> None:
        self._topics: dict[str, dict[int, tuple[int, ...]]] = {}
        self._states: dict[TopicPartition, LeaderAndIsr] = {}
        self._assigned: list[Assigned] = []
        self._stated: list[Stated] = []
        self._reassigning: dict[str, dict[int, ReassigningReplicas]] = {}
        self._moved: list[Moved] = []
        trace.fold(ZkWritten, self._see)

    def subscribe(self, assigned: Assigned, stated: Stated) -> None:
        self._assigned.append(assigned)
        self._stated.append(stated)

    def subscribe_reassigning(self, moved: Moved) -> None:
        self._moved.append(moved)

    def _see(self, event: ZkWritten) -> None:
        if not event.path.startswith(TOPICS):
            return
        tp = state_path_partition(event.path)
        if tp is not None:
            deleted = event.op == "delete"
            state = None if deleted else LeaderAndIsr.decode(event.data, event.version)
            for stated in self._stated:
                stated(event, tp, state)
            if state is None:
                self._states.pop(tp, None)
            else:
                self._states[tp] = state
        elif event.path.count("/") == _TOPIC_DEPTH:
            self._see_topic(event, event.path.rpartition("/")[2])

    def _see_topic(self, event: ZkWritten, topic: str) -> None:
        now = {} if event.op == "delete" else decode_topic(event.data)
        before = self._topics.get(topic, {})
        self._topics[topic] = now
        moving = self._reassigning.get(topic, {})
        self._reassigning[topic] = {} if event.op == "delete" else dict(decode_reassigning(event.data))
        for partition, replicas in now.items():
            if before.get(partition) != replicas:
                self._report(event, TopicPartition.of(topic, partition), replicas)
        for partition in before:
            if partition not in now:
                self._report(event, TopicPartition.of(topic, partition), ())
        self._report_reassigning(event, topic, moving, self._reassigning[topic])

    def _report_reassigning(
        self, event: ZkWritten, topic: str, before: Mapping[int, object], now: Mapping[int, object]
    ) -> None:
        for partition in {**before, **now}:
            if now.get(partition) != before.get(partition):
                for moved in self._moved:
                    moved(event, TopicPartition.of(topic, partition), partition in now)

    def assignment(self, tp: TopicPartition) -> tuple[int, ...]:
        """A partition's replicas in ZooKeeper; empty when it is not there."""
        return self._topics.get(tp.topic, {}).get(tp.partition, ())

    def state(self, tp: TopicPartition) -> LeaderAndIsr | None:
        """A partition's state znode; None without one."""
        return self._states.get(tp)

    def original(self, tp: TopicPartition) -> tuple[int, ...]:
        """A partition's replicas without those that the topic's znode says a move adds (KIP-455)."""
        found = self._reassigning.get(tp.topic, {}).get(tp.partition)
        replicas = self.assignment(tp)
        return replicas if found is None else without(replicas, found.adding)

    def removing(self, tp: TopicPartition) -> tuple[int, ...]:
        """The replicas that the topic's znode says a move removes (KIP-455)."""
        found = self._reassigning.get(tp.topic, {}).get(tp.partition)
        return () if found is None else found.removing

    def is_reassigning(self, tp: TopicPartition) -> bool:
        """Whether the topic's znode names adding or removing replicas of a partition (KIP-455)."""
        return tp.partition in self._reassigning.get(tp.topic, ())

    @property
    def topics(self) -> tuple[str, ...]:
        """The topics that have, or had, a znode."""
        return tuple(self._topics)

    def partitions(self, topic: str) -> list[TopicPartition]:
        """The partitions in the topic's znode."""
        return [TopicPartition.of(topic, partition) for partition in self._topics.get(topic, {})]

    def _report(self, event: ZkWritten, tp: TopicPartition, replicas: tuple[int, ...]) -> None:
        for assigned in self._assigned:
            assigned(event, tp, replicas)
