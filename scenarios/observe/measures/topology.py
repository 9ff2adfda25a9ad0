"""What ZooKeeper says about every partition: its assignment and its leader and ISR, decoded once for all
folds.

Ground truth is ZooKeeper's tree, as far as events tell it: a dead broker stays leader, and in the ISR, until
a write says otherwise, because that is what the cluster acts upon.
"""

from __future__ import annotations

from collections.abc import Callable

from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import TOPICS, LeaderAndIsr, decode_motions, decode_topic, state_path_partition
from emulator.trace import Trace
from emulator.trace.events import ZkWritten

Assigned = Callable[[ZkWritten, TopicPartition, tuple[int, ...]], None]
"""The topic's znode gives a partition other replicas; none at all: the topic is gone."""
Stated = Callable[[ZkWritten, TopicPartition, LeaderAndIsr | None], None]
"""A state znode was written, or (None) deleted; ``Topology.state`` is still what it was before."""
Moved = Callable[[ZkWritten, TopicPartition, bool], None]
"""The topic's znode names adding or removing replicas of a partition, or none any more (KIP-455)."""

DELETED_FROM = "delete.partitions"
"""After this step a topic's partitions are gone for the controller, whatever ZooKeeper still says of them."""

_TOPIC_DEPTH = TOPICS.count("/") + 1


class Topology:
    """Reads the writes to topic and state znodes and hands on what changed."""

    def __init__(self, trace: Trace) -> None:
        self._topics: dict[str, dict[int, tuple[int, ...]]] = {}
        self._states: dict[TopicPartition, LeaderAndIsr] = {}
        self._assigned: list[Assigned] = []
        self._stated: list[Stated] = []
        self._motions: dict[str, dict[int, object]] = {}
        self._moved: list[Moved] = []
        trace.fold(ZkWritten, self._see)

    def subscribe(self, assigned: Assigned, stated: Stated) -> None:
        self._assigned.append(assigned)
        self._stated.append(stated)

    def subscribe_motions(self, moved: Moved) -> None:
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
        for partition, replicas in now.items():
            if before.get(partition) != replicas:
                self._tell(event, TopicPartition.of(topic, partition), replicas)
        for partition in before:
            if partition not in now:
                self._tell(event, TopicPartition.of(topic, partition), ())
        self._see_motions(event, topic)

    def _see_motions(self, event: ZkWritten, topic: str) -> None:
        now = {} if event.op == "delete" else decode_motions(event.data)
        before = self._motions.get(topic, {})
        self._motions[topic] = dict(now)
        for partition in {**before, **now}:
            if (partition in now) != (partition in before):
                for moved in self._moved:
                    moved(event, TopicPartition.of(topic, partition), partition in now)

    def assignment(self, tp: TopicPartition) -> tuple[int, ...]:
        """Its replicas in ZooKeeper, none when it is not there."""
        return self._topics.get(tp.topic, {}).get(tp.partition, ())

    def state(self, tp: TopicPartition) -> LeaderAndIsr | None:
        """Its state znode, None when it has none."""
        return self._states.get(tp)

    def partitions(self, topic: str) -> list[TopicPartition]:
        """Those in the topic's znode."""
        return [TopicPartition.of(topic, partition) for partition in self._topics.get(topic, {})]

    def _tell(self, event: ZkWritten, tp: TopicPartition, replicas: tuple[int, ...]) -> None:
        for assigned in self._assigned:
            assigned(event, tp, replicas)
