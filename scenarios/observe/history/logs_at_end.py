"""The logs that a broker's process had as it ended, and what its next one has to load of each."""

from __future__ import annotations

from typing import Any, NamedTuple

from attrs import define

from emulator.protocol.events import (
    BecameFollower,
    BecameLeader,
    Fault,
    HighWatermarksMoved,
    LogDirFailed,
    LogLoaded,
    LogRecovered,
    LogReplaced,
    LogStartMoved,
    NodeCrashed,
    NodeStarted,
    ReplicaOffline,
    ReplicaStopped,
    Truncated,
)
from emulator.protocol.shown import SegmentRolled
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import DELETE_TOPICS
from emulator.trace.events import ZkWritten
from scenarios.observe.history.circumstances import ORDINARY, SUDDEN, Circumstances
from scenarios.observe.history.replica_logs import ReplicaLogs
from scenarios.observe.history.settings_history import StartSettings
from scenarios.observe.past.cluster_past import HEAL, PAUSE, RESUME

LATE_US = 1_000_000
HOST, STOPPED = "host", "stop"
"""Kinds of ends: of the machine, and a clean one, before which every checkpoint is written."""


class LoadedPart(NamedTuple):
    """A part of a log as a start has found it, and the least and the most that may be found."""

    part: str
    found: int
    least: int
    most: int


@define(eq=False)
class LogAtEnd:
    """A log as its process left it.

    Attributes:
        kind: how the process ended.
        end, start, disk_start: the end, the start, and where its oldest segment begins.
        durable: the offset up to which it had been flushed at least: where its newest segment began, or where it ended
            at a clean stop.
        high_watermark: None: not known.
        wrote, wrote_start: the checkpoint has the high watermark, or the start.
    """

    kind: str
    end: int
    start: int
    disk_start: int
    durable: int
    high_watermark: int | None
    wrote: bool
    wrote_start: bool

    def least_end(self) -> int:
        return min(self.durable, self.end) if self.kind == HOST else self.end


class LogsAtEnd:
    """The fold. What a fault has delayed or a failed log directory has lost is not known.

    Args:
        logs: the content of all logs, with their high watermarks.
        now: the faults that stand.

    Attributes:
        write_us: the time within which the checkpoint of high watermarks is written.
    """

    def __init__(self, logs: ReplicaLogs, now: Circumstances, start: StartSettings) -> None:
        self._logs, self._now = logs, now
        self.write_us = start.time_us("replica.high.watermark.checkpoint.interval.ms", 5_000) + LATE_US
        self._write_starts_us = start.time_us("log.flush.start.offset.checkpoint.interval.ms", 60_000) + LATE_US
        self.moved_us: dict[tuple[int, str], int] = {}
        """By broker and topic, when a high watermark has moved last, or a replica has got a role."""
        self._start_moved_us: dict[tuple[int, str], int] = {}
        self._open: dict[int, dict[TopicPartition, int]] = {}
        """By broker, the replicas whose logs it has opened, each with the offset up to which it had been flushed."""
        self.rolled: dict[int, dict[TopicPartition, int]] = {}
        """By broker, the replicas of which a segment was rolled since it was started, each with its newest segment."""
        self._ended: dict[int, dict[TopicPartition, LogAtEnd]] = {}
        """By broker, the logs that no process has opened again."""
        self._damaged: dict[int, None] = {}
        """Brokers of which a log directory has failed since they were started."""
        self._held_us = 0
        """When a fault last began or ended that may have delayed the work of a broker."""
        self._paused: dict[int, None] = {}

    # -- while it runs ------------------------------------------------------------------------------------------------

    def on_moved(self, event: HighWatermarksMoved | BecameLeader | BecameFollower) -> None:
        self.moved_us[event.node, event.topic] = event.t_us

    def on_cut(self, event: Truncated) -> None:
        self._changed(event)
        flushed, tp = self._open.get(event.node, {}), TopicPartition.of(event.topic, event.partition)
        if flushed.get(tp, 0) > event.log_end_offset:
            flushed[tp] = event.log_end_offset
        self.rolled.get(event.node, {}).pop(tp, None)

    def on_changed(self, event: LogStartMoved) -> None:
        self._changed(event)

    def on_replaced(self, event: LogReplaced) -> None:
        self._changed(event)
        tp = TopicPartition.of(event.topic, event.partition)
        self._open.setdefault(event.node, {})[tp] = 0
        self.rolled.get(event.node, {}).pop(tp, None)

    def _changed(self, event: Truncated | LogStartMoved | LogReplaced | LogLoaded) -> None:
        self.moved_us[event.node, event.topic] = self._start_moved_us[event.node, event.topic] = event.t_us

    def on_rolled(self, event: SegmentRolled) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        if tp in self._open.get(event.node, ()):
            self._open[event.node][tp] = event.base_offset
            self.rolled.setdefault(event.node, {})[tp] = event.base_offset

    def on_gone(self, event: ReplicaStopped | ReplicaOffline) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        if isinstance(event, ReplicaOffline):
            self._damaged[event.node] = None
        self.moved_us[event.node, event.topic] = event.t_us
        if isinstance(event, ReplicaOffline) or event.deleted:
            tables: tuple[dict[int, dict[TopicPartition, Any]], ...] = self._open, self._ended, self.rolled
            for logs in tables:
                logs.get(event.node, {}).pop(tp, None)

    def on_failed(self, event: LogDirFailed) -> None:
        self._damaged[event.node] = None

    def on_fault(self, event: Fault) -> None:
        if not event.action.startswith(ORDINARY) and event.action not in SUDDEN:
            self._held_us = event.t_us
        if event.action == PAUSE:
            self._paused.update(dict.fromkeys(event.brokers))
        elif event.action in (RESUME, HEAL):
            for broker in event.brokers:
                self._paused.pop(broker, None)

    def on_written(self, event: ZkWritten) -> None:
        """A topic is deleted: another one may get its name."""
        if event.path.startswith(DELETE_TOPICS + "/"):
            topic = event.path.removeprefix(DELETE_TOPICS + "/")
            for ended in self._ended.values():
                for tp in [tp for tp in ended if tp.topic == topic]:
                    del ended[tp]

    # -- it ends, and starts again ------------------------------------------------------------------------------------

    def on_crashed(self, event: NodeCrashed) -> None:
        node, opened = event.node, self._open.pop(event.node, {})
        ended = self._ended.setdefault(node, {})
        if event.kind == HOST or node in self._damaged:
            ended.clear()
        if node not in self._damaged:
            ended.update((tp, self._at_end(event, tp, flushed)) for tp, flushed in opened.items())

    def _at_end(self, event: NodeCrashed, tp: TopicPartition, flushed: int) -> LogAtEnd:
        log, of = self._logs.made(event.node, *tp), (event.node, tp.topic)
        stopped, held = event.kind == STOPPED, self._now.troubled or event.node in self._paused
        quiet_us = 0 if held else event.t_us - self._held_us
        moved_us, start_moved_us = self.moved_us.get(of, 0), self._start_moved_us.get(of, 0)
        wrote = min(quiet_us, event.t_us - moved_us) > self.write_us
        wrote_start = min(quiet_us, event.t_us - start_moved_us) > self._write_starts_us
        return LogAtEnd(
            event.kind, log.end_offset, log.start_offset, log.disk_start,
            log.end_offset if stopped else flushed, log.high_watermark, stopped or wrote, stopped or wrote_start,
        )  # fmt: skip

    def on_started(self, event: NodeStarted) -> None:
        self._damaged.pop(event.node, None)
        self._paused.pop(event.node, None)
        self.rolled.pop(event.node, None)

    def on_recovered(self, event: LogRecovered) -> None:
        """A start has cut the log at damage: perhaps a fault has done that."""
        ended = self._ended.get(event.node, {}).get(TopicPartition.of(event.topic, event.partition))
        if ended is not None:
            ended.end = ended.durable = min(ended.end, event.log_end_offset)

    def loaded(self, event: LogLoaded) -> tuple[str, list[LoadedPart]]:
        """How the process ended that had the log before, and the parts that are not as it has left them. Call it at
        each load."""
        self._changed(event)
        node, tp = event.node, TopicPartition.of(event.topic, event.partition)
        before = self._ended.get(node, {}).pop(tp, None)
        self._open.setdefault(node, {})[tp] = 0 if before is None else min(before.durable, event.log_end_offset)
        if before is None or node in self._damaged:
            return "", []
        start, end = event.log_start_offset, event.log_end_offset
        if before.end < before.start:
            return before.kind, []  # it was cut before its start, and begins there again
        parts = [LoadedPart("end", end, before.least_end(), before.end)]
        parts.append(
            LoadedPart("start", start, before.start if before.wrote_start else before.disk_start, before.start)
        )
        if before.wrote and before.high_watermark is not None:
            kept = max(start, min(before.high_watermark, end))
            parts.append(LoadedPart("high watermark", event.high_watermark, kept, kept))
        return before.kind, [part for part in parts if not part.least <= part.found <= part.most]
