"""The segments of a log: runs of batches; only whole segments are deleted.

Only the base offset of each is stored, as in the names of Kafka's files. The rest is computed from the batches, only
when a segment rolls or may be deleted, and for a closed one only once.
"""

from collections.abc import Sequence

from attrs import frozen

from brokers.log.batch_runs import ended, newest_us, pieces
from brokers.log.log_config import RULES, LogConfig, LogRules
from emulator.protocol.types import Batch


@frozen
class Segment:
    """One segment.

    Attributes:
        base_offset, next_offset: the offsets at which it and the following segment begin.
        begin, end: the places of its batches in the log, ``end`` excluded.
        size: the size in bytes.
        newest_us: the largest time of its records (LogSegment.largestTimestamp, 2.3).
    """

    base_offset: int
    next_offset: int
    begin: int
    end: int
    size: int
    newest_us: int


def _begun(batches: Sequence[Batch], offset: int) -> int:
    """The number of batches that begin before ``offset``."""
    count = ended(batches, offset)
    return count + (count < len(batches) and batches[count].base_offset < offset)


def between(base: int, following: int, batches: Sequence[Batch]) -> Segment:
    """The segment from ``base`` up to ``following``."""
    begin, end = _begun(batches, base), _begun(batches, following)
    newest = size = 0
    for piece in pieces(batches, begin, end):
        size += piece.size
        newest = max(newest, newest_us(piece))
    return Segment(base, following, begin, end, size, newest)


def deletable(
    old: Sequence[Segment], config: LogConfig, now_us: int, high_watermark: int, log_start: int, rules: LogRules = RULES
) -> tuple[int, str]:
    """The number of the oldest segments to delete, and the first reason: ``time``, ``size`` or ``start``
    (Log.deleteOldSegments, 2.3).

    Segments that reach beyond the high watermark are kept, and so is an empty active segment.
    """
    allowed = 0
    for segment in old:
        if segment.next_offset > high_watermark or segment.begin == segment.end:
            break
        allowed += 1

    def before_start(count: int) -> int:
        while count < min(allowed, len(old) - 1) and old[count].next_offset <= log_start:
            count += 1
        return count

    def too_old(count: int) -> int:
        while count < allowed and now_us - old[count].newest_us > config.retention_us:
            count += 1
        return count

    def too_much(count: int) -> int:
        excess = sum(segment.size for segment in old[count:]) - config.retention_bytes
        while count < allowed and excess >= old[count].size:
            excess -= old[count].size
            count += 1
        return count

    looks = {"start": before_start} if config.deletes or rules.cuts_compacted else {}
    if config.deletes and config.retention_bytes >= 0:
        looks["size"] = too_much
    if config.deletes and config.retention_us >= 0:
        looks["time"] = too_old
    count, reason = 0, ""
    for name, look in looks.items() if rules.deletes_by_start_first else reversed(looks.items()):
        found = look(count)
        if found > count:
            count, reason = found, reason or name
    return count, reason
