"""The transactions that are open in a log: computed from the batches that leaders append, and from the markers."""

from __future__ import annotations

from attrs import define, field

from emulator.protocol.events import TransactionalAppended
from emulator.protocol.shown_coordination import MarkerAppends
from emulator.protocol.types import TopicPartition
from scenarios.observe.history.replica_logs import ReplicaLogHistory

Placed = tuple[int, int]
"""A batch: its offset and its id."""
KEPT = 50
"""So many markers of a producer are kept for each partition. A log that lacks them all has fallen far behind."""


@define(eq=False)
class _Producer:
    """The batches and markers of one producer in one partition, in the order in which leaders appended them."""

    batches: list[Placed] = field(factory=list)
    markers: list[Placed] = field(factory=list)

    def ended(self, log: ReplicaLogHistory, end: int) -> int:
        """The offset of the last marker that a log is known to have below ``end``; -1: there is none."""
        return next((at for at, id in reversed(self.markers) if at < end and log.find(at, id)), -1)

    def first_open(self, log: ReplicaLogHistory, end: int) -> int | None:
        """The first batch that a log has behind that marker."""
        least = max(self.ended(log, end) + 1, log.start_offset)
        return min((at for at, id in self.batches if at >= least and log.find(at, id)), default=None)

    def may_be_open(self, log: ReplicaLogHistory, end: int) -> bool:
        """Whether a batch that is deleted may belong to a transaction without a marker."""
        ended = self.ended(log, end)
        return any(ended < at < log.start_offset for at, _ in self.batches)

    def forget(self) -> None:
        """Forget the oldest marker, and what is before it."""
        offset, _ = self.markers.pop(0)
        self.batches = [batch for batch in self.batches if batch[0] > offset]


class OpenTransactions:
    """The batches and markers of the transactions of each partition. Any log has some of them."""

    def __init__(self) -> None:
        self._producers: dict[TopicPartition, dict[int, _Producer]] = {}

    def _of(self, tp: TopicPartition, producer_id: int) -> _Producer:
        return self._producers.setdefault(tp, {}).setdefault(producer_id, _Producer())

    def on_appended(self, event: TransactionalAppended) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        self._of(tp, event.producer_id).batches.append((event.base_offset, event.batch))

    def on_marker(self, event: MarkerAppends) -> None:
        producer = self._of(event.tp, event.producer_id)
        producer.markers.append((event.offset, event.id))
        if len(producer.markers) > KEPT:
            producer.forget()

    def has_any(self, tp: TopicPartition) -> bool:
        """Whether a leader has ever appended a batch of a transaction, or a marker."""
        return tp in self._producers

    def firsts(self, tp: TopicPartition, log: ReplicaLogHistory, end: int) -> dict[int, int]:
        """By producer id, the offset of the first batch of each transaction that has no marker in ``log`` below
        ``end``."""
        found = ((id, producer.first_open(log, end)) for id, producer in self._producers.get(tp, {}).items())
        return {id: first for id, first in found if first is not None}

    def stable_ends(self, tp: TopicPartition, log: ReplicaLogHistory) -> tuple[int, int]:
        """The values that the last stable offset of a log may have. Of a transaction whose first records are deleted it
        is not known whether its broker remembers it. A transaction whose marker was below a high watermark that has
        gone back since is over (ProducerStateManager.onHighWatermarkUpdated, 0.11 to 3.9)."""
        end, start = log.high_watermark or 0, log.start_offset
        if tp not in self._producers:
            return end, end
        replicated = max(end, log.fell_from)
        surely = min(self.firsts(tp, log, replicated).values(), default=end)
        if any(producer.may_be_open(log, replicated) for producer in self._producers[tp].values()):
            return min(surely, end), min(start, end)
        return min(surely, end), min(surely, end)
