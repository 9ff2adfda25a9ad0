"""LogManager: the log directories of one broker, and which of them has a replica's log (kafka.log.LogManager, 2.3)."""

from collections.abc import Callable, Iterable
from contextlib import suppress

from attrs import frozen

from brokers.log.config import DEFAULTS, NEVER, LogConfig
from brokers.log.deletion import Deletion
from brokers.log.directory import FUTURES, LOGS, LogDirectory, emptiest, future_path, log_path
from brokers.log.log import Log
from brokers.log.recovery import CLEAN_SHUTDOWN, recover
from brokers.log.retention import Expire, Retention
from brokers.log.upkeep import Upkeep, Writeback
from brokers.log.work import DiskWork
from emulator.disks import DiskError
from emulator.nodes import Process
from emulator.protocol.events import LogRecovered
from emulator.protocol.types import TopicPartition
from fetchers import StorageError


@frozen
class LogManagerConfig:
    """What is set for all logs of a broker together: kafka's ``log.segment.delete.delay.ms``,
    ``log.retention.check.interval.ms``, ``log.flush.scheduler.interval.ms`` and
    ``log.flush.offset.checkpoint.interval.ms``. ``flushes``: some log is flushed by number of records."""

    delete_delay_us: int = 60_000_000
    retention_check_us: int = 300_000_000
    flush_check_us: int = NEVER
    checkpoint_us: int = 60_000_000
    flushes: bool = False
    writeback: Writeback | None = None


class LogManager:
    """See the module. When it begins it recovers the logs, where the broker was not stopped in order.

    Attributes:
        directories: in the order of ``log.dirs``.
        preferred: where replicas that have no log yet are to have theirs.
        retention: what deletes old segments.
        work: what answers wait for, where disks take time.
    """

    def __init__(
        self,
        process: Process,
        config: LogManagerConfig,
        config_of: Callable[[str], LogConfig] = lambda _: DEFAULTS,
        expire: Expire = lambda _: None,
    ) -> None:
        self.directories = tuple(LogDirectory(disk, config_of) for disk in process.disks)
        self.work = DiskWork(process)
        self._process = process
        self._config = config
        self._deletion = Deletion(process, config.delete_delay_us)
        self.preferred: dict[TopicPartition, LogDirectory] = {}
        self._left: dict[str, LogDirectory] = {}
        """The future logs of an earlier incarnation that nobody has asked for yet."""
        for directory in self.directories:
            for path in directory.discarded():
                self._deletion.add(directory, path)
            self._left.update(dict.fromkeys(directory.futures(), directory))
            if directory.disk.unusable:
                continue
            self._recover(directory)
        self.retention = Retention(process, config.retention_check_us, expire)
        upkeep = None
        if config.flushes or config.flush_check_us < NEVER or config.writeback is not None:
            upkeep = Upkeep(process, config_of, config.flush_check_us, config.writeback)
        for directory in self.directories:
            directory.retention, directory.upkeep, directory.work = self.retention, upkeep, self.work

    def _recover(self, directory: LogDirectory) -> None:
        disk, node = directory.disk, self._process.node.id
        if disk.exists(CLEAN_SHUTDOWN):
            disk.delete(CLEAN_SHUTDOWN)
            return
        for path in (*disk.list(FUTURES), *disk.list(LOGS)):
            tp = TopicPartition.parse(path.partition("/")[2])
            cut = recover(disk.open(path), directory.recovery_points.get(tp))
            if cut is not None:
                self._process.emit(
                    LogRecovered, node, tp.topic, tp.partition, cut.log_end_offset, cut.batches, cut.reason
                )

    def start(self) -> None:
        """Begin the periodic work: recovery points and log starts are written down."""
        self._process.every(self._config.checkpoint_us, self.write_offsets)

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

    def delete(self, tp: TopicPartition, log: Log | None) -> None:
        """Drop the log of ``tp`` (``log``, if it was open): it is renamed now and gone later."""
        path = log_path(tp)
        directory = self._holder(path)
        if directory is not None:
            directory.forget(tp)
            self._deletion.add(directory, directory.discard(path))
        if log is not None:
            self.retention.forget(log)

    def write_high_watermarks(self) -> None:
        """Write the checkpoints."""
        for directory in self.online:
            with suppress(DiskError):  # its directory goes offline
                directory.high_watermarks.write()

    def write_offsets(self) -> None:
        """Write recovery points and log starts."""
        for directory in self.online:
            with suppress(DiskError):
                directory.recovery_points.write()
                directory.log_starts.write()

    def close(self, logs: Iterable[Log]) -> None:
        """A clean stop: flush ``logs``, write the checkpoints, and say on each disk that all is in order; where it is
        not, the next start is an unclean one."""
        unclean: dict[str, None] = {}
        for log in logs:
            try:
                log.flush()
            except DiskError:
                unclean[log.directory.name] = None
        self.write_high_watermarks()
        self.write_offsets()
        for directory in self.online:
            if directory.name not in unclean and not directory.disk.unusable:
                directory.disk.open(CLEAN_SHUTDOWN)

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
        source.forget(current.tp)
        self._deletion.add(source, source.discard(path))
        self.retention.forget(current)
        target.grown(future)

    def delete_future(self, future: Log) -> None:
        """Give a future log up."""
        self._deletion.add(future.directory, future.directory.discard(future_path(future.tp)))
        self.retention.forget(future)
