"""The variables of the specification (Cluster.tla), by partition, and where rejections go."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from emulator.protocol.types import TopicPartition
from emulator.trace import Event
from scenarios.observe.history.history import History
from scenarios.observe.past.cluster_state import FoldedState
from scenarios.observe.specification.move_state import MoveStates, Writer
from scenarios.observe.specification.rejection import Rejection, Sentence
from scenarios.observe.specification.replica import Replica

KEPT = 10
"""Rejections that are kept for each sentence: one deviation can break a sentence at every later event."""


class Replicas(dict[int, Replica]):
    """The replicas of one topic on one broker, by partition; made when they are looked up."""

    def __init__(self, broker: int) -> None:
        super().__init__()
        self._broker = broker

    def __missing__(self, partition: int) -> Replica:
        found = self[partition] = Replica(self._broker)
        return found


class Variables:
    """The state that all parts of the oracle share.

    Attributes:
        constants: the constants that are TRUE. ``other_hops``: see ``Oracle``.
        zk: ZooKeeper, brokers and controllers as events have shown them.
        rejections: those that are kept, in order. ``counts``: how many there were of each sentence.
        seen: by broker, the highest controller epoch that it has met.
        moving: by partition, its list, the versions of its state, and its move.
        writers: the nodes that were elected as controllers, each with its last election.
        by_topic: the replicas, by broker and topic; those that no event was about yet are missing.
    """

    def __init__(self, history: History, constants: frozenset[str], *, other_hops: bool) -> None:
        self.constants = constants
        self.other_hops = other_hops
        self.history = history
        self.zk: FoldedState = history.cluster
        self.rejections: list[Rejection] = []
        self.counts: Counter[Sentence] = Counter()
        self.seen: dict[int, int] = {}
        self.moving = MoveStates()
        self.writers: dict[int, Writer] = {}
        self.by_topic: dict[tuple[int, str], Replicas] = {}

    def on(self, broker: int, topic: str) -> Replicas:
        found = self.by_topic.get((broker, topic))
        if found is None:
            found = self.by_topic[broker, topic] = Replicas(broker)
        return found

    def of(self, broker: int, tp: TopicPartition) -> Replica:
        """The replica of a partition on a broker."""
        return self.on(broker, tp.topic)[tp.partition]

    def with_replica(self, tp: TopicPartition) -> list[int]:
        """The brokers whose log directory has a partition."""
        return [broker for broker in self.zk.seen if self.of(broker, tp).disk]

    def on_broker(self, broker: int) -> Iterable[Replica]:
        for (node, _topic), replicas in self.by_topic.items():
            if node == broker:
                yield from replicas.values()

    def reject(self, event: Event, tp: TopicPartition | None, sentence: Sentence, found: str, *before: Any) -> None:
        """Take note that ``event`` breaks ``sentence``."""
        self.counts[sentence] += 1
        if self.counts[sentence] <= KEPT:
            state = "; ".join(str(one) for one in before if one is not None) or "nothing known"
            kind = type(event).__name__
            self.rejections.append(Rejection(event.t_us, event.seq, kind, tp, sentence, state, found))
