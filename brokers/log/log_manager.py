"""LogManager: the log directories of one broker, and which of them has a replica's log (kafka.log.LogManager, 2.3)."""

from collections import deque
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from attrs import define, field, frozen

from brokers.log.batch_runs import all_pieces
from brokers.log.directory import FUTURES, LOGS, LogDirectory, emptiest_first, future_path, log_path
from brokers.log.disk_work import DiskWork
from brokers.log.flushing import LogFlusher
from brokers.log.log import Log, LogHooks
from brokers.log.log_config import DEFAULTS, NEVER, RULES, LogConfig, LogManagerConfig, LogRules
from brokers.log.retention import Expire, Retention
from brokers.log.segments import Segment
from emulator.disks import DiskError, File, Torn
from emulator.nodes import Process
from emulator.protocol.events import LogRecovered
from emulator.protocol.extents import ExtentPart
from emulator.protocol.shown import RecoveryFailed, SegmentRolled
from emulator.protocol.types import Batch, TopicPartition
from fetchers.failures import StorageError

if TYPE_CHECKING:
    from brokers.log.cleaner.log_cleaner import HighWatermarkOf, LogCleaner

CLEAN_SHUTDOWN = ".kafka_cleanshutdown"
"""The file that a broker writes last in a clean stop; a directory that has it is not recovered."""


@frozen
class Recovery:
    """The batches that a recovery removed.

    Attributes:
        log_end_offset: the log end offset after the recovery.
        batches: the number of removed batches, the damaged one included.
        reason: ``torn`` or ``corrupt``: the damage of the first one.
    """

    log_end_offset: int
    batches: int
    reason: str


def recover(file: File, recovery_point: int) -> Recovery | None:
    """Recover a log after an unclean stop (Log.recoverLog, 2.3): read what may not have been flushed, from the segment
    that contains ``recovery_point`` on, and truncate at the first batch that is torn or corrupt.

    Returns None if the log was in order.
    """
    bases = file.label or (0,)
    first = max((base for base in bases if base <= recovery_point), default=bases[0])
    place = 0
    batch: Any
    for batch in all_pieces(file.entries):
        if isinstance(batch, ExtentPart):  # none of its batches is damaged
            place += batch.count
            continue
        torn = isinstance(batch, Torn)
        if torn or (batch.corrupt and batch.base_offset >= first):
            end = batch.entry.base_offset if torn else batch.base_offset
            removed = Recovery(end, len(file.entries) - place, "torn" if torn else "corrupt")
            file.truncate(place)
            if file.label:
                file.label = tuple(base for base in bases if base < end) or (bases[0],)
            return removed
        place += 1
    return None


class Deletion(NamedTuple):
    """A renamed log, and the time when it is deleted."""

    due_us: int
    directory: LogDirectory
    path: str


@define(eq=False)
class LogsToBeDeleted:
    """Logs that were renamed and are deleted file.delete.delay.ms later (LogManager.asyncDelete, 2.3), oldest first,
    with one timer for all of them."""

    process: Process
    delay_us: int
    _due: deque[Deletion] = field(factory=deque)

    def add(self, directory: LogDirectory, path: str) -> None:
        """Delete ``path`` when the delay is over."""
        if not self._due:
            self.process.call_later(self.delay_us, self._delete)
        self._due.append(Deletion(self.process.clock_us + self.delay_us, directory, path))

    def _delete(self, _: object) -> None:
        due, now = self._due, self.process.clock_us
        while due and due[0].due_us <= now:
            _at, directory, path = due.popleft()
            if directory.online:
                directory.disk.delete(path)
        if due:
            self.process.call_later(due[0].due_us - now, self._delete)


class Roll(NamedTuple):
    """The end of a segment: see ``SegmentRolled``."""

    tp: TopicPartition
    size: int
    batch_size: int
    age_us: int
    base_offset: int
    batches: int
    span_us: int


@define(eq=False)
class SegmentRolls:
    """Records (by ``Trace.show``) when segments roll, at the end of the transition that appends."""

    process: Process
    _rolls: list[Roll] = field(factory=list)

    def rolled(self, log: Log, ended: Segment, batch: Batch) -> None:
        """Take note of a roll: see ``LogHooks``."""
        if ended.begin < ended.end:
            if not self._rolls:
                self.process.node.trace.collect(self)
            first_us, last_us = (log.batches[place].timestamp_us for place in (ended.begin, ended.end - 1))
            self._rolls.append(
                Roll(
                    log.tp, ended.size, batch.size, batch.timestamp_us - first_us, log.end_offset,
                    ended.end - ended.begin, last_us - first_us,
                )
            )  # fmt: skip

    def record(self) -> None:
        """Record the rolls: the transition has ended."""
        rolls, self._rolls = self._rolls, []
        for tp, *roll in rolls:
            self.process.show(SegmentRolled, self.process.node.id, *tp, *roll)


class LogManager:
    """The log directories of one broker. Directories that were not stopped cleanly are recovered.

    Attributes:
        directories: the directories in the order of ``log.dirs``.
        preferred: the directory for replicas that have no log yet, where an administrator has chosen one.
        retention: deletes old segments.
        cleaner: compacts logs; None before the first one that may be compacted.
        paused: the partitions whose current log is neither compacted nor, since 2.1, deleted from, each with the number
            of times that this was paused. It stays while the broker runs, whatever happens to the partition.
        work: the time that the disks still need, for which responses wait.
    """

    def __init__(
        self,
        process: Process,
        config: LogManagerConfig,
        config_of: Callable[[str], LogConfig] = lambda _: DEFAULTS,
        expire: Expire = lambda _: None,
        rules: LogRules = RULES,
        high_watermark_of: "HighWatermarkOf" = lambda _: None,
    ) -> None:
        self.work = DiskWork(process)
        self.directories = tuple(LogDirectory(disk, config_of, work=self.work, rules=rules) for disk in process.disks)
        self._process = process
        self._config = config
        self._to_be_deleted = LogsToBeDeleted(process, config.delete_delay_us)
        self.preferred: dict[TopicPartition, LogDirectory] = {}
        self._left: dict[str, LogDirectory] = {}
        """The future logs of an earlier incarnation that ``left_future`` has not returned yet, by path."""
        for directory in self.directories:
            if not rules.keeps_high_watermarks:
                directory.high_watermarks.forget_all()
            for path in directory.discarded():
                self._to_be_deleted.add(directory, path)
            self._left.update(dict.fromkeys(directory.futures(), directory))
            if directory.disk.unusable:
                directory.failed = "it cannot be read"
                continue
            directory.forget_without_logs()
            self._recover(directory)
        self.retention = Retention(process, config.retention_check_us, expire)
        self.cleaner: LogCleaner | None = None
        self.paused: dict[TopicPartition, int] = {}
        self._rules = rules
        self._began_us = process.clock_us
        self._high_watermark_of = high_watermark_of
        flusher = None
        if config.flushes or config.flush_check_us < NEVER or config.writeback is not None:
            flusher = LogFlusher(process, config_of, config.flush_check_us, config.writeback)
        self._hooks = LogHooks(
            None if flusher is None else flusher.appended,
            self.retention.watch,
            SegmentRolls(process).rolled,
            self._watch_compaction,
        )

    def _watch_compaction(self, log: Log) -> None:
        """Have ``log`` compacted, if its topic is."""
        if not log.directory.config_of(log.tp.topic).compacts:
            return
        if self.cleaner is None:
            from brokers.log.cleaner.log_cleaner import LogCleaner

            self.cleaner = LogCleaner(
                self._process, self._config, self._high_watermark_of, self.paused, self._began_us
            )  # fmt: skip
        self.cleaner.watch(log)

    @property
    def compacts(self) -> bool:
        """Whether a log may have something to compact."""
        return self.cleaner is not None and bool(self.cleaner.dirty)

    def lacks_cleaning(self, log: Log) -> bool:
        """Whether ``log`` has something to compact, and no cleaner looks at it."""
        if self.cleaner is None or not self._config.cleaner_enable:
            return False
        return not self.cleaner.watches(log)

    def may_expire(self, log: Log) -> bool:
        """Whether the old segments of ``log`` are deleted. Those of a compacted log are the cleaner's to delete: while
        there is one, and it has not given the log up (LogCleanerManager.deletableLogs, LogManager.cleanupLogs; 1.1.1,
        2.3.1 and 3.9.0)."""
        compacts, paused = log.directory.config_of(log.tp.topic).compacts, log.tp in self.paused
        if paused and (compacts or self._rules.counts_pauses):
            return False
        if not compacts:
            return True
        cleaner = self.cleaner
        return self._config.cleaner_enable and (cleaner is None or not cleaner.has_given_up(log))

    def _recover(self, directory: LogDirectory) -> None:
        disk, node = directory.disk, self._process.node.id
        if disk.exists(CLEAN_SHUTDOWN):
            disk.delete(CLEAN_SHUTDOWN)
            return
        directory.first_epoch = 0 if directory.rules.recovers_epoch_0 else 1
        for path in (*disk.list(FUTURES), *disk.list(LOGS)):
            tp = TopicPartition.parse(path.partition("/")[2])
            try:
                removed = recover(disk.open(path), directory.recovery_points.get(tp))
            except DiskError as error:  # LogManager.loadLogs, 2.3.1: the directory is offline, others are loaded
                directory.failed = str(error)
                self._process.show(RecoveryFailed, node, directory.name)
                return
            if removed is not None:
                self._process.emit(
                    LogRecovered, node, tp.topic, tp.partition, removed.log_end_offset, removed.batches, removed.reason
                )

    def start(self) -> None:
        """Begin the periodic work: write the checkpoints of recovery points and log starts."""
        self._process.every(self._config.checkpoint_us, self.write_offsets)

    @property
    def online(self) -> list[LogDirectory]:
        return [directory for directory in self.directories if directory.online]

    def directory(self, name: str) -> LogDirectory | None:
        """The directory of that name, or None."""
        return next((found for found in self.directories if found.name == name), None)

    def holder(self, tp: TopicPartition) -> LogDirectory | None:
        """The directory that has the log of ``tp`` and is online; None where there is none."""
        return self._holder(log_path(tp))

    def _holder(self, path: str) -> LogDirectory | None:
        for found in self.directories:
            if found.online and path in found.disk.files:
                return found
        return None

    def open(self, tp: TopicPartition, *, is_new: bool) -> Log:
        """The log of ``tp``, found on a disk or created (LogManager.getOrCreateLog).

        Args:
            is_new: the replica cannot have a log yet.

        Raises:
            StorageError: there is none, and it may be in a directory that is offline, or none can be created.
        """
        path = log_path(tp)
        directory = self._holder(path)
        if directory is not None:
            return self._load(directory, tp, path)
        online = self.online
        if (len(online) < len(self.directories) and not is_new) or not online:
            raise StorageError(f"no log of {tp}, and a log directory is offline")
        for directory in self._places(tp, online):
            with suppress(StorageError):  # its directory goes offline
                log = self._create(directory, tp, path)
                self.preferred.pop(tp, None)
                return log
        raise StorageError(f"no log directory for {tp}")

    def _places(self, tp: TopicPartition, online: list[LogDirectory]) -> list[LogDirectory]:
        """The directories in which a new log of ``tp`` may be created, in order: only the chosen one, if an
        administrator has chosen one; else the emptiest, and the next ones if that cannot be written to (a policy)."""
        preferred = self.preferred.get(tp)
        if preferred is not None:
            return [preferred] if preferred.online else []
        places = emptiest_first(online)
        return places if places[0].rules.tries_other_directories else places[:1]

    def _load(self, directory: LogDirectory, tp: TopicPartition, path: str) -> Log:
        """Load a log that exists. Raises: StorageError, where the log has to be cut at its start and cannot be."""
        try:
            return Log(directory, tp, path, self._hooks)
        except DiskError as error:  # its directory goes offline
            raise StorageError(str(error)) from error

    def _create(self, directory: LogDirectory, tp: TopicPartition, path: str) -> Log:
        """Create a log. Raises: StorageError: the disk refuses."""
        try:
            directory.disk.create(path)
        except DiskError as error:  # its directory goes offline
            raise StorageError(str(error)) from error
        directory.logs += 1
        return Log(directory, tp, path, self._hooks)

    def delete(self, tp: TopicPartition, log: Log | None) -> None:
        """Delete the log of ``tp`` (``log``, if it was open): it is renamed now and deleted later. Raises:
        StorageError: the disk refuses; its directory goes offline."""
        path = log_path(tp)
        directory = self._holder(path)
        if directory is not None:
            try:
                discarded = directory.discard(path)
            except DiskError as error:
                raise StorageError(str(error)) from error
            directory.forget(tp)
            self._to_be_deleted.add(directory, discarded)
        if log is not None:
            self.forget(log)

    def forget(self, log: Log) -> None:
        """Forget a log that the broker does not use any more, in all periodic work."""
        self.retention.forget(log)
        if self.cleaner is not None:
            self.cleaner.forget(log)

    def write_high_watermarks(self) -> None:
        for directory in self.online:
            with suppress(DiskError):  # its directory goes offline
                self._check(directory)
                directory.high_watermarks.write()

    def write_offsets(self) -> None:
        """Write the checkpoints of recovery points and log starts."""
        for directory in self.online:
            with suppress(DiskError):
                self._check(directory)
                directory.recovery_points.write()
                directory.log_starts.write()

    @staticmethod
    def _check(directory: LogDirectory) -> None:
        """Check that the disk of ``directory`` can be written to. Kafka writes the checkpoints of a directory that has
        any log whether or not they have changed, and so finds a disk that has failed
        (ReplicaManager.checkpointHighWatermarks, 1.1 to 2.7). Raises: DiskError."""
        if directory.logs:
            directory.disk.check("replace")

    def close(self, logs: Iterable[Log]) -> None:
        """A clean stop: flush ``logs``, write the checkpoints, and write the file of a clean shutdown to each directory
        whose logs could be flushed; the next start recovers the others."""
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
        """Create a second log of ``tp``, which will replace the one in another directory.

        Raises:
            StorageError: a directory is offline, and might hold one already; or the disk refuses.
        """
        if len(self.online) < len(self.directories):
            raise StorageError(f"{tp}: a second log cannot be created while a log directory is offline")
        return self._create(directory, tp, future_path(tp))

    def pause_cleaning(self, tp: TopicPartition) -> None:
        """Leave the current log of ``tp`` as it is (abortAndPauseCleaning). The copy that is made of it takes over its
        checkpoint, and must be compacted as far as that says."""
        if self._config.cleaner_enable:
            self.paused[tp] = 1 + (self.paused.get(tp, 0) if self._rules.counts_pauses else 0)

    def _resume_cleaning(self, tp: TopicPartition) -> None:
        """Undo one pause (resumeCleaning)."""
        left = self.paused.pop(tp, 1) - 1
        if left:
            self.paused[tp] = left

    @property
    def any_left(self) -> bool:
        """Whether ``left_future`` may find any log."""
        return bool(self._left)

    def left_future(self, tp: TopicPartition) -> Log | None:
        """The future log that an earlier incarnation of the broker had not completed, or None where there is none or it
        cannot be loaded. Returns it once."""
        if not self._left:
            return None
        path = future_path(tp)
        directory = self._left.pop(path, None)
        if directory is None or not directory.online:
            return None
        with suppress(StorageError):  # its directory goes offline
            return self._load(directory, tp, path)
        return None

    def swap(self, current: Log, future: Log) -> None:
        """Make ``future`` the log of its partition, and delete ``current`` (LogManager.replaceCurrentWithFutureLog).
        Raises: DiskError."""
        source, target, path = current.directory, future.directory, log_path(current.tp)
        target.disk.rename(future_path(future.tp), path)
        target.high_watermarks.put(current.tp, source.high_watermarks.get(current.tp))
        source.take_compaction_to(target, current.tp)
        source.forget(current.tp)
        self._to_be_deleted.add(source, source.discard(path))
        self.forget(current)
        self._resume_cleaning(current.tp)
        future.watch_retention()

    def delete_future(self, future: Log) -> None:
        """Delete a future log that will not be completed."""
        with suppress(DiskError):  # its directory goes offline
            self._to_be_deleted.add(future.directory, future.directory.discard(future_path(future.tp)))
            future.directory.forget(future.tp)
        self.forget(future)
