"""S14 for acks=1, which Kafka does not promise: a record that the leader alone acknowledged is not lost either."""

from __future__ import annotations

from emulator.protocol.events import AckedLost
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Checker, Gravity
from scenarios.observe.checkers.no_acked_record_lost import lost
from scenarios.observe.history.acknowledged import ONE


class NoAcks1RecordLost(Checker):
    """A record acknowledged with acks=1 is at its offset under every later leader.

    Verified: what ``no_acked_record_lost`` verifies, for acks=1, whatever the election. It watches only the runs that
        expect it: with acks=1 the leader answers before any follower has the record, so Kafka loses it where the leader
        dies, or is deposed, before the next fetch. How many were lost is counted in every run
        (``lost_acks_1_records``).

    Not verified: records sent with acks=0, which are never acknowledged.
    """

    ids = ("S14",)
    gravity = Gravity.LOSS
    statement = (
        "as no_acked_record_lost, for acks=1: "
        "no record acknowledged with acks=1 is ever lost, which Kafka does not promise"
    )
    catches = ("KIP-679",)
    opt_in = True

    def begin(self) -> None:
        self._acknowledged = self.history.acknowledged

    def on_lost(self, event: AckedLost) -> None:
        if event.acks == ONE:
            self.violated(event, lost(event), TopicPartition.of(event.topic, event.partition))

    def finish(self) -> None:
        self._acknowledged.finish()
