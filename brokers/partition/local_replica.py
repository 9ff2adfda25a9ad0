"""A replica: its log, its high watermark, and the changes that a follower makes (fetchers.ports.FollowerLog)."""

from collections.abc import Sequence
from typing import NoReturn

from brokers.log.batch_runs import Piece
from brokers.log.log import Log
from brokers.partition.recorder import Recorder
from brokers.partition.remote import Position
from emulator.disks import DiskError
from emulator.nodes import Process
from emulator.protocol.events import LogLoaded, LogStartMoved, Truncated
from emulator.protocol.extents import Extent, ExtentPart
from emulator.protocol.offsets_for_leader_epoch import EpochEndFound
from emulator.protocol.produce import ProducedBatch
from emulator.protocol.shown import Deviated, SegmentsDeleted
from emulator.protocol.types import Batch, TopicPartition
from fetchers.failures import CorruptBatch


def refuse(corrupt: Batch, log: Log) -> NoReturn:
    """Refuse a batch that a follower has found corrupt before it appends it. Raises: CorruptBatch."""
    raise CorruptBatch(f"{log.tp}: the batch at {corrupt.base_offset} does not fit its checksum")


def begins_with(log: Log, first: Piece) -> bool:
    """Whether a log has to begin where the leader's batch ``first`` does, as it is empty and ends within that
    (Partition.appendRecordsToFollowerOrFutureReplica); in a release that does so (KAFKA-6975)."""
    ends_within = log.start_offset == log.end_offset and first.base_offset < log.end_offset < first.next_offset
    return ends_within and log.directory.rules.begins_within_batch


def _row(tp: TopicPartition, piece: Piece) -> tuple[TopicPartition, int, int, int, int, int]:
    """The row of ``Recorder`` for a batch, or for several of an extent."""
    return tp, piece.leader_epoch, piece.base_offset, piece.next_offset, piece.id, piece.size


class LocalReplica:
    """The replica of one partition on this broker.

    Attributes:
        leader_epoch: the leader epoch of the last LeaderAndIsr that took effect; -1 before the first.
        adding: the assigned replicas that a reassignment adds, where the controller sends them (KIP-455).
        readers: the positions of consumers' sessions; None before the first.
    """

    __slots__ = ("adding", "high_watermark", "leader_epoch", "log", "process", "readers", "recorder", "tp")

    def __init__(self, tp: TopicPartition, log: Log, process: Process, recorder: Recorder) -> None:
        self.tp = tp
        self.process = process
        self.recorder = recorder
        self.log = log
        checkpointed = log.directory.high_watermarks.get(tp)
        self.high_watermark = max(log.start_offset, min(checkpointed, log.end_offset))
        if self.high_watermark != checkpointed:
            log.directory.moved[self] = None  # Kafka writes those of all replicas each time
        self.leader_epoch = -1
        self.adding: tuple[int, ...] = ()
        self.readers: dict[Position, None] | None = None
        process.emit(
            LogLoaded, process.node.id, tp.topic, tp.partition, log.start_offset, log.end_offset, self.high_watermark
        )

    def show(self, ticket: str, broker: int) -> None:
        """Show that the release does to the replica of ``broker`` what a ticket is about (``Deviated``)."""
        self.process.mark(Deviated, self.process.node.id, ticket, *self.tp, broker)

    def set_high_watermark(self, high_watermark: int, as_leader: bool) -> None:
        """Set the high watermark, checkpoint it, and collect its ``HighWatermark``."""
        self.high_watermark = high_watermark
        self.log.directory.moved[self] = None
        rows = self.recorder.committed if as_leader else self.recorder.learned
        if not rows:
            rows.begin()
        rows.append((self.tp, self.leader_epoch, high_watermark))

    @property
    def log_end_offset(self) -> int:
        return self.log.end_offset

    @property
    def log_start_offset(self) -> int:
        return self.log.start_offset

    @property
    def latest_epoch(self) -> int:
        return self.log.epochs.latest

    def end_offset_for_epoch(self, epoch: int) -> tuple[int, int]:
        """The largest local epoch that is at most ``epoch``, and its end offset (Kafka's ``LeaderEpochFileCache``)."""
        found = self.log.epochs.end_offset_for(epoch, self.log.end_offset)
        self._show_end(epoch, found[1])
        return found

    def end_offset_alone(self, epoch: int) -> int:
        """The answer of a release before KIP-279, without an epoch (``LeaderEpochFileCache.end_offset_alone``)."""
        found = self.log.epochs.end_offset_alone(epoch, self.log.end_offset)
        self._show_end(epoch, found)
        return found

    def _show_end(self, epoch: int, end_offset: int) -> None:
        node = self.process.node
        self.process.show(EpochEndFound, node.id, self.tp, epoch, end_offset, self.log.end_offset)

    def diverging(self, epoch: int, offset: int) -> tuple[int, int] | None:
        """The point at which this log diverges from a log whose last record, before ``offset``, was written under
        ``epoch``: the largest epoch known here that is at most ``epoch``, and its end offset. None: the logs do not
        diverge."""
        found, end = self.log.epochs.end_offset_for(epoch, self.log.end_offset)
        if epoch != self.latest_epoch:
            self._show_end(epoch, end)
        return (found, end) if found < epoch or end < offset else None

    def append_as_follower(
        self, batches: tuple[Batch, ...], leader_high_watermark: int, leader_log_start: int = 0
    ) -> int:
        """Append the leader's batches, take over its high watermark and log start offset; return the new end.

        Raises: CorruptBatch, DiskError, OffsetMismatch.
        """
        log = self.log
        if batches:
            tp, rows = self.tp, self.recorder.replicated
            if not rows:
                rows.begin()
            for batch in batches:
                if batch.corrupt:  # all are checked before any is appended (Log.analyzeAndValidateRecords)
                    refuse(batch, log)
            if log.start_offset == log.end_offset:
                self._begin_at(batches)
            for batch in batches:
                log.append(batch)
                rows.append((tp, batch.leader_epoch, batch.base_offset, batch.next_offset, batch.id, batch.size))
            if self.adding:
                self.replicated(batches)
        end = log.end_offset
        high_watermark = leader_high_watermark if leader_high_watermark < end else end
        if high_watermark != self.high_watermark:
            if high_watermark < log.start_offset:
                high_watermark = self.bounded(high_watermark)
            self.set_high_watermark(high_watermark, False)
            for reader in self.readers or ():
                reader.session.high_watermark_learned(reader)
        if leader_log_start > log.start_offset:
            log.raise_start_to(min(leader_log_start, end))
            log.watch_retention()
            self.log_start_moved("leader")
        self.stability_changed()
        return end

    def _begin_at(self, pieces: Sequence[Piece]) -> None:
        if begins_with(self.log, pieces[0]):
            self.truncate_fully_and_start_at(pieces[0].base_offset)

    # -- many batches at once -----------------------------------------------------------------------------------------

    def append_as_leader(self, produced: ProducedBatch | Extent) -> int:
        """Append as the leader; return the base offset. A partition does it."""
        raise NotImplementedError

    def append_pieces_as_follower(
        self, pieces: Sequence[Piece], leader_high_watermark: int, leader_log_start: int = 0
    ) -> int:
        """Append what ``Log.pieces`` returns of the leader's log, as ``append_as_follower`` appends its batches. The
        event has one row for each piece.

        Raises: CorruptBatch, DiskError, OffsetMismatch.
        """
        log, rows = self.log, self.recorder.replicated
        if pieces:
            if not rows:
                rows.begin()
            for piece in pieces:
                if not isinstance(piece, ExtentPart) and piece.corrupt:
                    refuse(piece, log)
            self._begin_at(pieces)
            for piece in pieces:
                if isinstance(piece, ExtentPart):
                    log.append_part(piece)
                else:
                    log.append(piece)
                rows.append(_row(self.tp, piece))
            if self.adding:
                self.replicated(pieces)
        return self.append_as_follower((), leader_high_watermark, leader_log_start)

    @property
    def last_stable_offset_lag(self) -> int:
        """The number of committed records that a reader of committed transactions may not read yet."""
        return self.high_watermark - self.log.last_stable_offset(self.high_watermark)

    def stability_changed(self) -> None:
        """Take note that the log has grown, begins or ends elsewhere, or may have another high watermark: where it has
        transactions, it may have another last stable offset."""

    def bounded(self, high_watermark: int) -> int:
        """A learned ``high_watermark``, raised to the start of this log. A follower learns it from its leader, a copy
        in another log directory from the log that it has replaced."""
        return max(high_watermark, self.log.start_offset)

    def replicated(self, batches: Sequence[Piece]) -> None:
        """Take note of ``batches`` that were appended as a follower, while replicas were being added. A partition
        counts its own."""

    def log_start_moved(self, reason: str) -> None:
        """Take note that the log begins later than before."""
        tp = self.tp
        self.process.emit(LogStartMoved, self.process.node.id, tp.topic, tp.partition, self.log.start_offset, reason)
        self.stability_changed()

    @property
    def retention_limit(self) -> int:
        """The offset up to which segments may be deleted."""
        return self.high_watermark

    def delete_old_segments(self) -> int | None:
        """Delete the segments that are too old or make the log too large. Returns the time (us) from which on there may
        be more to delete; None: not before the log grows."""
        log = self.log
        before = log.start_offset
        try:
            reason = log.delete_old_segments(self.process.clock_us, self.retention_limit)
        except DiskError:  # its directory goes offline
            return None
        if log.start_offset != before:
            self.log_start_moved(reason)
        if reason:
            self.process.show(SegmentsDeleted, self.process.node.id, *self.tp, log.bases[0])
        return log.expires_us()

    def truncate_to(self, offset: int) -> None:
        """Drop everything from ``offset`` on; the high watermark never exceeds the end. Raises: DiskError."""
        if self.log.truncate_to(offset):
            self._truncated(self.log)

    def truncate_fully_and_start_at(self, offset: int) -> None:
        """Drop everything; the next batch begins at ``offset``. Raises: DiskError."""
        self.log.truncate_fully_and_start_at(offset)
        self._truncated(self.log)

    def _truncated(self, log: Log) -> None:
        self.high_watermark = max(log.start_offset, min(self.high_watermark, log.end_offset))
        log.directory.moved[self] = None
        self.process.emit(
            Truncated, self.process.node.id, self.tp.topic, self.tp.partition, self.leader_epoch, log.end_offset,
            self.high_watermark,
        )  # fmt: skip
        self.stability_changed()
