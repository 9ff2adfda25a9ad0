"""What is set for a log (kafka.log.LogConfig, 2.3): when its segments end, when old ones go, when it is flushed."""

from collections.abc import Mapping

from attrs import evolve, frozen

NEVER = (1 << 63) - 1
UNLIMITED = -1
WEEK_US = 7 * 24 * 3600 * 1_000_000


@frozen
class LogConfig:
    """Sizes in bytes, times in microseconds.

    Attributes:
        segment_bytes, roll_us: a segment ends before it would be larger, or when its first batch is that old.
        retention_bytes, retention_us: the oldest segments go while the log is that large without them, and when their
            newest batch is older; ``UNLIMITED``: they do not.
        flush_messages, flush_us: unflushed records, and time since the last flush, that bring a flush; ``NEVER``.
    """

    segment_bytes: int = 1 << 30
    roll_us: int = WEEK_US
    retention_bytes: int = UNLIMITED
    retention_us: int = WEEK_US
    flush_messages: int = NEVER
    flush_us: int = NEVER

    def changed(self, settings: Mapping[str, str], names: Mapping[str, str]) -> "LogConfig":
        """With those of ``settings`` that ``names`` knows (``TOPIC_NAMES`` or ``BROKER_NAMES``)."""
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
"""A topic's settings, in milliseconds where they are times, and the fields they set."""

BROKER_NAMES: Mapping[str, str] = {
    "log.segment.bytes": "segment_bytes",
    "log.roll.ms": "roll_us",
    "log.retention.bytes": "retention_bytes",
    "log.retention.ms": "retention_us",
    "log.flush.interval.messages": "flush_messages",
    "log.flush.interval.ms": "flush_us",
}
"""A broker's, which hold where the topic sets nothing."""

DEFAULTS = LogConfig()
