"""S19: records that a client had deleted are gone from every live replica when it gets its answer."""

from __future__ import annotations

from typing import ClassVar

from emulator.protocol.events import LogStartMoved, ReplicaStopped
from emulator.protocol.shown import RecordsDeleted
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Checker, Report
from scenarios.observe.findings.log_facts import DeletedInPart
from scenarios.observe.history.history import History


class DeletionsComplete(Checker):
    """A leader answers a DeleteRecords once the log of each live replica begins at the offset or after it (KIP-107:
    low_watermark).

    Verified: at each answer without an error, for the replicas that the leader counted: their logs have begun there,
        and the low watermark of the answer is above no start of theirs.

    Not verified: which brokers live, other than by the leader's metadata; a replica that has begun there and, after a
        crash, begins earlier again, since log-start-offset-checkpoint is written once a minute.
    """

    name: ClassVar[str] = "deletions_complete"
    ids: ClassVar[tuple[str, ...]] = ("S19",)
    statement: ClassVar[str] = (
        "deleted(tp, o, lw) ⇒ ∀ b ∈ live: start_b ≥ lw ≥ o: records that were deleted on request are gone everywhere"
    )
    fails_when: ClassVar[str | None] = "a leader answers a deletion that its followers do not know of"

    def __init__(self, history: History, report: Report) -> None:
        super().__init__(history, report)
        self._logs = history.logs
        self._furthest: dict[tuple[int, str, int], int] = {}

    def on_start_moved(self, event: LogStartMoved) -> None:
        log = event.node, event.topic, event.partition
        self._furthest[log] = max(event.log_start_offset, self._furthest.get(log, 0))

    def on_stopped(self, event: ReplicaStopped) -> None:
        if event.deleted:
            self._furthest.pop((event.node, event.topic, event.partition), None)

    def on_deleted(self, event: RecordsDeleted) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        starts = {broker: self._start(broker, tp) for broker in event.counted}
        least = max(event.offset, event.low_watermark)
        late = tuple((broker, start) for broker, start in starts.items() if start < least)
        if late or event.low_watermark < event.offset:
            facts = DeletedInPart(event.node, event.offset, event.low_watermark, late)
            self.violated(event, facts, tp, tuple(broker for broker, _ in late))

    def _start(self, broker: int, tp: TopicPartition) -> int:
        """The furthest start that the replica's log has had."""
        log = self._logs.get(broker, tp)
        return max(0 if log is None else log.start_offset, self._furthest.get((broker, *tp), 0))
