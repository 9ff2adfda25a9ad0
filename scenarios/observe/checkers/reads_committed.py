"""S10: consumers read only committed records."""

from __future__ import annotations

from emulator.protocol.events import Consumed, Fetched
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.client_facts import ReadUncommitted


class ReadsCommitted(Checker):
    """Records that a poll returns end at or before the high watermark in its response, and at or before the largest
    high watermark that any leader has had.

    Verified: each poll of each consumer, and each response to Fetch of a real one, are compared with the high watermark
        in the response, and with the largest high watermark that any leader has had.

    Not verified: the high watermark of the leader at the moment of sending; which batches were returned (S11).
    """

    ids = ("S10",)
    statement = "read[p] < hw: a consumer reads nothing above the high watermark"
    catches = ("KAFKA-14704",)
    fails_when = "a leader gives consumers all it has"

    def begin(self) -> None:
        self._commits = self.history.commits

    def on_read(self, event: Consumed | Fetched) -> None:
        exposed = self._exposed(event)
        if event.next_offset > min(event.high_watermark, exposed):
            facts = ReadUncommitted(event.node, event.next_offset, event.leader, event.high_watermark, exposed)
            self.violated(event, facts, TopicPartition.of(event.topic, event.partition))

    def _exposed(self, event: Consumed | Fetched) -> int:
        """The highest high watermark so far; a new leader has the one that it loaded from disk."""
        commit = self._commits.get(event.topic, event.partition)
        log = self.history.logs.get(event.leader, commit.tp)
        found = log.high_watermark if log is not None else None
        return max(commit.offset, commit.highest, found or 0)
