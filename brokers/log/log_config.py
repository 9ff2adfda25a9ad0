"""The settings of logs (kafka.log.LogConfig, LogManager; 2.3): when segments roll, are deleted, and are flushed."""

from collections.abc import Mapping
from typing import Any

from attrs import evolve, frozen

from emulator.protocol.configs import LONG_MAX, ConfigType, ConfigValue, config, config_keys

NEVER = LONG_MAX
UNLIMITED = -1
CREATE_TIME, LOG_APPEND_TIME = "CreateTime", "LogAppendTime"
WEEK_MS = 7 * 24 * 3600 * 1000
CLEANUP_POLICY, COMPACT, DELETE = "cleanup.policy", "compact", "delete"
MOST_BYTES_PER_SECOND = 1.7976931348623157e308
"""Kafka's value for a rate without a limit (Double.MAX_VALUE)."""


@frozen(cache_hash=True)  # settings of topics are looked up by it with every batch
class LogConfig:
    """The settings of a log: sizes in bytes, times in microseconds.

    Attributes:
        segment_bytes, roll_us: the largest size of a segment, and the age of its first batch at which a new one begins.
        retention_bytes, retention_us: the size that a log keeps when its oldest segments are deleted, and the age of a
            segment's newest batch at which it is deleted; ``UNLIMITED``: none is.
        max_message_bytes: the largest batch that a leader appends; up to 0.10 the largest message of one.
        timestamp_type: whether records keep the time that their producer gave them.
        timestamp_difference_us: how far the time that a producer gave a record may be from that of the append;
            ``NEVER`` too far.
        cleanup_policy: ``delete``, ``compact``, or both with a comma between. By ``compact`` alone no segment is
            deleted for its age or the size of its log, nor records on request.
        min_cleanable_ratio: the part of a log, in bytes, that has to be dirty before it is compacted.
        min_compaction_lag_us, max_compaction_lag_us: the time for which a record stays in the log as it was written,
            and the time after which its segment is compacted whatever the ratio is.
        delete_retention_us: the time for which tombstones and the markers of transactions stay.
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
    timestamp_difference_us: int = config(
        "log.message.timestamp.difference.max.ms", NEVER,
        "how far the time of a real client's record may be from the broker's, where the record keeps it",
        at_least=0, topic_name="message.timestamp.difference.max.ms", dynamic=True, type=ConfigType.LONG,
    )  # fmt: skip

    cleanup_policy: str = config(
        "log.cleanup.policy", DELETE, "what is done with old segments: delete, compact, or both with a comma between",
        topic_name=CLEANUP_POLICY, dynamic=True, type=ConfigType.LIST,
    )  # fmt: skip
    min_cleanable_ratio: float = config(
        "log.cleaner.min.cleanable.ratio", 0.5, "the dirty part of a log at which it is compacted",
        at_least=0, topic_name="min.cleanable.dirty.ratio", dynamic=True, type=ConfigType.DOUBLE,
    )  # fmt: skip
    min_compaction_lag_us: int = config(
        "log.cleaner.min.compaction.lag.ms", 0, "how long a record is not compacted",
        at_least=0, topic_name="min.compaction.lag.ms", dynamic=True, type=ConfigType.LONG,
    )  # fmt: skip
    max_compaction_lag_us: int = config(
        "log.cleaner.max.compaction.lag.ms", NEVER, "a record is compacted after that long, however little is dirty",
        topic_name="max.compaction.lag.ms", dynamic=True, type=ConfigType.LONG,
    )  # fmt: skip
    delete_retention_us: int = config(
        "log.cleaner.delete.retention.ms", 24 * 3600 * 1000, "how long a compacted log keeps tombstones",
        at_least=0, topic_name="delete.retention.ms", dynamic=True, type=ConfigType.LONG,
    )  # fmt: skip

    @property
    def compacts(self) -> bool:
        return COMPACT in self.cleanup_policy

    @property
    def deletes(self) -> bool:
        """Whether old segments are deleted, and records on request."""
        return DELETE in self.cleanup_policy

    @property
    def segment_us(self) -> int:
        """The age of its first batch at which a segment rolls (LogConfig.maxSegmentMs, 2.3)."""
        return min(self.roll_us, self.max_compaction_lag_us) if self.compacts else self.roll_us

    def changed(self, settings: Mapping[str, str], names: Mapping[str, str]) -> "LogConfig":
        """A copy with the values of ``settings`` whose names are in ``names`` (``TOPIC_NAMES`` or ``BROKER_NAMES``)."""
        found = {names[name]: value for name, value in settings.items() if name in names}
        values: dict[str, Any] = {name: _KEYS[name].to_field(_parse(name, value)) for name, value in found.items()}
        return evolve(self, **values) if values else self


def _parse(name: str, text: str) -> ConfigValue:
    """The value of the field ``name`` that ``text`` says."""
    key = _KEYS[name]
    if key.type in (ConfigType.STRING, ConfigType.LIST):
        return text
    return float(text) if key.type is ConfigType.DOUBLE else int(text)


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
        cleaner_enable, cleaner_backoff_us, cleaner_rate: whether logs are compacted, how often a cleaner looks for one
            after it has found none, and the bytes that it reads and writes in a second.
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
    cleaner_enable: bool = config("log.cleaner.enable", True, "whether logs are compacted at all")
    cleaner_backoff_us: int = config(
        "log.cleaner.backoff.ms",
        15_000,
        "how long the log cleaner waits when there is nothing to compact",
        type=ConfigType.LONG,
    )
    cleaner_rate: float = config(
        "log.cleaner.io.max.bytes.per.second", MOST_BYTES_PER_SECOND,
        "bytes that the log cleaner reads and writes in a second", type=ConfigType.DOUBLE,
    )  # fmt: skip
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
        compacts_in_time: KIP-354 (2.3): max.compaction.lag.ms. Before, it had no effect.
        cleaner_survives: KIP-346 (2.1): a log that cannot be compacted is left alone. Before, the cleaner thread ended.
        compacts_stable: KAFKA-13194 (3.1): nothing at or above the last stable offset is compacted, which is at
            most the high watermark. Before, the first offset of an open transaction was the limit, and records were
            compacted that no other replica had.
        sets_delete_horizons: KIP-534 (3.1): a batch with tombstones, or a marker, says until when it stays: for
            delete.retention.ms after it was first compacted. Before, that depended on when the segments had changed.
        skips_empty_transactions: KAFKA-10702 (2.8): readers of committed records get no aborted transaction that
            has no record. Before, such a one began and ended at its marker.
        cuts_compacted: KAFKA-7400 (2.1): a log that is only compacted loses the segments before its start. Before, it
            kept them.
        deletes_by_start_first: KAFKA-12177 (3.0): retention deletes the segments before the start of the log first,
            then by size, then by age. Before, the other way round, so that a segment could wait for the next check.
        tries_other_directories: KAFKA-8526 (2.4): where the emptiest directory cannot take a new log, the next one
            does. Before, the replica went offline.
        counts_pauses: KAFKA-7322 and KAFKA-7441 (2.1): compaction that was paused twice goes on when it was resumed
            twice, and meanwhile retention leaves the log alone, too. Before, once was enough, and retention deleted
            segments of a log that is not compacted.
        pauses_once: KAFKA-16709 (3.8): a LeaderAndIsr does not pause the compaction of a log that is being copied to
            another directory again. Before, it did (since KAFKA-9654, 2.5), and the end of the copy resumed it once.
    """

    recovers_epoch_0: bool = True
    cleans_epochs_at_end: bool = True
    keeps_high_watermarks: bool = True
    checks_sequences: bool = False
    keeps_producers: bool = False
    begins_within_batch: bool = True
    compacts_in_time: bool = True
    cleaner_survives: bool = True
    compacts_stable: bool = False
    sets_delete_horizons: bool = False
    skips_empty_transactions: bool = False
    cuts_compacted: bool = True
    deletes_by_start_first: bool = False
    tries_other_directories: bool = False
    counts_pauses: bool = True
    pauses_once: bool = False


RULES = LogRules()
