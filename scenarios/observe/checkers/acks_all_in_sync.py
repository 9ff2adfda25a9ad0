"""S14: acks=all is answered by min.insync.replicas replicas."""

from __future__ import annotations

from typing import ClassVar

from emulator.protocol.events import (
    BatchesProduced,
    BecameFollower,
    BecameLeader,
    IsrChanged,
    IsrProposed,
    NodeCrashed,
    ReplicaStopped,
)
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Checker, Report
from scenarios.observe.findings.client_facts import AckedByFew
from scenarios.observe.history.history import History

ALL = -1


class AcksAllInSync(Checker):
    """A leader acknowledges a batch with acks=all only while its ISR has min.insync.replicas members.

    Verified: each batch that a producer learns to be acknowledged with acks=all: at some moment since it was closed the
        leader that answered had an ISR of at least min.insync.replicas of the topic, of all brokers, or of the start;
        the ISR is the one that the leader received in LeaderAndIsr or has changed itself, or begins to expand it to
        (KIP-497 counts the larger set while a change is in flight). For a minute after a change of the setting either
        value will do.

    Not verified: the very moment at which the leader answered, which no event shows; that a leader with enough in-sync
        replicas accepts the batch; that the members of its ISR have it (S3).
    """

    name: ClassVar[str] = "acks_all_in_sync"
    ids: ClassVar[tuple[str, ...]] = ("S14",)
    statement: ClassVar[str] = (
        "ack(all) ⇒ |isr_b| ≥ min.insync.replicas: "
        "acks=all is answered only with min.insync.replicas replicas in the ISR"
    )
    catches: ClassVar[tuple[str, ...]] = ("KAFKA-1555",)
    fails_when: ClassVar[str | None] = "a leader does not count its ISR"

    def __init__(self, history: History, report: Report) -> None:
        super().__init__(history, report)
        self._settings = history.settings
        self._few: dict[TopicPartition, dict[int, tuple[int, int]]] = {}
        """Size of an ISR below min.insync.replicas, and since when, by partition and leader."""
        self._led: dict[int, dict[TopicPartition, None]] = {}

    def on_leader(self, event: BecameLeader) -> None:
        self._note(event.node, event.topic, event.partition, event.isr, event.t_us)

    def on_changed(self, event: IsrChanged) -> None:
        self._note(event.node, event.topic, event.partition, event.isr, event.t_us)

    def on_proposed(self, event: IsrProposed) -> None:
        if event.kind == "expand":
            self._note(event.node, event.topic, event.partition, event.isr, event.t_us)

    def _note(self, node: int, topic: str, partition: int, isr: tuple[int, ...], now_us: int) -> None:
        tp, size = TopicPartition.of(topic, partition), max(1, len(isr))
        least = self._least(tp, now_us)
        if size >= least:
            self._forget(node, tp)
        else:
            by_leader = self._few.setdefault(tp, {})
            by_leader[node] = size, by_leader.get(node, (0, now_us))[1]
            self._led.setdefault(node, {})[tp] = None

    def _least(self, tp: TopicPartition, now_us: int) -> int:
        return min(self._settings.min_isrs(tp.topic, len(self.cluster.assignment(tp)), now_us))

    def _forget(self, node: int, tp: TopicPartition) -> None:
        if tp in self._led.get(node, ()):
            del self._led[node][tp]
            del self._few[tp][node]
            if not self._few[tp]:
                del self._few[tp]

    def on_follower(self, event: BecameFollower) -> None:
        self._forget(event.node, TopicPartition.of(event.topic, event.partition))

    def on_stopped(self, event: ReplicaStopped) -> None:
        self._forget(event.node, TopicPartition.of(event.topic, event.partition))

    def on_crashed(self, event: NodeCrashed) -> None:
        for tp in list(self._led.get(event.node, ())):
            self._forget(event.node, tp)

    def on_produced(self, event: BatchesProduced) -> None:
        if not self._few or event.acks != ALL or event.outcome != "acked":
            return
        for number, partition in enumerate(event.partitions):
            tp = TopicPartition.of(event.topic, partition)
            few = self._few.get(tp, {}).get(event.leader)
            if few is None or few[1] >= event.t_us - event.latencies_us[number]:
                continue
            least = self._least(tp, event.t_us)
            if few[0] < least:
                facts = AckedByFew(event.leader, event.ids[number], few[0], least, few[1])
                self.violated(event, facts, tp)
