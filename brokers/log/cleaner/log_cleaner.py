"""kafka-log-cleaner-thread-0: compacts the dirtiest log of its broker, one after the other, and waits for
log.cleaner.backoff.ms where none is dirty enough (kafka.log.LogCleaner, 2.4).

Kafka looks at every compacted log each time. Here a log is looked at while it has closed segments that are dirty, so
that logs in which nothing can be compacted cost nothing.
"""

from collections.abc import Callable, Container

from attrs import define, field

from brokers.log.cleaner.cleanable import LogToClean, first_dirty_offset, log_to_clean
from brokers.log.cleaner.cleaning import clean
from brokers.log.cleaner.contents import Uncleanable
from brokers.log.log import Log
from brokers.log.log_config import MOST_BYTES_PER_SECOND, LogManagerConfig
from emulator.disks import DiskError
from emulator.nodes import Process
from emulator.protocol.events import CleanerFailed, LogCompacted
from emulator.protocol.shown import RecordsCompacted
from emulator.protocol.types import TopicPartition

HighWatermarkOf = Callable[[Log], int | None]
"""A function that returns the high watermark of the replica with this log; None: the broker does not use the log."""
PASSES = 2
"""How often a cleaning reads what is dirty: for the last offsets of keys, and to copy what stays."""


@define(eq=False)
class LogCleaner:
    """The logs of one broker that may be compacted, and one timer.

    Attributes:
        paused: the partitions whose log is left alone for now; a cleaning of it that is under way has no effect.
        began_us: the time when the broker started, by its clock.
        dirty: the logs that may have something to compact, in the order in which they were seen first.
        uncleanable: the logs that could not be compacted, and are left alone until the broker starts again.
        ended: whether the cleaner thread has died.
    """

    process: Process
    config: LogManagerConfig
    high_watermark_of: HighWatermarkOf
    paused: Container[TopicPartition]
    began_us: int
    dirty: dict[Log, None] = field(factory=dict)
    uncleanable: dict[Log, None] = field(factory=dict)
    ended: bool = False
    _waits: bool = False

    def watch(self, log: Log) -> None:
        """Look at ``log`` from the next check on, if it is compacted and has a closed segment."""
        config = log.directory.config_of(log.tp.topic)
        if not config.compacts or len(log.bases) < 2 or log in self.dirty or self.has_given_up(log):
            return
        if self.config.cleaner_enable:
            self.dirty[log] = None
            self._wait()

    def watches(self, log: Log) -> bool:
        """Whether ``log`` is looked at, or there is no need."""
        return log in self.dirty or self.has_given_up(log) or not self._may_become_due(log)

    def has_given_up(self, log: Log) -> bool:
        """Whether ``log`` stays as it is: it could not be compacted, or the thread has died."""
        return self.ended or log in self.uncleanable

    def forget(self, log: Log) -> None:
        self.dirty.pop(log, None)
        self.uncleanable.pop(log, None)

    def _wait(self) -> None:
        """Check at the next end of a pause: pauses follow one another from the start of the broker on."""
        if not self._waits:
            self._waits = True
            backoff_us = max(1, self.config.cleaner_backoff_us)
            passed_us = max(0, self.process.clock_us - self.began_us)
            self.process.call_later(backoff_us - passed_us % backoff_us, self._check)

    def _check(self, _: object) -> None:
        self._waits = False
        found = self._filthiest()
        if found is not None:
            self.process.call_later(self._takes_us(found), self._finish, found)
            self._waits = True
            return
        self.dirty = {log: None for log in self.dirty if self._may_become_due(log)}
        if self.dirty:
            self._wait()

    def _filthiest(self) -> LogToClean | None:
        """The log that is due with the largest dirty part."""
        due = [found for found in map(self._to_clean, self.dirty) if found is not None and found.is_due]
        return max(due, key=lambda found: found.ratio, default=None)

    def _to_clean(self, log: Log) -> LogToClean | None:
        high_watermark = self.high_watermark_of(log)
        if high_watermark is None or not log.directory.online or log.tp in self.paused:
            return None
        return log_to_clean(log, high_watermark, self.process.clock_us // 1000)

    def _may_become_due(self, log: Log) -> bool:
        compacts = log.directory.config_of(log.tp.topic).compacts
        in_use = log.directory.online and self.high_watermark_of(log) is not None and log.tp not in self.paused
        return compacts and in_use and log.bases[-1] > first_dirty_offset(log)

    def _takes_us(self, found: LogToClean) -> int:
        """How long the cleaner reads and writes, at most (log.cleaner.io.max.bytes.per.second)."""
        if self.config.cleaner_rate >= MOST_BYTES_PER_SECOND:
            return 0
        moved = PASSES * (found.clean_bytes + found.cleanable_bytes) + found.cleanable_bytes
        return int(moved * 1_000_000 / self.config.cleaner_rate)

    def _finish(self, planned: LogToClean) -> None:
        """The time of a cleaning is over: put what is left in the place of the segments. A log that was cut meanwhile
        is left as it is (LogCleaningAbortedException)."""
        self._waits = False
        log = planned.log
        found = self._to_clean(log) if log in self.dirty else None
        if found is not None and found.first_uncleanable >= planned.first_uncleanable > found.first_dirty:
            try:
                self._compact(log, found.first_dirty, planned.first_uncleanable, found.now_ms)
            except Uncleanable as error:
                self._failed(log, str(error))
            except DiskError:  # its directory goes offline
                self.dirty.pop(log, None)
        if self.dirty and not self.ended:
            self._check(None)

    def _compact(self, log: Log, first_dirty: int, end: int, now_ms: int) -> None:
        """Raises: Uncleanable; DiskError."""
        node, active = self.process.node, log.bases[-1]
        shows = node.trace.shows(RecordsCompacted)
        before = tuple(log.batches) if shows else ()
        done = clean(log, first_dirty, end, now_ms)
        log.directory.cleaned.put(log.tp, done.next_offset)
        log.directory.cleaned.write()
        self.process.emit(
            LogCompacted, node.id, *log.tp, done.from_offset, done.next_offset, done.records, done.bytes_before,
            done.bytes_after,
        )  # fmt: skip
        if shows:
            retention_ms = log.directory.config_of(log.tp.topic).delete_retention_us // 1000
            self.process.show(
                RecordsCompacted, node.id, log.tp, done.next_offset, active, now_ms, retention_ms, before,
                tuple(log.batches),
            )  # fmt: skip

    def _failed(self, log: Log, reason: str) -> None:
        """A log cannot be compacted (KIP-346; before, the thread ended)."""
        self.dirty.pop(log, None)
        self.uncleanable[log] = None
        self.ended = not log.directory.rules.cleaner_survives
        self.process.emit(CleanerFailed, self.process.node.id, *log.tp, reason, self.ended)
