"""A one-line summary of the changes of logs between two lines of a timeline."""

from __future__ import annotations

from typing import Any

from emulator.metrics.metric_events import GaugeSet, MeterMarked, MetricRegistered, MetricRemoved, TimerUpdated
from emulator.protocol.events import (
    AckedLost,
    Appended,
    Consumed,
    ConsumerLag,
    Fetched,
    HighWatermark,
    LastStableOffsetLag,
    PartitionGauges,
    Produced,
    Unfinished,
)
from emulator.protocol.types import TopicPartition
from emulator.trace.columns import kind_of_rows

METRICS = (
    MetricRegistered, MetricRemoved, GaugeSet, MeterMarked, TimerUpdated, PartitionGauges, LastStableOffsetLag,
    ConsumerLag,
)  # fmt: skip
"""The events behind ``understudy metrics``: not part of a timeline, and never the cause of another event."""


DATA = (Appended, HighWatermark, Consumed, Fetched, Unfinished)
"""The events of which there are many, and which are summarised."""

SLOW_US = 1_000_000
"""The latency from which on a summary names a batch."""


def is_data(event: Any) -> bool:
    """Whether this is one of the many events that are summarised, or the columns of such. A batch that was given up has
    a line of its own; one that is lost as it is acknowledged, by a leader that is none any more, has not."""
    kind = kind_of_rows(type(event))
    if kind is AckedLost:
        return bool(event.acks == 1 and event.batches == 1)
    return kind in DATA or (kind is Produced and event.error == "NONE")


class Summary:
    """Collects events until ``take`` returns them in words.

    Attributes:
        last: the newest event collected.
        slowest: the batch that took longest of those acknowledged after ``SLOW_US`` or more; None: there is none.
    """

    def __init__(self) -> None:
        self.last: Any = None
        self._clear()

    def _clear(self) -> None:
        self._batches = 0
        self._partitions: dict[TopicPartition, None] = {}
        self._base = self._next = -1
        self._followers: dict[int, int] = {}
        self._high_watermark = -1
        self._acknowledged = 0
        self.slowest: Produced | None = None
        self._consumed = self._unfinished = self._lost = 0

    def __bool__(self) -> bool:
        """Whether anything was collected."""
        return bool(self._partitions)

    def add(self, event: Any) -> None:
        self.last = event
        kind = type(event)
        self._partitions[TopicPartition(event.topic, event.partition)] = None
        if kind is HighWatermark:
            if event.leader:
                self._high_watermark = event.high_watermark
        elif kind is Produced:
            self._acknowledged += 1
            if event.latency_us >= SLOW_US and (self.slowest is None or event.latency_us > self.slowest.latency_us):
                self.slowest = event
        elif kind is AckedLost:
            self._lost += 1
        elif kind is Unfinished:
            self._unfinished += 1
        elif kind is Consumed or kind is Fetched:
            self._consumed += event.next_offset - event.offset
        elif event.leader:
            if not self._batches:
                self._base = event.base_offset
            self._batches += 1
            self._next = event.next_offset
        else:
            self._followers[event.node] = event.next_offset

    def take(self, one_partition: bool) -> str:
        """The collected events in words, and start over; empty if there is nothing to show."""
        text = self._of_partition() if one_partition else self._of_cluster()
        self._clear()
        return text

    def _clients_words(self) -> list[str]:
        counts = (
            (self._acknowledged, "acked"),
            (self._lost, "LOST although acked (acks=1)"),
            (self._unfinished, "unfinished at the end"),
            (self._consumed, "messages read"),
        )
        return [f"{count} {what}" for count, what in counts if count]

    def _of_partition(self) -> str:
        parts = []
        if self._batches:
            parts.append(f"{_batches(self._batches)}, offsets {self._base}-{self._next - 1}")
        if self._followers:
            parts.append(f"fetched by {'; '.join(self._fetched())}")
        if self._high_watermark >= 0:
            parts.append(f"high watermark {self._high_watermark}")
        return "; ".join(parts + self._clients_words())

    def _fetched(self) -> list[str]:
        """The followers, grouped by the end of their logs; with that end where it is not the leader's."""
        by_end: dict[int, list[str]] = {}
        for node, end in sorted(self._followers.items()):
            by_end.setdefault(end, []).append(str(node))
        return [", ".join(nodes) + ("" if end == self._next else f" up to {end}") for end, nodes in by_end.items()]

    def _of_cluster(self) -> str:
        if not (self._batches or self._clients_words()):
            return ""
        count = len(self._partitions)
        partitions = "1 partition" if count == 1 else f"{count} partitions"
        return "; ".join([f"{_batches(self._batches)} in {partitions}", *self._clients_words()])


def _batches(count: int) -> str:
    return "1 batch" if count == 1 else f"{count} batches"
