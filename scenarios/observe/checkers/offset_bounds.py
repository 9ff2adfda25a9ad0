"""S7: a high watermark lies within its log."""

from __future__ import annotations

from emulator.protocol.events import (
    BecameFollower,
    BecameLeader,
    HighWatermark,
    LogLoaded,
    LogReplaced,
    LogStartMoved,
    ReplicaStopped,
    Truncated,
)
from emulator.protocol.types import TopicPartition
from scenarios.observe.checkers.checker import Checker
from scenarios.observe.findings.log_facts import BoundsBroken, CopyBeginsLater, LogBeginsUncommitted
from scenarios.observe.history.replica_logs import ReplicaLogHistory

Placed = LogLoaded | BecameLeader | BecameFollower | Truncated | HighWatermark
"""The events that carry a replica's high watermark."""


class OffsetBounds(Checker):
    """On every replica, log start ≤ high watermark ≤ log end.

    Verified: whenever one of them changes: when a log is loaded from disk, when a role is taken up, when the log is
        truncated, when old segments are deleted, when the high watermark moves. Appends keep the order and need no
        check. A copy that takes the place of a log does not begin after it, nor after where it has begun before: a
        broker that crashes may find segments again that were about to be deleted (LogManager.startup: retention and
        the checkpoint of log starts begin 30 s after it).

    Not verified: a copy of a replica that is being made in another log directory of its broker.
    """

    ids = ("S7",)
    statement = "0 ≤ lso ≤ hw ≤ leo: a high watermark is never before the log's start nor after its end"
    fails_when = "a truncation keeps the high watermark"

    def begin(self) -> None:
        self.history.commits.beyond.append(self._beyond)
        self._replaced = 0
        """The start of the log that was replaced last."""
        self._starts: dict[tuple[int, str, int], int] = {}
        """The furthest that each log has begun which once began later than at 0, since it or its copy came there."""

    def on_loaded(self, event: LogLoaded) -> None:
        self._began(event)
        self._check(event, event.log_start_offset, event.log_end_offset)

    def on_placed(self, event: BecameLeader | BecameFollower | Truncated) -> None:
        self._check(event, 0, event.log_end_offset)

    def on_replaced(self, event: LogReplaced) -> None:
        log = self.history.logs.get(event.node, TopicPartition(event.topic, event.partition))
        self._replaced = 0 if log is None else log.start_offset

    def on_log_start_moved(self, event: LogStartMoved) -> None:
        if event.reason == "copy":
            furthest = self._starts.pop((event.node, event.topic, event.partition), 0)
            if event.log_start_offset > max(self._replaced, furthest):
                later = CopyBeginsLater(event.node, event.log_start_offset, self._replaced)
                self.violated(event, later, TopicPartition.of(event.topic, event.partition), (event.node,))
        self._began(event)
        log = self.history.logs.get(event.node, TopicPartition(event.topic, event.partition))
        if log is not None and log.high_watermark is not None and event.log_start_offset > log.high_watermark:
            facts = LogBeginsUncommitted(event.node, event.log_start_offset, log.high_watermark)
            self.violated(event, facts, TopicPartition.of(event.topic, event.partition), (event.node,))

    def on_stopped(self, event: ReplicaStopped) -> None:
        if event.deleted:
            self._starts.pop((event.node, event.topic, event.partition), None)

    def _began(self, event: LogLoaded | LogStartMoved) -> None:
        start, log = event.log_start_offset, (event.node, event.topic, event.partition)
        if start > self._starts.get(log, 0):
            self._starts[log] = start

    def _beyond(self, event: HighWatermark, log: ReplicaLogHistory) -> None:
        self._check(event, log.start_offset, log.end_offset)

    def _check(self, event: Placed, start: int, end: int) -> None:
        if not 0 <= start <= event.high_watermark <= end:
            facts = BoundsBroken(event.node, type(event).__name__, start, event.high_watermark, end)
            self.violated(event, facts, TopicPartition.of(event.topic, event.partition), (event.node,))
