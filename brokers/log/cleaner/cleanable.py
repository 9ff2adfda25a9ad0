"""Which part of a log can be compacted, and how dirty it is (kafka.log.LogCleanerManager, 2.4; KIP-58, KIP-354)."""

from collections.abc import Sequence

from attrs import frozen

from brokers.log.log import Log
from brokers.log.segments import Segment
from brokers.log.times import max_timestamp_ms
from emulator.protocol.records import NO_TIMESTAMP


@frozen(eq=False)
class LogToClean:
    """A log, and what of it is dirty.

    Attributes:
        first_dirty: everything before it was compacted.
        first_uncleanable: the base offset of the first segment that is left alone.
        clean_bytes, cleanable_bytes: the bytes before ``first_dirty``, and those from there to ``first_uncleanable``.
        is_late: whether a record waits longer than max.compaction.lag.ms.
        now_ms: the time at which this is so, by the broker's clock.
    """

    log: Log
    first_dirty: int
    first_uncleanable: int
    clean_bytes: int
    cleanable_bytes: int
    is_late: bool
    now_ms: int

    @property
    def ratio(self) -> float:
        total = self.clean_bytes + self.cleanable_bytes
        return self.cleanable_bytes / total if total else 0.0

    @property
    def is_due(self) -> bool:
        """Whether it is dirty enough to be compacted, or late."""
        config = self.log.directory.config_of(self.log.tp.topic)
        return bool(self.cleanable_bytes) and (self.is_late or self.ratio > config.min_cleanable_ratio)


def log_to_clean(log: Log, high_watermark: int, now_ms: int) -> LogToClean:
    """The part of ``log`` that can be compacted at the time ``now_ms``."""
    segments = log.segments
    first_dirty = first_dirty_offset(log)
    older, active = segments[:-1], segments[-1]
    dirty = [segment for segment in older if segment.next_offset > first_dirty]
    limit = max(first_dirty, _first_uncleanable_offset(log, dirty, active.base_offset, high_watermark, now_ms))
    first_uncleanable = next((one.base_offset for one in older if one.next_offset > limit), active.base_offset)
    return LogToClean(
        log, first_dirty, first_uncleanable,
        sum(segment.size for segment in segments if segment.base_offset < first_dirty),
        sum(segment.size for segment in dirty if segment.base_offset < first_uncleanable),
        _is_late(log, dirty, now_ms), now_ms,
    )  # fmt: skip


def first_dirty_offset(log: Log) -> int:
    """Where compaction goes on: at the cleaner's checkpoint, unless that is outside the log."""
    checkpoint = log.directory.cleaned.get(log.tp)
    return checkpoint if log.start_offset <= checkpoint <= log.end_offset else log.start_offset


def _first_uncleanable_offset(log: Log, dirty: Sequence[Segment], active: int, high_watermark: int, now_ms: int) -> int:
    limits = [active]
    if log.directory.rules.compacts_stable:
        limits.append(log.last_stable_offset(high_watermark))
    else:
        unstable = log.producers.first_unstable_offset(high_watermark)
        limits += [] if unstable is None else [unstable]
    lag_ms = log.directory.config_of(log.tp.topic).min_compaction_lag_us // 1000
    if lag_ms > 0:
        young = (one.base_offset for one in dirty if _latest_ms(log, one) > now_ms - lag_ms)
        limits += list(young)[:1]
    return min(limits)


def _latest_ms(log: Log, segment: Segment) -> int:
    batches = log.batches[segment.begin : segment.end]
    return max((max_timestamp_ms(batch) for batch in batches if batch.size), default=NO_TIMESTAMP)


def _is_late(log: Log, dirty: Sequence[Segment], now_ms: int) -> bool:
    """Whether the first batch of a dirty segment is older than max.compaction.lag.ms."""
    if not log.directory.rules.compacts_in_time:
        return False
    lag_ms = log.directory.config_of(log.tp.topic).max_compaction_lag_us // 1000
    firsts = (max_timestamp_ms(log.batches[one.begin]) for one in dirty if one.begin < one.end)
    return min((at_ms for at_ms in firsts if at_ms > 0), default=now_ms) < now_ms - lag_ms
