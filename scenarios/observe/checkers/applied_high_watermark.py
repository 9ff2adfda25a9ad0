"""S9: a new leader answers with the latest offset only once it knows what is committed."""

from __future__ import annotations

from emulator.protocol.events import BecameLeader, LatestOffsetReturned
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Checker, shared
from scenarios.observe.findings.client_facts import LatestTooEarly


class AppliedHighWatermark(Checker):
    """A leader answers ListOffsets(latest) only once its high watermark has reached the start of its epoch.

    Verified: each such answer, against the end of the leader's log when it took up its epoch.

    The profiles ``kafka-1.1`` and ``kafka-0.8`` lack the guard (KIP-207, 2.2) and break this.

    Not verified: that the leader does not expand its ISR before that. Kafka's leader does, for a follower that has
        itself reached the start of the epoch; I2 checks this.
    """

    ids = ("S9",)
    statement = (
        "hw_b < LESO ⇒ b answers no ListOffsets(latest): "
        "a leader answers with the latest offset once it knows what is committed"
    )
    fails_when = "a new leader answers with its high watermark as it is"

    def begin(self) -> None:
        self._began: dict[int, dict[TopicPartition, tuple[int, int]]] = {}

    def on_became_leader(self, event: BecameLeader) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        self._began.setdefault(event.node, {})[tp] = shared((event.leader_epoch, event.log_end_offset))

    def on_latest_offset(self, event: LatestOffsetReturned) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        epoch, start = self._began.get(event.node, {}).get(tp, (-1, 0))
        if event.offset < start:
            self.violated(event, LatestTooEarly(event.node, epoch, start, event.offset), tp)
