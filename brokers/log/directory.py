"""A log directory: the logs and the checkpoints that lie on one disk."""

from collections.abc import Sequence

from attrs import define, field

from brokers.log.checkpoints import HIGH_WATERMARKS, OffsetCheckpoint
from emulator.disks import Disk
from emulator.protocol.types import TopicPartition

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
        high_watermarks: of the replicas that have their log here.
    """

    disk: Disk
    online: bool = True
    logs: int = field(init=False)
    high_watermarks: OffsetCheckpoint = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.logs = sum(path.startswith((LOGS, FUTURES)) for path in self.disk.files)
        self.high_watermarks = OffsetCheckpoint(self.disk, HIGH_WATERMARKS)

    @property
    def name(self) -> str:
        return self.disk.name

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
