"""The flush of appended batches, apart from a roll and a clean stop: after a number of records or after a time, and by
the operating system's write-back.

By default a broker does none of it (2.3 leaves durability to replication); then there is no ``LogFlusher``.
"""

from collections.abc import Callable
from contextlib import suppress

from attrs import define, field

from brokers.log.log import Log
from brokers.log.log_config import NEVER, LogConfig, Writeback
from emulator.disks import DiskError
from emulator.nodes import Process
from emulator.streams import Stream


@define(eq=False)
class LogFlusher:
    """The flushes of all logs of one broker.

    Attributes:
        check_us: the period in which logs to flush by time are looked for (log.flush.scheduler.interval.ms).
    """

    process: Process
    config_of: Callable[[str], LogConfig]
    check_us: int
    writeback: Writeback | None
    _draws: Stream = field(init=False)
    _flushed_us: dict[Log, int] = field(factory=dict)
    _unwritten: dict[Log, None] = field(factory=dict)
    _dirty: dict[Log, None] = field(factory=dict)
    _started_us: int = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._draws = self.process.world.stream("disk", f"{self.process.name}/write-back")
        self._started_us = self.process.clock_us

    def appended(self, log: Log) -> None:
        """``log`` has grown: flush it, now or at a later check, and let the operating system write it back."""
        if log.end_offset - log.recovery_point >= self.config_of(log.tp.topic).flush_messages:
            self._flush(log)
            return
        if self.check_us < NEVER:
            if not self._dirty:
                now = self.process.clock_us - self._started_us + self.process.phase_us
                self.process.call_later(self.check_us - now % self.check_us, self._flush_dirty_logs)
            self._dirty[log] = None
        if self.writeback is not None and log not in self._unwritten:
            self._unwritten[log] = None
            half_us = self.writeback.delay_us // 2
            delay_us = half_us + self._draws.below(2 * half_us + 1)
            self.process.world.call_later(delay_us, self._write_back, log, background=True)

    def _flush(self, log: Log) -> None:
        with suppress(DiskError):  # its directory goes offline
            log.flush()
        self._flushed_us[log] = self.process.clock_us
        self._dirty.pop(log, None)

    def _flush_dirty_logs(self, _: object) -> None:
        now = self.process.clock_us
        for log in list(self._dirty):
            if now - self._flushed_us.get(log, self._started_us) >= self.config_of(log.tp.topic).flush_us:
                self._flush(log)
        if self._dirty:
            self.process.call_later(self.check_us, self._flush_dirty_logs)

    def _write_back(self, log: Log) -> None:
        """Write back, also where the process has ended or is paused: the operating system has the pages."""
        del self._unwritten[log]
        log.write_back()
