"""What an append brings about besides: a flush after so many records or so long, and the operating system's write-back.

By default a broker does none of it (2.3 leaves durability to replication); then there is no ``Upkeep``.
"""

from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING

from attrs import frozen

from brokers.log.config import NEVER, LogConfig
from emulator.disks import DiskError
from emulator.nodes import Process

if TYPE_CHECKING:
    from brokers.log.log import Log


@frozen
class Writeback:
    """The operating system writes a file's new pages to the disk between half of ``delay_us`` and one and a half of it
    after the first of them was written to."""

    delay_us: int


class Upkeep:
    """Of all logs of one broker. ``check_us``: how often what has waited is looked for
    (log.flush.scheduler.interval.ms)."""

    def __init__(
        self, process: Process, config_of: Callable[[str], LogConfig], check_us: int, writeback: Writeback | None
    ) -> None:
        self._process = process
        self._config_of = config_of
        self._check_us = check_us
        self._writeback = writeback
        self._draws = process.world.stream("disk", f"{process.name}/write-back")
        self._flushed_us: dict[Log, int] = {}
        self._unwritten: dict[Log, None] = {}
        self._dirty: dict[Log, None] = {}
        self._started_us = process.clock_us

    def appended(self, log: "Log") -> None:
        """``log`` has grown."""
        if log.end_offset - log.recovery_point >= self._config_of(log.tp.topic).flush_messages:
            self._flush(log)
            return
        if self._check_us < NEVER:
            if not self._dirty:
                now = self._process.clock_us - self._started_us
                self._process.call_later(self._check_us - now % self._check_us, self._flush_old)
            self._dirty[log] = None
        if self._writeback is not None and log not in self._unwritten:
            self._unwritten[log] = None
            half_us = self._writeback.delay_us // 2
            self._process.call_later(half_us + self._draws.below(2 * half_us + 1), self._write_back, log)

    def _flush(self, log: "Log") -> None:
        with suppress(DiskError):  # its directory goes offline
            log.flush()
        self._flushed_us[log] = self._process.clock_us
        self._dirty.pop(log, None)

    def _flush_old(self, _: object) -> None:
        now = self._process.clock_us
        for log in list(self._dirty):
            if now - self._flushed_us.get(log, self._started_us) >= self._config_of(log.tp.topic).flush_us:
                self._flush(log)
        if self._dirty:
            self._process.call_later(self._check_us, self._flush_old)

    def _write_back(self, log: "Log") -> None:
        del self._unwritten[log]
        log.write_back()
