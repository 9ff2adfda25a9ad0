"""The changes of logs in the transitions of one broker: rows of the trace's events, collected while a loop goes through
the partitions of a request, and recorded once, as columns.

A row costs one tuple. All else is done once for each transition and topic: the event, its number, its folds, and the
counts of BrokerTopicMetrics, which are sums over the columns.
"""

from itertools import groupby
from typing import Any

from brokers.metrics import BrokerTopicMetrics
from emulator.nodes import Process
from emulator.protocol.events import BatchesAppended, HighWatermarksMoved
from emulator.protocol.shown import FollowerReached
from emulator.protocol.types import TopicPartition


class Rows(list[tuple[Any, ...]]):
    """The rows of one kind that the current transition has collected. Each begins with its partition; the rest are the
    columns of the event, in their order. ``Recorder.begin`` is called before the first of them is appended."""

    __slots__ = ("begin", "leader")

    def __init__(self, recorder: "Recorder", leader: bool) -> None:
        super().__init__()
        self.begin = recorder.begin
        self.leader = leader


class Recorder:
    """The rows of one broker.

    Attributes:
        appended, replicated: batches appended as leader and as follower: ``(tp, leader epoch, base offset, next offset,
            id, size)``.
        committed, learned: high watermarks that moved as leader, and that were received from the leader: ``(tp, leader
            epoch, high watermark)``.
    """

    __slots__ = ("_begun", "_process", "_topics", "appended", "committed", "learned", "replicated")

    def __init__(self, process: Process, topics: BrokerTopicMetrics) -> None:
        self._process = process
        self._topics = topics
        self._begun = False
        self.appended = Rows(self, True)
        self.replicated = Rows(self, False)
        self.committed = Rows(self, True)
        self.learned = Rows(self, False)

    def begin(self) -> None:
        """Called before the first row of a transition."""
        if not self._begun:
            self._begun = True
            self._process.node.trace.collect(self)

    def record(self) -> None:
        """Record the rows: appends before the high watermarks that cover them. A dead process records nothing."""
        self._begun = False
        if self.appended:
            self._record_appends(self.appended)
        if self.replicated:
            self._record_appends(self.replicated)
        if self.committed:
            self._record_high_watermarks(self.committed)
        if self.learned:
            self._record_high_watermarks(self.learned)

    def reached(self, tp: TopicPartition, follower: int) -> None:
        """Take note that a follower outside the ISR reads at the high watermark, or above it."""
        node = self._process.node
        self._process.show(FollowerReached, node.id, *tp, follower)

    def _record_appends(self, rows: Rows) -> None:
        """Record ``rows`` and count them in BrokerTopicMetrics."""
        collected, process, leader = rows.copy(), self._process, rows.leader
        rows.clear()
        if not process.alive:
            return
        node = process.node.id
        if len(collected) == 1:  # as in most requests under a light load: columns of one value need no loop
            [((topic, partition), epoch, base, end, id, size)] = collected
            process.emit_columns(
                BatchesAppended, 1, node, topic, leader, (partition,), (epoch,), (base,), (end,), (id,), (size,)
            )
            self._count(topic, leader, end - base, size)
            return
        for topic, partitions, (epochs, bases, ends, ids, sizes) in _by_topic(collected):
            process.emit_columns(
                BatchesAppended, len(partitions), node, topic, leader, partitions, epochs, bases, ends, ids, sizes
            )
            self._count(topic, leader, sum(ends) - sum(bases), sum(sizes))

    def _count(self, topic: str, leader: bool, records: int, size: int) -> None:
        if leader:
            self._topics.produced(topic, records, size)
        else:
            self._topics.replication_in.mark(size)

    def _record_high_watermarks(self, rows: Rows) -> None:
        collected, process, leader = rows.copy(), self._process, rows.leader
        rows.clear()
        if not process.alive:
            return
        node = process.node.id
        if len(collected) == 1:
            [((topic, partition), epoch, high_watermark)] = collected
            process.emit_columns(HighWatermarksMoved, 1, node, topic, leader, (partition,), (epoch,), (high_watermark,))
            return
        for topic, partitions, (epochs, high_watermarks) in _by_topic(collected):
            process.emit_columns(
                HighWatermarksMoved, len(partitions), node, topic, leader, partitions, epochs, high_watermarks
            )


Run = tuple[str, tuple[int, ...], list[tuple[int, ...]]]
"""Rows of one topic that follow each other: the topic, their partitions, and the other columns."""


def _by_topic(collected: list[tuple[Any, ...]]) -> list[Run]:
    tps, *columns = zip(*collected, strict=True)
    if len({tp.topic for tp in tps}) == 1:
        return [(tps[0].topic, tuple([tp.partition for tp in tps]), columns)]
    return [run for _topic, some in groupby(collected, key=lambda row: row[0].topic) for run in _by_topic(list(some))]
