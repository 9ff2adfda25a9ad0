"""What the transitions of one broker do to logs: the rows of the trace's events, collected while a loop goes through
the partitions of a request, and recorded once, as columns.

A row costs one tuple. All else is done once for each transition and topic: the event, its number, its folds, and what
BrokerTopicMetrics counts, which are sums over the columns.
"""

from collections.abc import Callable, Sequence
from itertools import groupby
from typing import Any

from brokers.metrics import BrokerTopicMetrics
from emulator.nodes import Process
from emulator.protocol.events import BatchesAppended, HighWatermarksMoved
from emulator.protocol.types import TopicPartition

Count = Callable[[str, bool, list[tuple[int, ...]]], None]


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
        committed, learned: high watermarks that moved as leader, and that were received from the leader:
            ``(tp, leader epoch, high watermark)``.
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
        """A row of this transition follows."""
        if not self._begun:
            self._begun = True
            self._process.node.trace.collect(self)

    def record(self) -> None:
        """Record the rows: appends before the high watermarks that cover them. A dead process records nothing."""
        self._begun = False
        for rows in (self.appended, self.replicated):
            if rows:
                self._record(BatchesAppended, rows, self._count)
        for rows in (self.committed, self.learned):
            if rows:
                self._record(HighWatermarksMoved, rows)

    def _record(self, kind: type, rows: Rows, count: Count | None = None) -> None:
        """Record ``rows``, one event for each run of rows of one topic, and let ``count`` have the columns."""
        collected, process = rows.copy(), self._process
        rows.clear()
        if not process.alive:
            return
        runs: list[tuple[str, tuple[int, ...], list[tuple[int, ...]]]]
        tps: Sequence[TopicPartition]
        if len(collected) == 1:  # as in most requests under a light load: the zips would cost more than the event
            tp, *values = collected[0]
            runs = [(tp.topic, (tp.partition,), [(value,) for value in values])]
        elif len({row[0].topic for row in collected}) == 1:
            tps, *columns = zip(*collected, strict=True)
            runs = [(tps[0].topic, tuple([tp.partition for tp in tps]), columns)]
        else:
            runs = []
            for topic, some in groupby(collected, key=_topic):
                tps, *columns = zip(*some, strict=True)
                runs.append((topic, tuple(tp.partition for tp in tps), columns))
        for topic, partitions, columns in runs:
            process.emit_columns(kind, len(partitions), process.node.id, topic, rows.leader, partitions, *columns)
            if count is not None:
                count(topic, rows.leader, columns)

    def _count(self, topic: str, leader: bool, columns: list[tuple[int, ...]]) -> None:
        """BrokerTopicMetrics of batches that were appended."""
        _epochs, base_offsets, next_offsets, _ids, sizes = columns
        if leader:
            self._topics.produced(topic, sum(next_offsets) - sum(base_offsets), sum(sizes))
        else:
            self._topics.replication_in.mark(sum(sizes))


def _topic(row: tuple[Any, ...]) -> Any:
    return row[0].topic
