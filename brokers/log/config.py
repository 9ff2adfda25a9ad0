"""The settings of logs (kafka.log.LogConfig, LogManager; 2.3): when segments roll, are deleted, and are flushed."""

from collections.abc import Mapping

from attrs import evolve, frozen

NEVER = (1 << 63) - 1
UNLIMITED = -1
WEEK_US = 7 * 24 * 3600 * 1_000_000


@frozen
class LogConfig:
    """Sizes in bytes, times in microseconds.

    Attributes:
        segment_bytes, roll_us: a segment rolls before it would be larger, or when its first batch is that old.
        retention_bytes, retention_us: the oldest segments are deleted while the log is that large without them, and
            when their newest batch is older; ``UNLIMITED``: they are not.
        flush_messages, flush_us: the number of unflushed records, and the time since the last flush, after which a log
            is flushed; ``NEVER``.
    """

    segment_bytes: int = 1 << 30
    roll_us: int = WEEK_US
    retention_bytes: int = UNLIMITED
    retention_us: int = WEEK_US
    flush_messages: int = NEVER
    flush_us: int = NEVER

    def changed(self, settings: Mapping[str, str], names: Mapping[str, str]) -> "LogConfig":
        """A copy with those of ``settings`` that are in ``names`` (``TOPIC_NAMES`` or ``BROKER_NAMES``)."""
        found = {names[name]: int(value) for name, value in settings.items() if name in names}
        in_us = {f: v * 1000 if f.endswith("_us") and 0 <= v < NEVER else v for f, v in found.items()}
        return evolve(self, **in_us) if in_us else self


TOPIC_NAMES: Mapping[str, str] = {
    "segment.bytes": "segment_bytes",
    "segment.ms": "roll_us",
    "retention.bytes": "retention_bytes",
    "retention.ms": "retention_us",
    "flush.messages": "flush_messages",
    "flush.ms": "flush_us",
}
"""A topic's settings (times in milliseconds), and the fields they set."""

BROKER_NAMES: Mapping[str, str] = {
    "log.segment.bytes": "segment_bytes",
    "log.roll.ms": "roll_us",
    "log.retention.bytes": "retention_bytes",
    "log.retention.ms": "retention_us",
    "log.flush.interval.messages": "flush_messages",
    "log.flush.interval.ms": "flush_us",
}
"""A broker's settings, which apply to topics that do not set their own."""

DEFAULTS = LogConfig()


@frozen
class Writeback:
    """The operating system writes a file's new pages to the disk between half of ``delay_us`` and one and a half of it
    after the first of them was written to."""

    delay_us: int


@frozen
class LogManagerConfig:
    """The settings of all logs of a broker together.

    Attributes:
        delete_delay_us: log.segment.delete.delay.ms.
        retention_check_us: log.retention.check.interval.ms.
        flush_check_us: log.flush.scheduler.interval.ms.
        checkpoint_us: log.flush.offset.checkpoint.interval.ms.
        flushes: some log is flushed by its number of records.
        writeback: the operating system's write-back; None: only a flush makes batches durable.
    """

    delete_delay_us: int = 60_000_000
    retention_check_us: int = 300_000_000
    flush_check_us: int = NEVER
    checkpoint_us: int = 60_000_000
    flushes: bool = False
    writeback: Writeback | None = None
