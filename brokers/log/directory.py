"""A log directory: the logs and the checkpoints on one disk."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from sys import intern
from typing import Protocol

from attrs import define, field

from brokers.log.checkpoints import CLEANED, HIGH_WATERMARKS, LOG_STARTS, RECOVERY_POINTS, OffsetCheckpointFile
from brokers.log.disk_work import DiskWork
from brokers.log.log_config import DEFAULTS, RULES, LogConfig, LogRules
from brokers.log.producer_state_manager import SNAPSHOTS, ProducerSnapshots
from emulator.disks import Disk, DiskError
from emulator.protocol.types import Batch, TopicPartition

PARTITION_METADATA = "partition.metadata/"
LOGS, FUTURES, DELETED = "logs/", "futures/", "deleted/"
"""The paths of logs, of logs that will replace one of another directory, and of logs that wait for their deletion."""


class Checkpointed(Protocol):
    """A replica, as far as its checkpoint is concerned."""

    high_watermark: int

    @property
    def tp(self) -> TopicPartition: ...


def log_path(tp: TopicPartition) -> str:
    return intern(f"{LOGS}{tp}")  # one string for the disks of all replicas


def future_path(tp: TopicPartition) -> str:
    return f"{FUTURES}{tp}"


@define(eq=False)
class LogDirectory:
    """One directory of a broker.

    Attributes:
        config_of: returns a topic's settings.
        failed: why it is offline, or will be once the failure is handled; empty: no operation has failed.
        work: the time that the broker's disks still need.
        rules: the rules of the release.
        first_epoch: leader epochs before it are not found in logs that are loaded (KAFKA-10432).
        logs: the number of logs in it, future ones included.
        recovery_points, log_starts: the checkpoints of the replicas that have their log here, see ``checkpoints``.
        producers_before: the producers that these logs knew at their start.
        metadata: the ids of the topics that these logs belong to.
        moved: the replicas whose high watermark has moved since ``high_watermarks`` was last read. A high watermark
            that moves with each batch is written to the checkpoint once, when that is read.
    """

    disk: Disk
    config_of: Callable[[str], LogConfig] = lambda _: DEFAULTS
    online: bool = True
    failed: str = ""
    work: DiskWork | None = None
    first_epoch: int = 0
    rules: LogRules = RULES
    logs: int = field(init=False)
    moved: dict[Checkpointed, None] = field(factory=dict)
    _high_watermarks: OffsetCheckpointFile = field(init=False)
    recovery_points: OffsetCheckpointFile = field(init=False)
    log_starts: OffsetCheckpointFile = field(init=False)
    producers_before: ProducerSnapshots = field(init=False)
    metadata: "PartitionMetadataFiles" = field(init=False)
    _cleaned: OffsetCheckpointFile | None = None
    _discarded: int = 0

    def __attrs_post_init__(self) -> None:
        self.logs = sum(path.startswith((LOGS, FUTURES)) for path in self.disk.files)
        self._high_watermarks = OffsetCheckpointFile(self.disk, HIGH_WATERMARKS)
        self.recovery_points = OffsetCheckpointFile(self.disk, RECOVERY_POINTS)
        self.log_starts = OffsetCheckpointFile(self.disk, LOG_STARTS)
        self.producers_before = ProducerSnapshots(self.disk)
        self.metadata = PartitionMetadataFiles(self.disk)

    @property
    def name(self) -> str:
        return self.disk.name

    @property
    def high_watermarks(self) -> OffsetCheckpointFile:
        """The checkpoint of the high watermarks of the replicas that have their log here."""
        checkpoint = self._high_watermarks
        for replica in self.moved:
            checkpoint.put(replica.tp, replica.high_watermark)
        self.moved.clear()
        return checkpoint

    @property
    def cleaned(self) -> OffsetCheckpointFile:
        """The checkpoint of the offsets up to which logs here were compacted: there is a file once one was looked
        at."""
        if self._cleaned is None:
            self._cleaned = OffsetCheckpointFile(self.disk, CLEANED)
        return self._cleaned

    def compaction_goes_back(self, tp: TopicPartition, offset: int) -> None:
        """Take note that a log was cut at ``offset``: what comes there was not compacted
        (LogCleanerManager.maybeTruncateCheckpoint)."""
        if self.disk.exists(CLEANED) and self.cleaned.get(tp) > offset:
            self.cleaned.put(tp, offset)
            with suppress(DiskError):  # the directory goes offline
                self.cleaned.write()

    def take_compaction_to(self, other: "LogDirectory", tp: TopicPartition) -> None:
        """Give another directory, to which a log moves, what is known of its compaction (alterCheckpointDir). Raises:
        DiskError."""
        if self.disk.exists(CLEANED):
            other.cleaned.put(tp, self.cleaned.get(tp))
            other.cleaned.write()

    def checkpointed(self, replica: Checkpointed) -> int:
        """The high watermark that the checkpoint has, or will have once it is written, of a replica here."""
        return replica.high_watermark if replica in self.moved else self._high_watermarks.get(replica.tp)

    def awaits_checkpoint(self, replica: Checkpointed) -> bool:
        """Whether the checkpoint of high watermarks has to be written for ``replica``."""
        return replica in self.moved or self._high_watermarks.is_changed(replica.tp)

    def awaits_cleaned(self, tp: TopicPartition) -> bool:
        """Whether the checkpoint of compaction has to be written for a log here."""
        return self._cleaned is not None and self._cleaned.is_changed(tp)

    def wrote(self, size: int) -> None:
        """Count ``size`` appended bytes, for which a disk with a pace takes its time."""
        if self.disk.pace is not None and self.work is not None:
            self.work.wrote(self.disk.pace, size)

    def was_read(self, batches: Sequence[Batch]) -> None:
        """Count ``batches`` that were read, in the same way."""
        if self.disk.pace is not None and self.work is not None and batches:
            self.work.read(self.disk.pace, sum(batch.size for batch in batches))

    def forget(self, tp: TopicPartition) -> None:
        """Drop the checkpoints of a log that was removed."""
        for checkpoint in (self.high_watermarks, self.recovery_points, self.log_starts):
            checkpoint.forget(tp)
        self.producers_before.forget(tp)
        self.metadata.forget(tp)
        if self.disk.exists(CLEANED):
            self.cleaned.forget(tp)

    def discard(self, path: str) -> str:
        """Rename a log that is no longer wanted. Returns its new path, under which it is deleted later. Raises:
        DiskError."""
        while self.disk.exists(doomed := f"{DELETED}{path.partition('/')[2]}.{self._discarded + 1}"):
            self._discarded += 1
        self._discarded += 1  # no name is used twice (Log.logDeleteDirName)
        self.disk.rename(path, doomed)
        self.logs -= 1
        return doomed

    def has_log(self, tp: TopicPartition) -> bool:
        """Whether a log of the replica is here, or one that will replace one of another directory."""
        return log_path(tp) in self.disk.files or future_path(tp) in self.disk.files

    def forget_without_logs(self) -> None:
        """Drop the checkpoints of replicas that have no log here: their logs were deleted, and the process ended before
        the next write. Kafka writes whole files, of the logs that there are."""
        for checkpoint in (self.high_watermarks, self.recovery_points, self.log_starts):
            for tp in checkpoint.partitions:
                if not self.has_log(tp):
                    checkpoint.forget(tp)
        if self.disk.exists(CLEANED):
            for tp in self.cleaned.partitions:
                if not self.has_log(tp):
                    self.cleaned.forget(tp)

    def named(self) -> Iterator[tuple[str, Iterable[TopicPartition]]]:
        """The replicas that each kind of file beside the logs is about, or will be once it is written, without recovery
        points: a log that is deleted may still be flushed."""
        yield HIGH_WATERMARKS, self.high_watermarks.partitions
        yield LOG_STARTS, self.log_starts.partitions
        for parent in (SNAPSHOTS, PARTITION_METADATA):
            yield (
                parent.rstrip("/"),
                map(TopicPartition.parse, (path[len(parent) :] for path in self.disk.list(parent))),
            )

    def logs_held(self) -> list[str]:
        """The paths of the logs of replicas."""
        return self.disk.list(LOGS)

    def futures(self) -> list[str]:
        """The paths of the logs that will replace others."""
        return self.disk.list(FUTURES)

    def discarded(self) -> list[str]:
        """The paths of the logs that an earlier incarnation has not deleted yet."""
        return self.disk.list(DELETED)


class PartitionMetadataFiles:
    """The files partition.metadata in one directory (KIP-516, 2.8): each log has the id of the topic that it belongs
    to. A log that waits for the replica's next LeaderAndIsr has none. Kafka writes the file a moment later."""

    def __init__(self, disk: Disk) -> None:
        self._disk = disk

    def topic_id(self, tp: TopicPartition) -> str:
        """The id that the log of ``tp`` has; "" for none."""
        path = f"{PARTITION_METADATA}{tp}"
        written = self._disk.open(path).entries if self._disk.exists(path) else ()
        return str(written[0]) if written else ""

    def is_of(self, tp: TopicPartition, topic_id: str) -> bool:
        """Whether the log of ``tp`` is of that topic, or may be: it has no id, or the topic is "", which
        a request names that knows of no ids."""
        return not topic_id or self.topic_id(tp) in ("", topic_id)

    def identify(self, tp: TopicPartition, topic_id: str) -> bool:
        """Give the log of ``tp`` an id, if it has none. Returns whether it got it now."""
        if not topic_id or self.topic_id(tp):
            return False
        with suppress(DiskError):  # its directory goes offline
            self._disk.open(f"{PARTITION_METADATA}{tp}").replace(topic_id)
        return True

    def forget(self, tp: TopicPartition) -> None:
        """Delete the file of a log that was removed."""
        self._disk.delete(f"{PARTITION_METADATA}{tp}")


def emptiest_first(directories: Sequence[LogDirectory]) -> list[LogDirectory]:
    """The directories in the order in which a new log may go there: those with the fewest logs first, equals as they
    are listed (LogManager.nextLogDirs, 2.4)."""
    return sorted(directories, key=lambda directory: directory.logs)
