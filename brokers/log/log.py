"""One replica's log on its broker's disk. The unit is the batch; replicas share the batch objects."""

from bisect import bisect_right

from brokers.log.directory import LogDirectory, log_path
from brokers.log.epoch_cache import NO_EPOCHS
from brokers.log.producer_states import NO_PRODUCERS, ProducerStates
from emulator.disks import DiskError, File
from emulator.protocol.types import Batch, SequencedBatch, TopicPartition


class OffsetMismatch(Exception):
    """A follower was given a batch that does not begin at its log end offset."""


def _next_offset(batch: Batch) -> int:
    return batch.next_offset


class Log:
    """The log of one partition. What it holds is what the disk holds: a new incarnation finds it there."""

    __slots__ = ("_file", "directory", "end_offset", "epochs", "producers", "start_offset", "tp")

    def __init__(self, directory: LogDirectory, tp: TopicPartition, path: str | None = None) -> None:
        self.tp = tp
        self.directory = directory
        self._file: File = directory.disk.open(path or log_path(tp))
        self.start_offset = 0
        self.end_offset = 0
        self.epochs = NO_EPOCHS
        self.producers = NO_PRODUCERS
        self._recover()

    def _recover(self) -> None:
        batches = self._file.entries
        if batches:
            self.start_offset = batches[0].base_offset
            self.end_offset = batches[-1].next_offset
        for batch in batches:
            self.begin_epoch(batch.leader_epoch, batch.base_offset)
        self.producers = ProducerStates.of(batches)

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
        self._file.append(batch)
        self.end_offset = batch.next_offset
        if batch.__class__ is SequencedBatch:
            if self.producers is NO_PRODUCERS:
                self.producers = ProducerStates()
            self.producers.add(batch)
        epochs = self.epochs.entries
        if not epochs or epochs[-1][0] < batch.leader_epoch:
            self.begin_epoch(batch.leader_epoch, batch.base_offset)

    def read(self, offset: int, max_bytes: int) -> tuple[Batch, ...]:
        """The batches from ``offset`` on, at least one where there is one, ``max_bytes`` in all otherwise."""
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
        batches = self._file.entries
        keep = bisect_right(batches, offset, key=_next_offset)
        self._file.truncate(keep)
        self.end_offset = batches[-1].next_offset if batches else self.start_offset
        self.epochs = self.epochs.truncated_from(self.end_offset)
        self._reload_producers()
        return True

    def _reload_producers(self) -> None:
        if self.producers is not NO_PRODUCERS:
            self.producers = ProducerStates.of(self._file.entries)

    def truncate_fully_and_start_at(self, offset: int) -> None:
        """Drop everything; the next batch begins at ``offset``. Raises: DiskError."""
        self._file.truncate(0)
        self.start_offset = self.end_offset = offset
        self.epochs = NO_EPOCHS
        self.producers = NO_PRODUCERS

    def flush(self) -> None:
        """Make everything durable."""
        self._file.flush()

    def fail_disk(
        self, reason: str, operation: str = "", times: int | None = None, error: type[Exception] = DiskError
    ) -> None:
        """A fault: see ``File.fail``."""
        self._file.fail(reason, operation, times, error)
