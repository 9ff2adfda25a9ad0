"""A log directory: the logs and the checkpoints that lie on one disk."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from attrs import define, field

from brokers.log.checkpoints import HIGH_WATERMARKS, LOG_STARTS, RECOVERY_POINTS, OffsetCheckpoint
from brokers.log.config import DEFAULTS, LogConfig
from emulator.disks import Disk
from emulator.protocol.types import Batch, TopicPartition

if TYPE_CHECKING:
    from brokers.log.log import Log
    from brokers.log.retention import Retention
    from brokers.log.upkeep import Upkeep
    from brokers.log.work import DiskWork

LOGS, FUTURES, DELETED = "logs/", "futures/", "deleted/"
"""Where a disk has the logs, those that are to replace a log of another directory, and those that go soon."""


def log_path(tp: TopicPartition) -> str:
    return f"{LOGS}{tp}"


def future_path(tp: TopicPartition) -> str:
    return f"{FUTURES}{tp}"


@define(eq=False)
class LogDirectory:
    """One directory of a broker.

    Attributes:
        logs: how many logs it holds, future ones included.
        config_of: a topic's settings.
        retention: looks for what may go; None where nobody does.
        work: what the broker's disks have yet to do.
        upkeep: flushes by number and age; None where nothing of it is set.
        high_watermarks, recovery_points, log_starts: of the replicas that have their log here, see ``checkpoints``.
    """

    disk: Disk
    config_of: Callable[[str], LogConfig] = lambda _: DEFAULTS
    retention: "Retention | None" = None
    upkeep: "Upkeep | None" = None
    online: bool = True
    work: "DiskWork | None" = None
    logs: int = field(init=False)
    high_watermarks: OffsetCheckpoint = field(init=False)
    recovery_points: OffsetCheckpoint = field(init=False)
    log_starts: OffsetCheckpoint = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.logs = sum(path.startswith((LOGS, FUTURES)) for path in self.disk.files)
        self.high_watermarks = OffsetCheckpoint(self.disk, HIGH_WATERMARKS)
        self.recovery_points = OffsetCheckpoint(self.disk, RECOVERY_POINTS)
        self.log_starts = OffsetCheckpoint(self.disk, LOG_STARTS)

    @property
    def name(self) -> str:
        return self.disk.name

    def wrote(self, size: int) -> None:
        """So many bytes were appended, which takes a disk with a pace its time."""
        if self.disk.pace is not None and self.work is not None:
            self.work.wrote(self.disk.pace, size)

    def was_read(self, batches: Sequence[Batch]) -> None:
        """These were read."""
        if self.disk.pace is not None and self.work is not None and batches:
            self.work.read(self.disk.pace, sum(batch.size for batch in batches))

    def flushed(self, log: "Log") -> None:
        """The log's recovery point has moved."""
        self.recovery_points.put(log.tp, log.recovery_point)

    def grown(self, log: "Log") -> None:
        """The log has a new segment, or is not empty any more: some of it may be deleted some day."""
        if self.retention is not None:
            due_us = log.expires_us()
            if due_us is not None:
                self.retention.watch(log, due_us)

    def forget(self, tp: TopicPartition) -> None:
        """The log is no longer here."""
        for checkpoint in (self.high_watermarks, self.recovery_points, self.log_starts):
            checkpoint.forget(tp)

    def discard(self, path: str) -> str:
        """Rename a log that is no longer wanted; its new path, under which it is to be deleted."""
        doomed, number = path.partition("/")[2], 1
        while self.disk.exists(f"{DELETED}{doomed}.{number}"):
            number += 1
        self.disk.rename(path, f"{DELETED}{doomed}.{number}")
        self.logs -= 1
        return f"{DELETED}{doomed}.{number}"

    def futures(self) -> list[str]:
        """The paths of the logs that are to replace others."""
        return self.disk.list(FUTURES)

    def discarded(self) -> list[str]:
        """The paths that an earlier incarnation was to delete."""
        return self.disk.list(DELETED)


def emptiest(directories: Sequence[LogDirectory]) -> LogDirectory:
    """Where a new log goes: where the fewest are; among equals the one listed first (LogManager.nextLogDir, 2.3)."""
    return min(directories, key=lambda directory: directory.logs)
