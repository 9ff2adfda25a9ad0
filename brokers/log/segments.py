"""The segments of a log: runs of batches, of which only whole ones are deleted.

Only where each begins is written down, as the names of Kafka's files have it; the rest follows from the batches, and is
asked for only when a segment ends or one may go.
"""

from bisect import bisect_left
from collections.abc import Sequence

from attrs import frozen

from brokers.log.config import LogConfig
from emulator.protocol.types import Batch


@frozen
class Segment:
    """One segment.

    Attributes:
        begin, end: the places of its batches, the second one past the last.
        next_offset: where the following one begins, or would.
        newest_us: when its newest batch was appended by its leader.
    """

    base_offset: int
    next_offset: int
    begin: int
    end: int
    size: int
    newest_us: int


def _base_offset(batch: Batch) -> int:
    return batch.base_offset


def segments(bases: Sequence[int], batches: Sequence[Batch], end_offset: int) -> list[Segment]:
    """The segments that begin at ``bases``, oldest first; the last one is active."""
    found: list[Segment] = []
    begin = 0
    for base, following in zip(bases, (*bases[1:], end_offset), strict=True):
        end = bisect_left(batches, following, lo=begin, key=_base_offset)
        inside = batches[begin:end]
        newest = max((batch.timestamp_us for batch in inside), default=0)
        found.append(Segment(base, following, begin, end, sum(batch.size for batch in inside), newest))
        begin = end
    return found


def deletable(
    old: Sequence[Segment], config: LogConfig, now_us: int, high_watermark: int, log_start: int
) -> tuple[int, str]:
    """How many of the oldest segments may go, and why: ``time``, ``size`` or ``start`` (Log.deleteOldSegments, 2.3).

    What is not below the high watermark stays, and an empty active segment.
    """
    allowed = 0
    for segment in old:
        if segment.next_offset > high_watermark or segment.begin == segment.end:
            break
        allowed += 1
    count, reason = 0, ""
    if config.retention_us >= 0:
        while count < allowed and now_us - old[count].newest_us > config.retention_us:
            count, reason = count + 1, "time"
    if config.retention_bytes >= 0:
        excess = sum(segment.size for segment in old[count:]) - config.retention_bytes
        while count < allowed and excess >= old[count].size:
            excess -= old[count].size
            count, reason = count + 1, reason or "size"
    while count < min(allowed, len(old) - 1) and old[count].next_offset <= log_start:
        count, reason = count + 1, reason or "start"
    return count, reason
