"""The base of the checkers of leaders whose ISR is below min.insync.replicas."""

from __future__ import annotations

from typing import NamedTuple

from emulator.protocol.events import BecameFollower, BecameLeader, IsrChanged, IsrProposed, NodeCrashed, ReplicaStopped
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Checker


class Few(NamedTuple):
    """An ISR below min.insync.replicas.

    Attributes:
        since_us: since when it is.
        committed: the leader's high watermark at that time, if it is known; -1: it is not.
    """

    size: int
    since_us: int
    committed: int


class BelowMinIsr(Checker):
    """The base. The ISR of a leader is the one that it received in LeaderAndIsr or has changed itself, or begins to
    expand it to (KIP-497 counts the larger set while a change is in flight). For a minute after a change of the setting
    the smaller value counts. The replicas of a partition are those that its leader has received
    (Partition.effectiveMinIsr, 3.7): a move drops them there before it does in ZooKeeper."""

    def begin(self) -> None:
        self._settings = self.history.settings
        self._logs = self.history.commits.logs  # with their high watermarks
        self.few: dict[TopicPartition, dict[int, Few]] = {}
        """The ISRs below min.insync.replicas, by partition and leader."""
        self._led: dict[int, dict[TopicPartition, None]] = {}
        self._replicas: dict[tuple[int, TopicPartition], int] = {}
        """The number of replicas in the last LeaderAndIsr of each leader."""

    def on_leader(self, event: BecameLeader) -> None:
        self._replicas[event.node, TopicPartition.of(event.topic, event.partition)] = len(event.replicas)
        self._note(event.node, event.topic, event.partition, event.isr, event.t_us)

    def on_changed(self, event: IsrChanged) -> None:
        self._note(event.node, event.topic, event.partition, event.isr, event.t_us)

    def on_proposed(self, event: IsrProposed) -> None:
        if event.kind == "expand":
            self._note(event.node, event.topic, event.partition, event.isr, event.t_us)

    def _note(self, node: int, topic: str, partition: int, isr: tuple[int, ...], now_us: int) -> None:
        tp, size = TopicPartition.of(topic, partition), max(1, len(isr))
        least = self.least(tp, node, now_us)
        if size >= least:
            self._forget(node, tp)
        else:
            by_leader = self.few.setdefault(tp, {})
            before = by_leader.get(node)
            by_leader[node] = before._replace(size=size) if before else Few(size, now_us, self._committed(node, tp))
            self._led.setdefault(node, {})[tp] = None

    def _committed(self, node: int, tp: TopicPartition) -> int:
        log = self._logs.get(node, tp)
        return -1 if log is None or log.high_watermark is None else log.high_watermark

    def least(self, tp: TopicPartition, leader: int, now_us: int) -> int:
        replicas = self._replicas.get((leader, tp)) or len(self.cluster.assignment(tp))
        return min(self._settings.min_isrs(tp.topic, replicas, now_us))

    def _forget(self, node: int, tp: TopicPartition) -> None:
        if tp in self._led.get(node, ()):
            del self._led[node][tp]
            del self.few[tp][node]
            if not self.few[tp]:
                del self.few[tp]

    def on_end(self, event: BecameFollower | ReplicaStopped) -> None:
        self._forget(event.node, TopicPartition.of(event.topic, event.partition))

    def on_crashed(self, event: NodeCrashed) -> None:
        for tp in list(self._led.get(event.node, ())):
            self._forget(event.node, tp)
