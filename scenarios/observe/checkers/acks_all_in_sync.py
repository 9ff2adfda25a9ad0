"""S14: acks=all is answered by min.insync.replicas replicas."""

from __future__ import annotations

from emulator.protocol.events import BatchesProduced
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.below_min_isr import BelowMinIsr, Few
from scenarios.observe.findings.client_facts import AckedByFew

ALL = -1


class AcksAllInSync(BelowMinIsr):
    """A leader acknowledges a batch with acks=all only while its ISR has min.insync.replicas members.

    Verified: each batch that a producer learns to be acknowledged with acks=all: at some moment since it was closed,
        and since it was committed, the leader that answered had an ISR of at least min.insync.replicas of the topic, of
        all brokers, or of the start: one that commits a batch while its ISR is smaller has to answer
        NOT_ENOUGH_REPLICAS_AFTER_APPEND (Partition.checkEnoughReplicasReachOffset, 0.9). The ISR is the one that the
        leader received in LeaderAndIsr or has changed itself, or begins to expand it to (KIP-497 counts the larger set
        while a change is in flight). For a minute after a change of the setting either value will do.

    Not verified: the very moment at which the leader answered, which no event shows; that a leader with enough in-sync
        replicas accepts the batch; that the members of its ISR have it (S3).
    """

    ids = ("S14",)
    statement = (
        "ack(all) ⇒ |isr_b| ≥ min.insync.replicas: "
        "acks=all is answered only with min.insync.replicas replicas in the ISR"
    )
    catches = ("KAFKA-1555",)
    fails_when = "a leader does not count its ISR"

    def on_produced(self, event: BatchesProduced) -> None:
        if not self.few or event.acks != ALL or event.outcome != "acked":
            return
        for number, partition in enumerate(event.partitions):
            tp = TopicPartition.of(event.topic, partition)
            few = self.few.get(tp, {}).get(event.leader)
            if few is None or not self._answered_while(few, event, number):
                continue
            least = self.least(tp, event.leader, event.t_us)
            if few.size < least:
                facts = AckedByFew(event.leader, event.ids[number], few.size, least, few.since_us)
                self.violated(event, facts, tp)

    @staticmethod
    def _answered_while(few: Few, event: BatchesProduced, number: int) -> bool:
        """Whether a batch can have been acknowledged only since the ISR is small."""
        closed_us = event.t_us - event.latencies_us[number]
        return few.since_us < closed_us or 0 <= few.committed < event.next_offsets[number]
