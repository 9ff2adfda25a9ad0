"""One replica's log on its broker's disk. The unit is the batch; replicas share the batch objects."""

from bisect import bisect_right

from brokers.log.directory import LogDirectory, log_path
from brokers.log.epoch_cache import NO_EPOCHS
from brokers.log.producer_states import NO_PRODUCERS, ProducerStates
from brokers.log.segments import Segment, deletable, segments
from emulator.disks import Fault, File
from emulator.protocol.types import Batch, CorruptBatch, SequencedBatch, TopicPartition

FROM_THE_START = (0,)
"""Where the segments of most logs begin."""


class OffsetMismatch(Exception):
    """A follower was given a batch that does not begin at its log end offset."""


def _next_offset(batch: Batch) -> int:
    return batch.next_offset


class Log:
    """The log of one partition. What it holds is what the disk holds: a new incarnation finds it there.

    Attributes:
        start_offset: nothing before it is read. In the middle of a segment where the leader's log begins there.
        epochs: Kafka keeps them in a file, too (leader-epoch-checkpoint); what that says of a log that is loaded is
            what its batches say.
    """

    __slots__ = (
        "_file", "_rolls_at_us", "_room", "directory", "end_offset", "epochs", "producers", "start_offset", "tp",
    )  # fmt: skip

    def __init__(self, directory: LogDirectory, tp: TopicPartition, path: str | None = None) -> None:
        self.tp = tp
        self.directory = directory
        self._file: File = directory.disk.open(path or log_path(tp))
        self._room = 0
        self._rolls_at_us = 0
        self.start_offset = 0
        self.end_offset = 0
        self.epochs = NO_EPOCHS
        self.producers = NO_PRODUCERS
        self._load()

    def _load(self) -> None:
        batches = self._file.entries
        self.start_offset = max(self.bases[0], self.directory.log_starts.get(self.tp))
        self.end_offset = batches[-1].next_offset if batches else self.bases[0]
        if self.end_offset < self.start_offset:  # what it began with was lost: nothing of it is left (2.3)
            self.truncate_fully_and_start_at(self.start_offset)
            return
        for batch in batches:
            self.begin_epoch(batch.leader_epoch, batch.base_offset)
        self.epochs = self.epochs.truncated_before(self.start_offset)
        self.producers = ProducerStates.of(batches)
        if batches:
            self._measure()
            self.directory.grown(self)

    def begin_epoch(self, epoch: int, start_offset: int) -> None:
        """The leader epoch ``epoch`` begins at ``start_offset``."""
        self.epochs = self.epochs.assigned(epoch, start_offset)

    @property
    def batches(self) -> list[Batch]:
        """All batches, oldest first. Not to be changed."""
        return self._file.entries

    def append(self, batch: Batch) -> None:
        """Append ``batch``, which begins at the end of the log.

        Raises:
            OffsetMismatch: it does not.
            DiskError: the disk refuses.
        """
        if batch.base_offset != self.end_offset:
            raise OffsetMismatch(f"{self.tp}: batch at {batch.base_offset}, log ends at {self.end_offset}")
        room = self._room - batch.size
        rolls = room < 0 or batch.timestamp_us >= self._rolls_at_us
        if rolls:
            room = self._roll(batch)
        self._file.append(batch)
        self._room = room
        self.end_offset = batch.next_offset
        if rolls:
            self.directory.grown(self)
        if batch.__class__ is SequencedBatch:
            if self.producers is NO_PRODUCERS:
                self.producers = ProducerStates()
            self.producers.add(batch)
        epochs = self.epochs.entries
        if not epochs or epochs[-1][0] < batch.leader_epoch:
            self.begin_epoch(batch.leader_epoch, batch.base_offset)
        directory = self.directory
        if directory.upkeep is not None:
            directory.upkeep.appended(self)
        if directory.disk.pace is not None:
            directory.wrote(batch.size)

    def read(self, offset: int, max_bytes: int) -> tuple[Batch, ...]:
        """The batches from ``offset`` on, at least one where there is one, ``max_bytes`` in all otherwise.

        Raises:
            DiskError: the disk refuses.
        """
        if self._file.fault is not None:
            self._file.check("read")
        batches = self._file.entries
        if offset >= self.end_offset:
            return ()
        last = batches[-1]
        if last.base_offset == offset:
            return (last,)
        first = bisect_right(batches, offset, key=_next_offset)
        size = 0
        for index in range(first, len(batches)):
            size += batches[index].size
            if size > max_bytes and index > first:
                return tuple(batches[first:index])
        return tuple(batches[first:])

    def truncate_to(self, offset: int) -> bool:
        """Drop what lies at or behind ``offset``; a batch across it goes whole. True if anything went.

        Raises:
            DiskError: the disk refuses.
        """
        if offset >= self.end_offset:
            self._file.truncate(len(self._file.entries))
            self.epochs = self.epochs.truncated_from(offset)
            return False
        if offset < self.bases[0]:
            self.truncate_fully_and_start_at(offset)
            return True
        batches = self._file.entries
        keep = bisect_right(batches, offset, key=_next_offset)
        self._file.truncate(keep)
        self.end_offset = batches[-1].next_offset if batches else self.bases[0]
        self._begin_segments(tuple(base for base in self.bases if base < self.end_offset) or self.bases[:1])
        self.start_offset = min(self.start_offset, self.end_offset)
        self.epochs = self.epochs.truncated_from(self.end_offset)
        self._reload_producers()
        self._measure()
        self.directory.flushed(self)
        return True

    def _reload_producers(self) -> None:
        if self.producers is not NO_PRODUCERS:
            self.producers = ProducerStates.of(self._file.entries)

    def truncate_fully_and_start_at(self, offset: int) -> None:
        """Drop everything; the next batch begins at ``offset``. Raises: DiskError."""
        self._file.truncate(0)
        self._begin_segments((offset,))
        self.start_offset = self.end_offset = offset
        self.directory.log_starts.forget(self.tp)
        self.directory.flushed(self)
        self._room = self._rolls_at_us = 0
        self.epochs = NO_EPOCHS
        self.producers = NO_PRODUCERS

    # -- durability -------------------------------------------------------------------------------------------------

    @property
    def recovery_point(self) -> int:
        """Everything before it is durable."""
        flushed = self._file.flushed
        return self._file.entries[flushed - 1].next_offset if flushed else self.bases[0]

    def flush(self) -> None:
        """Make everything durable. Raises: DiskError."""
        if self._file.flushed < len(self._file.entries):
            self._file.flush()
            self.directory.flushed(self)

    def write_back(self) -> None:
        """The operating system has written it to the disk; the broker does not know."""
        self._file.write_back()

    def fail_disk(self, fault: Fault | None) -> None:
        """Something is wrong with its files (None: no longer)."""
        self._file.fault = fault

    def corrupt(self, place: int) -> Batch:
        """A fault: the batch at ``place`` (as in ``batches``) does not fit its checksum any more."""
        b = self.batches[place]
        damaged = CorruptBatch(
            b.base_offset, b.next_offset, b.leader_epoch, b.size, b.id, timestamp_us=b.timestamp_us
        )
        self._file.damage(place, damaged)
        return damaged

    # -- segments ---------------------------------------------------------------------------------------------------

    @property
    def bases(self) -> tuple[int, ...]:
        """Where its segments begin."""
        return self._file.label or FROM_THE_START

    @property
    def segments(self) -> list[Segment]:
        return segments(self.bases, self._file.entries, self.end_offset)

    def _begin_segments(self, bases: tuple[int, ...]) -> None:
        if bases != self.bases:
            self._file.label = bases

    def _roll(self, batch: Batch) -> int:
        """End the active segment, if it has anything, before ``batch``; the room behind that in the one that is active
        then. Raises: DiskError."""
        config = self.directory.config_of(self.tp.topic)
        if self.end_offset > self.bases[-1]:
            self.flush()
            self._begin_segments((*self.bases, self.end_offset))
        self._rolls_at_us = batch.timestamp_us + config.roll_us
        return config.segment_bytes - batch.size

    def _measure(self) -> None:
        """The active segment is another one."""
        active, config = self.segments[-1], self.directory.config_of(self.tp.topic)
        self._room = self._rolls_at_us = 0
        if active.begin < active.end:
            self._room = config.segment_bytes - active.size
            self._rolls_at_us = self.batches[active.begin].timestamp_us + config.roll_us

    def delete_old_segments(self, now_us: int, high_watermark: int) -> str:
        """Delete what may go; why anything went, "" where nothing did. Raises: DiskError."""
        old = self.segments
        config = self.directory.config_of(self.tp.topic)
        count, reason = deletable(old, config, now_us, high_watermark, self.start_offset)
        if count:
            self._file.drop(old[count - 1].end)
            self._begin_segments(self.bases[count:] or (self.end_offset,))
            self.raise_start_to(max(self.start_offset, self.bases[0]))
            self._measure()
        return reason

    def raise_start_to(self, offset: int) -> None:
        """Nothing before ``offset`` is read any more."""
        self.start_offset = offset
        self.epochs = self.epochs.truncated_before(offset)
        if offset > self.bases[0]:
            self.directory.log_starts.put(self.tp, offset)
        else:
            self.directory.log_starts.forget(self.tp)

    def expires_us(self) -> int | None:
        """From when on the oldest segment may be too old or too much; None: not before the log grows."""
        config = self.directory.config_of(self.tp.topic)
        old, due = self.segments, []
        if old[0].begin == old[0].end:
            return None
        if config.retention_us >= 0:
            due.append(old[0].newest_us + config.retention_us + 1)
        excess = sum(segment.size for segment in old) - config.retention_bytes
        if (config.retention_bytes >= 0 and excess >= old[0].size) or (
            len(old) > 1 and old[0].next_offset <= self.start_offset
        ):
            due.append(0)
        return min(due, default=None)
