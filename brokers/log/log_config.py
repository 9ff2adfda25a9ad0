"""The settings of logs (kafka.log.LogConfig, LogManager; 2.3): when segments roll, are deleted, and are flushed."""

from collections.abc import Mapping
from typing import Any

from attrs import evolve, frozen

from emulator.protocol.configs import LONG_MAX, ConfigType, config, config_keys

NEVER = LONG_MAX
UNLIMITED = -1
CREATE_TIME, LOG_APPEND_TIME = "CreateTime", "LogAppendTime"
WEEK_MS = 7 * 24 * 3600 * 1000
CLEANUP_POLICY, COMPACT, DELETE = "cleanup.policy", "compact", "delete"
"""A topic's policy. By ``compact`` alone no segment is deleted for its age or size. Logs are not compacted here: they
keep all records."""


@frozen
class LogConfig:
    """The settings of a log: sizes in bytes, times in microseconds.

    Attributes:
        segment_bytes, roll_us: the largest size of a segment, and the age of its first batch at which a new one begins.
        retention_bytes, retention_us: the size that a log keeps when its oldest segments are deleted, and the age of a
            segment's newest batch at which it is deleted; ``UNLIMITED``: none is.
        max_message_bytes: the largest batch that a leader appends; up to 0.10 the largest message of one.
        timestamp_type: whether records keep the time that their producer gave them.
        deletes: whether clients may have records deleted: the policy is not to compact alone.
        flush_messages, flush_us: the number of unflushed records, and the time since the last flush, after which a log
            is flushed; ``NEVER``.
    """

    segment_bytes: int = config(
        "log.segment.bytes", 1 << 30, "a segment of a log rolls before it would be larger",
        at_least=14, topic_name="segment.bytes", dynamic=True,
    )  # fmt: skip
    roll_us: int = config(
        "log.roll.ms",
        WEEK_MS,
        "a segment rolls when its first batch is older",
        topic_name="segment.ms",
        dynamic=True,
        type=ConfigType.LONG,
    )
    retention_bytes: int = config(
        "log.retention.bytes", UNLIMITED, "old segments go while the log is that large without them; -1: never",
        at_least=UNLIMITED, topic_name="retention.bytes", dynamic=True, type=ConfigType.LONG,
    )  # fmt: skip
    retention_us: int = config(
        "log.retention.ms", WEEK_MS, "segments are deleted whose newest batch is older; -1: never",
        at_least=UNLIMITED, topic_name="retention.ms", dynamic=True, type=ConfigType.LONG,
    )  # fmt: skip
    flush_messages: int = config(
        "log.flush.interval.messages", NEVER, "a log is flushed when it has that many unflushed records",
        topic_name="flush.messages", dynamic=True, type=ConfigType.LONG,
    )  # fmt: skip
    flush_us: int = config(
        "log.flush.interval.ms", NEVER,
        "a log is flushed that long after its last flush, when log.flush.scheduler.interval.ms looks for it",
        at_least=0, topic_name="flush.ms", dynamic=True, type=ConfigType.LONG,
    )  # fmt: skip

    max_message_bytes: int = config(
        "message.max.bytes", 1_000_012, "the largest batch that a leader appends; up to 0.10 the largest message",
        at_least=0, topic_name="max.message.bytes", dynamic=True,
    )  # fmt: skip
    timestamp_type: str = config(
        "log.message.timestamp.type", CREATE_TIME, "whose clock the time of a real client's record is of",
        choices=(CREATE_TIME, LOG_APPEND_TIME), topic_name="message.timestamp.type", dynamic=True,
    )  # fmt: skip

    deletes: bool = True

    def changed(self, settings: Mapping[str, str], names: Mapping[str, str]) -> "LogConfig":
        """A copy with the values of ``settings`` whose names are in ``names`` (``TOPIC_NAMES`` or ``BROKER_NAMES``)."""
        if settings.get(CLEANUP_POLICY) == COMPACT:
            settings = {**settings, "retention.ms": str(UNLIMITED), "retention.bytes": str(UNLIMITED)}
        found = {names[name]: value for name, value in settings.items() if name in names}
        values: dict[str, Any] = {
            name: value if _KEYS[name].choices else _KEYS[name].to_field(int(value)) for name, value in found.items()
        }
        policy = settings.get(CLEANUP_POLICY)
        if policy is not None:
            values["deletes"] = DELETE in policy.replace(" ", "").split(",")
        return evolve(self, **values) if values else self


_KEYS = config_keys(LogConfig)
TOPIC_NAMES: Mapping[str, str] = {key.topic_name: name for name, key in _KEYS.items()}
"""The names of these settings on topics, and the fields that hold them."""

BROKER_NAMES: Mapping[str, str] = {key.name: name for name, key in _KEYS.items()}
"""The names of these settings on brokers. A broker's value applies to topics that do not set their own."""

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
        checkpoint_us: log.flush.offset.checkpoint.interval.ms.
        flushes: whether any log is flushed after a number of records.
        writeback: the operating system's write-back; None: only a flush makes batches durable.
    """

    delete_delay_us: int = config(
        "log.segment.delete.delay.ms",
        60_000,
        "how long a deleted log stays on the disk, renamed",
        at_least=0,
        type=ConfigType.LONG,
    )
    retention_check_us: int = config(
        "log.retention.check.interval.ms", 300_000, "how often old segments are looked for", type=ConfigType.LONG
    )
    flush_check_us: int = config(
        "log.flush.scheduler.interval.ms", NEVER, "how often logs to flush by time are looked for", type=ConfigType.LONG
    )
    checkpoint_us: int = 60_000_000
    flushes: bool = False
    writeback: Writeback | None = None


@frozen
class LogRules:
    """Rules of logs, each with the ticket of the bug that it replaced.

    Attributes:
        recovers_epoch_0: KAFKA-10432 (2.7): a recovery finds leader epoch 0 in the log like any other. Before, a log
            that was not closed in order came back without it.
        cleans_epochs_at_end: KAFKA-10706 (2.6.1): a truncation to the end of the log also removes the epochs that begin
            there. Before, it did nothing at all.
        keeps_high_watermarks: KAFKA-769 (0.8.0, before its release): the high watermarks on the disk are written again
            once the broker has its replicas. Before, the first write after a start had none of them, and all began at
            0.
        checks_sequences: KAFKA-6003 (1.0): before, followers checked the sequence numbers of idempotent producers as
            leaders do, and could not append a batch of a producer of which they had no earlier one.
        keeps_producers: KAFKA-7190 (2.4): a log still knows a producer after retention has deleted all its batches.
            Before, it forgot the producer, and the transaction that it had left open.
        begins_within_batch: KAFKA-6975 (1.0.2): a follower, or a copy in another log directory, that begins in the
            middle of its leader's batch begins where that batch does. Before, it could not append the batch, and its
            fetcher thread ended.
        tries_other_directories: KAFKA-8526 (2.4): where the emptiest directory cannot take a new log, the next one
            does. Before, the replica went offline.
    """

    recovers_epoch_0: bool = True
    cleans_epochs_at_end: bool = True
    keeps_high_watermarks: bool = True
    checks_sequences: bool = False
    keeps_producers: bool = False
    begins_within_batch: bool = True
    tries_other_directories: bool = False


RULES = LogRules()
