"""One replica's log on its broker's disk. The unit is the batch; replicas share the batch objects."""

from bisect import bisect_right
from collections.abc import Callable, Collection, Sequence
from typing import Any, cast

from attrs import frozen

from brokers.log.batch_runs import BatchRuns, Piece, all_pieces, ended, pieces
from brokers.log.directory import LogDirectory, log_path
from brokers.log.leader_epoch_cache import NO_EPOCHS, LeaderEpochFileCache
from brokers.log.log_config import LogConfig
from brokers.log.producer_state_manager import (
    NO_PRODUCERS,
    AbortedTransaction,
    ProducerStateManager,
    VerificationStateEntry,
    remembered,
)
from brokers.log.segments import Segment, between, deletable
from emulator.disks import DiskFault, File
from emulator.protocol.extents import ExtentPart
from emulator.protocol.types import Batch, SequencedBatch, TopicPartition, corrupted

FROM_THE_START = (0,)
"""The base offsets of a log with one segment, as most are."""


def _leader_epoch(batch: Batch) -> int:
    return batch.leader_epoch


class OffsetMismatch(Exception):
    """A follower was given a batch that does not begin at its log end offset."""


class UnexpectedAppendOffset(OffsetMismatch):
    """A follower was given a batch that begins before its log end offset: it is ahead of its leader
    (UnexpectedAppendOffsetException, 1.1.1)."""


class UnknownProducer(Exception):
    """A batch of a producer whose earlier batches the log does not have."""


@frozen
class LogHooks:
    """A LogManager's callbacks when one of its logs changes; None: no callback.

    Attributes:
        appended: a batch was appended (``flushing.LogFlusher``).
        watch: called with the time from which on the oldest segment may be deleted (``retention.Retention``).
        rolled: called with the active segment when it ends, and with the batch that is appended next.
        dirty: called when a log that is compacted may have more to compact (``cleaner.log_cleaner``).
    """

    appended: Callable[["Log"], object] | None = None
    watch: Callable[["Log", int], object] | None = None
    rolled: Callable[["Log", Segment, Batch], object] | None = None
    dirty: Callable[["Log"], object] | None = None


NO_HOOKS = LogHooks()


class Log:
    """The log of one partition. Its content is the content of its file: a new incarnation finds it there.

    Attributes:
        start_offset: the first offset that can be read. It can be in the middle of a segment if the leader's log begins
            there.
        end_offset: the offset of the next batch.
        epochs: the start of each leader epoch. Kafka also keeps them in a file (leader-epoch-checkpoint); for a loaded
            log that file says what the batches say.
        producers: the newest batches of each idempotent producer.
        verifications: by producer id, the transactions that the leader asks about, or has asked about, and of which the
            log has nothing yet. They are in memory alone.
    """

    __slots__ = (
        "_closed", "_file", "_found", "_hooks", "_rolls_at_us", "_room", "directory", "end_offset", "epochs",
        "producers", "start_offset", "tp", "verifications",
    )  # fmt: skip

    def __init__(
        self, directory: LogDirectory, tp: TopicPartition, path: str | None = None, hooks: LogHooks = NO_HOOKS
    ) -> None:
        self.tp = tp
        self.directory = directory
        self._hooks = hooks
        self._file: File = directory.disk.open(path or log_path(tp))
        self._closed: dict[int, Segment] | None = None
        """The closed segments that were asked for, by base offset."""
        self._found: tuple[int, int, ProducerStateManager] | None = None
        """The producers that ``producers_found`` has found, with the log start and the number of batches then."""
        self._room = 0
        self._rolls_at_us = 0
        self.start_offset = 0
        self.end_offset = 0
        self.epochs = NO_EPOCHS
        self.producers = NO_PRODUCERS
        self.verifications: dict[int, VerificationStateEntry] = {}
        self._load()

    def _load(self) -> None:
        batches = self._file.entries
        self.start_offset = max(self.bases[0], self.directory.log_starts.get(self.tp))
        self.end_offset = batches[-1].next_offset if batches else self.bases[0]
        if self.end_offset < self.start_offset:  # the start is beyond the end: the log is empty (2.3)
            self.truncate_fully_and_start_at(self.start_offset)
            return
        if not batches:  # as in every new log: it has no epoch and no producer
            return
        for piece in all_pieces(batches):
            if piece.leader_epoch >= self.directory.first_epoch:
                self.begin_epoch(piece.leader_epoch, piece.base_offset)
        self.epochs = self.epochs.truncated_before(self.start_offset)
        self.producers = self.loaded_producers()
        self.measure_active_segment()
        self.watch_retention()

    def begin_epoch(self, epoch: int, start_offset: int) -> None:
        self.epochs = self.epochs.assigned(epoch, start_offset)

    @property
    def batches(self) -> Sequence[Batch]:
        """All batches, oldest first: a list, or ``BatchRuns`` where there are extents among them. Do not change it."""
        entries: Sequence[Batch] = self._file.entries
        return entries

    @property
    def size(self) -> int:
        """The size of all batches in bytes."""
        return sum([piece.size for piece in all_pieces(self._file.entries)])

    def append(self, batch: Batch) -> None:
        """Append ``batch``, which begins at the end of the log.

        Raises:
            OffsetMismatch: it does not.
            UnknownProducer: its sequence numbers do not begin at 0, as they have to where the log has none before them
                (a policy).
            DiskError: the disk refuses.
        """
        if batch.base_offset != self.end_offset:
            mismatch = UnexpectedAppendOffset if batch.base_offset < self.end_offset else OffsetMismatch
            raise mismatch(f"{self.tp}: batch at {batch.base_offset}, log ends at {self.end_offset}")
        if batch.sequenced and self.directory.rules.checks_sequences:
            self._check_sequence(batch)  # type: ignore[arg-type]
        room = self._room - batch.size
        rolls = room < 0 or batch.timestamp_us > self._rolls_at_us
        if rolls:
            self._roll(batch)
        file = self._file
        if batch.in_extent:
            self._share(batch.extent.whole.between(batch.index, batch.index + 1))  # type: ignore[attr-defined]
        elif file.fault is None and file.entries:
            file.entries.append(batch)  # as ``File.append`` does it, without the call
        else:
            file.append(batch)
        self._room = room
        self.end_offset = batch.next_offset
        if rolls:
            self.measure_active_segment()
            self.watch_retention()
        if batch.sequenced:
            self._add_producer(batch)  # type: ignore[arg-type]  # a class attribute is faster
        epochs = self.epochs.entries
        if not epochs or epochs[-1][0] != batch.leader_epoch:
            self.begin_epoch(batch.leader_epoch, batch.base_offset)
        if self._hooks.appended is not None:
            self._hooks.appended(self)
        if self.directory.disk.pace is not None:
            self.directory.wrote(batch.size)

    def append_part(self, part: ExtentPart) -> None:
        """Append batches of an extent, as ``append`` does one by one, in a time that does not depend on their number
        (but on that of the segments that they fill). The disk takes the time of one write, and a flush by the number of
        records comes after the last one.

        Raises: as ``append``. The batches before a disk error are in the log then.
        """
        if self._file.fault is not None:  # it may refuse any of them
            for batch in part.batches():
                self.append(batch)
            return
        while part.begin < part.end:
            most = min(part.count, self._room // part.extent.batch_size, part.until(self._rolls_at_us))
            if most < 2 or part.base_offset != self.end_offset:
                self.append(part.batch(0))
                most = 1
            else:
                self._append_within(part.between(0, most))
            part = part.between(most, part.count)

    def _append_within(self, part: ExtentPart) -> None:
        """Append ``part``, for which the active segment has room."""
        first = part.batch(0)
        if first.sequenced and self.directory.rules.checks_sequences:
            self._check_sequence(first)  # type: ignore[arg-type]
        self._share(part)
        self._room -= part.size
        self.end_offset = part.next_offset
        if first.sequenced:
            for batch in remembered(part):
                self._add_producer(batch)
        if self.epochs.latest != part.leader_epoch:
            self.begin_epoch(part.leader_epoch, part.base_offset)
        if self._hooks.appended is not None:
            self._hooks.appended(self)
        self.directory.wrote(part.size)

    def _share(self, part: ExtentPart) -> None:
        """Put ``part`` at the end of the file. Raises: DiskError."""
        file = self._file
        file.check("append")
        entries: Any = file.entries
        if not isinstance(entries, BatchRuns):
            entries = file.entries = cast(Any, BatchRuns(entries))
        entries.append_part(part)

    def _add_producer(self, batch: SequencedBatch) -> None:
        if batch.transactional:
            self.producers = self.producers.with_transactions()
            self.verifications.pop(batch.producer_id, None)
        elif self.producers is NO_PRODUCERS:
            self.producers = ProducerStateManager()
        self.producers.add(batch)

    def _check_sequence(self, batch: SequencedBatch) -> None:
        if batch.base_sequence > 0 and not self.producers.knows(batch.producer_id):
            raise UnknownProducer(f"{self.tp}: producer {batch.producer_id} begins with {batch.base_sequence}")

    def maybe_start_verification(self, producer_id: int, sequence: int, epoch: int) -> VerificationStateEntry | None:
        """The verification of the transaction that a producer writes to, which its batch with this sequence number and
        epoch begins, or goes on with; None: the log has the transaction open (maybeStartTransactionVerification)."""
        if self.producers.is_ongoing(producer_id):
            return None
        found = self.verifications.get(producer_id)
        if found is None:
            found = self.verifications[producer_id] = VerificationStateEntry(sequence, epoch)
        found.maybe_update(sequence, epoch)
        return found

    def is_verified(self, producer_id: int, guard: VerificationStateEntry | None) -> bool:
        """Whether a producer may write to its transaction: it is open here, or ``guard`` was verified, and it has
        neither begun nor ended since (UnifiedLog.analyzeAndValidateProducerState, 3.6.2 and 3.9.0)."""
        begun = guard is not None and guard is self.verifications.get(producer_id)
        return begun or self.producers.is_ongoing(producer_id)

    def last_stable_offset(self, high_watermark: int) -> int:
        """The offset up to which readers of committed records may read, if this is the replica's high watermark."""
        return self.producers.last_stable_offset(high_watermark, self.start_offset)

    def aborted_between(self, offset: int, end: int) -> tuple[AbortedTransaction, ...]:
        """The aborted transactions that a reader of committed records from ``offset`` to ``end`` gets."""
        return self.producers.aborted_between(offset, end, empty=not self.directory.rules.skips_empty_transactions)

    def read(self, offset: int, max_bytes: int) -> tuple[Batch, ...]:
        """The batches from ``offset`` on: at most ``max_bytes``, but at least one batch if there is one. Those
        of which compaction has left nothing have no size.

        Raises:
            DiskError: the disk refuses.
        """
        if self._file.fault is not None:
            self._file.check("read")
        batches: Sequence[Batch] = self._file.entries
        if offset >= self.end_offset:
            return ()
        last = batches[-1]
        if last.base_offset == offset:
            return (last,)
        if type(batches) is BatchRuns:
            return batches.read(offset, max_bytes)
        first = ended(batches, offset)
        size = 0
        for index in range(first, len(batches)):
            size += batches[index].size
            if size > max_bytes and size > batches[index].size:
                return tuple(batches[first:index])
        return tuple(batches[first:])

    def pieces(self, offset: int, end: int) -> tuple[Piece, ...]:
        """The batches from the one that holds ``offset`` on, and of these the ones that end at ``end`` or before it;
        those of an extent as a part of it.

        Raises:
            DiskError: the disk refuses.
        """
        self._file.check("read")
        batches = self._file.entries
        return tuple(pieces(batches, ended(batches, offset), ended(batches, end)))

    def truncate_to(self, offset: int) -> bool:
        """Remove the batches at or after ``offset``; one that contains ``offset`` is removed whole.

        Returns whether any batch was removed.

        Raises:
            DiskError: the disk refuses.
        """
        if offset >= self.end_offset:
            self._file.truncate(len(self._file.entries))
            if self.directory.rules.cleans_epochs_at_end:
                self.epochs = self.epochs.truncated_from(self.end_offset)
            return False
        if offset < self.bases[0]:
            self.truncate_fully_and_start_at(offset)
            return True
        batches = self._file.entries
        keep = ended(batches, offset)
        self._file.truncate(keep)
        self.end_offset = batches[-1].next_offset if batches else self.bases[0]
        self._begin_segments(tuple(base for base in self.bases if base < self.end_offset) or self.bases[:1])
        if self.start_offset > self.end_offset:
            self.start_offset = self.end_offset
            self._checkpoint_start()
        self.epochs = self.epochs.truncated_from(self.end_offset)
        self.directory.compaction_goes_back(self.tp, self.end_offset)
        self._reload_producers()
        self.measure_active_segment()
        self._recovery_point_changed()
        return True

    def _reload_producers(self) -> None:
        if self.producers is not NO_PRODUCERS:
            self.producers = self.loaded_producers()

    def loaded_producers(self) -> ProducerStateManager:
        """The producers that it would remember if it were loaded now. Up to 2.3 those of batches before the log start
        are forgotten (Log.rebuildProducerState reads from there, and isProducerRetained drops those of a snapshot)."""
        batches: Sequence[Batch] = self._file.entries
        first = 0 if self.directory.rules.keeps_producers else ended(batches, self.start_offset)
        return ProducerStateManager.of(pieces(batches, first, len(batches)), self._snapshot())

    def producers_found(self) -> ProducerStateManager:
        """As ``loaded_producers``, and not to be changed: it looks only at batches that are new since the last call."""
        batches: Sequence[Batch] = self._file.entries
        found = self._found
        if found is None or found[0] != self.start_offset:
            producers = self.loaded_producers()
        else:
            producers = ProducerStateManager.of(pieces(batches, found[1], len(batches)), found[2])
        self._found = self.start_offset, len(batches), producers
        return producers

    def loaded_start(self) -> int:
        """The start offset that it would have if it were loaded now."""
        return max(self.bases[0], self.directory.log_starts.get(self.tp))

    def loaded_epochs(self) -> LeaderEpochFileCache:
        """The leader epochs of its batches, each with its first offset. It bisects: the epochs of a log never go
        back."""
        batches: Sequence[Batch] = self._file.entries
        found: list[tuple[int, int]] = []
        place = 0
        while place < len(batches):
            epoch = batches[place].leader_epoch
            if epoch >= self.directory.first_epoch:
                found.append((epoch, batches[place].base_offset))
            place = bisect_right(batches, epoch, place, key=_leader_epoch)
        return LeaderEpochFileCache(tuple(found)).truncated_before(self.start_offset)

    def _snapshot(self) -> ProducerStateManager:
        """The producers of the batches that retention has deleted, as far as the release remembers them. Kafka
        snapshots every producer at each segment start; only producers whose batches were deleted can be missed, so only
        they are kept."""
        found = self.directory.producers_before.get(self.tp)
        return NO_PRODUCERS if found is None else found.copy()

    def _producers_deleted(self, count: int) -> None:
        """Take note that retention deletes the first ``count`` batches of the log."""
        if self.directory.rules.keeps_producers and self.producers is not NO_PRODUCERS:
            deleted = pieces(self._file.entries, 0, count)
            self.directory.producers_before.put(self.tp, ProducerStateManager.of(deleted, self._snapshot()))

    def truncate_fully_and_start_at(self, offset: int) -> None:
        """Remove all batches; the next one begins at ``offset``. Raises: DiskError."""
        self._file.truncate(0)
        self._begin_segments((offset,))
        self.start_offset = self.end_offset = offset
        self.directory.log_starts.forget(self.tp)
        self.directory.producers_before.forget(self.tp)
        self.directory.compaction_goes_back(self.tp, offset)
        self._recovery_point_changed()
        self._room = self._rolls_at_us = 0
        self.epochs = NO_EPOCHS
        self.producers = NO_PRODUCERS

    # -- durability -------------------------------------------------------------------------------------------------

    @property
    def recovery_point(self) -> int:
        """The recovery point: everything before it is durable."""
        flushed = self._file.flushed
        return self._file.entries[flushed - 1].next_offset if flushed else self.bases[0]

    def flush(self) -> None:
        """Make everything durable. Raises: DiskError."""
        if self._file.flushed < len(self._file.entries):
            self._file.flush()
        elif self.directory.recovery_points.get(self.tp) >= self.recovery_point:
            return
        self._recovery_point_changed()  # also where the operating system has written all of it back

    def _recovery_point_changed(self) -> None:
        self.directory.recovery_points.put(self.tp, self.recovery_point)

    def write_back(self) -> None:
        """Write the log to the disk, as the operating system does without the broker's knowledge."""
        self._file.write_back()

    def fail_disk(self, fault: DiskFault | None) -> None:
        """Inject a fault: the disk refuses this log's operations (None: the fault ends)."""
        self._file.fault = fault

    def corrupt(self, place: int) -> Batch:
        """Inject a fault: the checksum of the batch at ``place`` (as in ``batches``) is wrong from now on."""
        damaged = corrupted(self.batches[place])
        self._file.damage(place, damaged)
        return damaged

    # -- segments ---------------------------------------------------------------------------------------------------

    @property
    def bases(self) -> tuple[int, ...]:
        """The base offsets of its segments, oldest first."""
        return self._file.label or FROM_THE_START

    @property
    def segments(self) -> list[Segment]:
        return list(map(self._segment, range(len(self.bases))))

    def _segment(self, place: int) -> Segment:
        """The segment whose base offset is at ``place``; the last one is the active segment. A log may have many."""
        bases = self.bases
        base = bases[place]
        if base == bases[-1]:
            return between(base, self.end_offset, self._file.entries)
        closed = self._closed
        if closed is None:
            closed = self._closed = {}
        if base not in closed:
            closed[base] = between(base, bases[place + 1], self._file.entries)
        return closed[base]

    def newest_segment(self) -> Segment:
        """The active segment."""
        return self._segment(-1)

    def _begin_segments(self, bases: tuple[int, ...]) -> None:
        """Have these segments, of batches that are not those of before."""
        self._closed = self._found = None
        if bases != self.bases:
            self._file.label = bases

    def _roll(self, batch: Batch) -> None:
        """Roll the active segment, if it is not empty, before ``batch``, which the disk may still refuse. Raises:
        DiskError."""
        if self.end_offset > self.bases[-1]:
            self.flush()
            if self._hooks.rolled is not None:
                self._hooks.rolled(self, self._segment(-1), batch)
            self._file.label = (*self.bases, self.end_offset)
        self._room = self._rolls_at_us = 0

    def measure_active_segment(self) -> None:
        """Compute how many bytes the active segment can still take, and when it rolls: called when the log was loaded
        or cut, or its settings have changed (Log.maybeRoll reads the settings at each append)."""
        last, config = self._segment(-1), self.directory.config_of(self.tp.topic)
        self._room = self._rolls_at_us = 0
        if last.begin < last.end:
            self._room = config.segment_bytes - last.size
            self._rolls_at_us = self.batches[last.begin].timestamp_us + config.segment_us

    def delete_old_segments(self, now_us: int, high_watermark: int) -> str:
        """Delete the segments that are old or too many. Returns the reason, or "" if none was deleted.

        Raises:
            DiskError: the disk refuses.
        """
        old = self.segments
        config = self.directory.config_of(self.tp.topic)
        count, reason = deletable(old, config, now_us, high_watermark, self.start_offset, self.directory.rules)
        if count:
            self._producers_deleted(old[count - 1].end)
            self._file.drop(old[count - 1].end)
            self._begin_segments(self.bases[count:] or (self.end_offset,))
            self.raise_start_to(max(self.start_offset, self.bases[0]))
            self.measure_active_segment()
        return reason

    def compacted(self, batches: Sequence[Batch], bases: tuple[int, ...], ended: Collection[int]) -> None:
        """Put ``batches`` in the place of the first ones, each of which it holds compacted, or whole.

        Args:
            bases: the base offsets of the segments, which may have become fewer.
            ended: the offsets of the markers of the aborted transactions that have no record any more.

        Raises: DiskError.
        """
        self._file.rewrite(batches)
        self._begin_segments(bases)
        self.producers.compacted(ended)
        self.watch_retention()

    def raise_start_to(self, offset: int) -> None:
        """Set the log start offset: nothing before ``offset`` is read any more."""
        self.start_offset = offset
        self.epochs = self.epochs.truncated_before(offset)
        if self.producers is not NO_PRODUCERS and not self.directory.rules.keeps_producers:
            self.producers = self.producers.retained(offset)
        self._checkpoint_start()

    def _checkpoint_start(self) -> None:
        """Have the start in its checkpoint, or not, if it is that of the first segment."""
        if self.start_offset > self.bases[0]:
            self.directory.log_starts.put(self.tp, self.start_offset)
        else:
            self.directory.log_starts.forget(self.tp)

    def watch_retention(self) -> None:
        """Compute again when retention may delete, and whether there is more to compact: the log has a new segment, a
        new start or new settings."""
        if self._hooks.dirty is not None and len(self.bases) > 1:
            self._hooks.dirty(self)
        if self._hooks.watch is not None:
            due_us = self.expires_us()
            if due_us is not None:
                self._hooks.watch(self, due_us)

    def expires_us(self) -> int | None:
        """The earliest time at which retention may delete the oldest segment, for its age or for the size of the log.
        None: retention deletes nothing before the active segment rolls."""
        config = self.directory.config_of(self.tp.topic)
        first, due = self._segment(0), []
        if first.begin == first.end:
            return None
        if config.deletes and config.retention_us >= 0:
            due.append(first.newest_us + config.retention_us + 1)
        cuts = config.deletes or self.directory.rules.cuts_compacted
        is_before_start = cuts and len(self.bases) > 1 and first.next_offset <= self.start_offset
        if self._can_be_too_large(first, config) or is_before_start:
            due.append(0)
        return min(due, default=None)

    def _can_be_too_large(self, first: Segment, config: LogConfig) -> bool:
        """Whether the log loses its oldest segment for its size, now or when the active segment has grown."""
        most = config.retention_bytes
        return config.deletes and most >= 0 and self.size + max(self._room, 0) - most >= first.size
