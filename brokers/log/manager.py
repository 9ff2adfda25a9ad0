"""LogManager: the log directories of one broker, and which of them has a replica's log (kafka.log.LogManager, 2.3)."""

from brokers.log.deletion import Deletion
from brokers.log.directory import LogDirectory, emptiest, future_path, log_path
from brokers.log.log import Log
from emulator.nodes import Process
from emulator.protocol.types import TopicPartition
from fetchers import StorageError


class LogManager:
    """See the module.

    Attributes:
        directories: in the order of ``log.dirs``.
        preferred: where replicas that have no log yet are to have theirs.
    """

    def __init__(self, process: Process, delete_delay_us: int) -> None:
        self.directories = tuple(LogDirectory(disk) for disk in process.disks)
        self._deletion = Deletion(process, delete_delay_us)
        self.preferred: dict[TopicPartition, LogDirectory] = {}
        self._left: dict[str, LogDirectory] = {}
        """The future logs of an earlier incarnation that nobody has asked for yet."""
        for directory in self.directories:
            for path in directory.discarded():
                self._deletion.add(directory, path)
            self._left.update(dict.fromkeys(directory.futures(), directory))

    @property
    def online(self) -> list[LogDirectory]:
        return [directory for directory in self.directories if directory.online]

    def directory(self, name: str) -> LogDirectory | None:
        """The directory of that name, if there is one."""
        return next((found for found in self.directories if found.name == name), None)

    def _holder(self, path: str) -> LogDirectory | None:
        return next((found for found in self.directories if found.online and found.disk.exists(path)), None)

    def open(self, tp: TopicPartition, *, is_new: bool) -> Log:
        """The log of ``tp``, found on a disk or created (LogManager.getOrCreateLog).

        Args:
            is_new: the replica cannot have a log yet.

        Raises:
            StorageError: there is none, and it may be in a directory that is offline.
        """
        directory = self._holder(log_path(tp))
        if directory is not None:
            return Log(directory, tp)
        online = self.online
        if (len(online) < len(self.directories) and not is_new) or not online:
            raise StorageError(f"no log of {tp}, and a log directory is offline")
        preferred = self.preferred.pop(tp, None)
        if preferred is None or not preferred.online:
            preferred = emptiest(online)
        return self._create(preferred, tp, log_path(tp))

    def _create(self, directory: LogDirectory, tp: TopicPartition, path: str) -> Log:
        directory.logs += 1
        return Log(directory, tp, path)

    def delete(self, tp: TopicPartition) -> None:
        """Drop the log of ``tp``, which nobody has open any more: it is renamed now and gone later."""
        path = log_path(tp)
        directory = self._holder(path)
        if directory is not None:
            directory.high_watermarks.forget(tp)
            self._deletion.add(directory, directory.discard(path))

    def write_high_watermarks(self) -> None:
        """Write the checkpoints. Raises: DiskError."""
        for directory in self.online:
            directory.high_watermarks.write()

    # -- moves between directories ------------------------------------------------------------------------------------

    def begin_future(self, tp: TopicPartition, directory: LogDirectory) -> Log:
        """A second log of ``tp``, that is to replace the one in another directory.

        Raises:
            StorageError: a directory is offline; it might hold one already.
        """
        if len(self.online) < len(self.directories):
            raise StorageError(f"no second log of {tp} while a log directory is offline")
        return self._create(directory, tp, future_path(tp))

    @property
    def any_left(self) -> bool:
        """Whether ``left_future`` may find something."""
        return bool(self._left)

    def left_future(self, tp: TopicPartition) -> Log | None:
        """The future log that an earlier incarnation of the broker was about to complete; asked for once."""
        if not self._left:
            return None
        path = future_path(tp)
        directory = self._left.pop(path, None)
        return Log(directory, tp, path) if directory is not None and directory.online else None

    def swap(self, current: Log, future: Log) -> None:
        """Let ``future`` be the log of its partition; ``current`` goes as deleted logs do
        (LogManager.replaceCurrentWithFutureLog)."""
        source, target, path = current.directory, future.directory, log_path(current.tp)
        target.disk.rename(future_path(future.tp), path)
        target.high_watermarks.put(current.tp, source.high_watermarks.get(current.tp))
        source.high_watermarks.forget(current.tp)
        self._deletion.add(source, source.discard(path))

    def delete_future(self, future: Log) -> None:
        """Give a future log up."""
        self._deletion.add(future.directory, future.directory.discard(future_path(future.tp)))
