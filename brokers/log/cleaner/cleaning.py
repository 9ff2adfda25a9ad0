"""One cleaning of a log (kafka.log.Cleaner, 2.4; from 3.1 on with KIP-534): the last offset of each key in its dirty
part, then every segment up to there without the records that have a later one."""

from collections.abc import Collection, Hashable, Iterator, Sequence

from attrs import define, field, frozen

from brokers.log.cleaner.cleaned_transactions import CleanedTransactions
from brokers.log.cleaner.contents import (
    Entry,
    entries,
    horizon_ms,
    is_marker,
    is_removed,
    removed,
    with_records,
    without_records,
)
from brokers.log.log import Log
from brokers.log.segments import Segment
from emulator.protocol.records import HEADER_BYTES, NO_TIMESTAMP
from emulator.protocol.types import Batch

MOST_OFFSETS = (1 << 31) - 1
"""A segment has no more offsets than fit into its index."""


@frozen
class Cleaned:
    """The outcome of a cleaning.

    Attributes:
        from_offset, next_offset: the dirty part that was compacted; the next cleaning goes on at ``next_offset``.
        batches, records: the number of batches that were looked at, and of records that were removed.
        bytes_before, bytes_after: the size of the segments up to ``next_offset``.
    """

    from_offset: int
    next_offset: int
    batches: int
    records: int
    bytes_before: int
    bytes_after: int


def clean(log: Log, first_dirty: int, end: int, now_ms: int) -> Cleaned:
    """Compact ``log`` up to ``end``, where one of its segments begins.

    Args:
        first_dirty: everything before it was compacted.
        now_ms: the time by the broker's clock.

    Raises:
        Uncleanable: a batch cannot be read. The log is as before.
        DiskError: the disk refuses.
    """
    return _Cleaning(log, first_dirty, end, now_ms).run()


@define(eq=False)
class _Cleaning:
    log: Log
    first_dirty: int
    end: int
    now_ms: int
    last_offsets: dict[Hashable, int] = field(factory=dict)
    gone: int = 0
    _last_records: dict[int, tuple[int | None, int]] = field(factory=dict)

    @property
    def _retention_ms(self) -> int:
        return self.log.directory.config_of(self.log.tp.topic).delete_retention_us // 1000

    def run(self) -> Cleaned:
        segments = [segment for segment in self.log.segments if segment.base_offset < self.end]
        self._map_last_offsets(segments)
        self._last_records = self.log.producers.last_records()
        transactions = self._transactions(segments)
        legacy_ms = self._tombstones_go_until(segments)
        kept: list[Batch] = []
        for segment in segments:
            stay = _last_modified_ms(segment) > legacy_ms
            kept += [self._cleaned(batch, transactions, stay) for batch in self._batches(segment)]
        sizes = [sum(batch.size for batch in kept[one.begin : one.end]) for one in segments]
        before = sum(segment.size for segment in segments)
        most = self.log.directory.config_of(self.log.tp.topic).segment_bytes
        bases = (*merged(segments, most), *(base for base in self.log.bases if base >= self.end))
        self.log.compacted(kept, bases, transactions.dropped)
        return Cleaned(self.first_dirty, self.end, len(kept), self.gone, before, sum(sizes))

    def _batches(self, segment: Segment) -> Sequence[Batch]:
        found: Sequence[Batch] = self.log.batches[segment.begin : segment.end]
        return found

    def _map_last_offsets(self, segments: Sequence[Segment]) -> None:
        """Find the last offset of each key from ``first_dirty`` on. Records of aborted transactions do not count."""
        dirty = [segment for segment in segments if segment.next_offset > self.first_dirty]
        transactions = self._transactions(dirty)
        for segment in dirty:
            for batch in self._batches(segment):
                if is_removed(batch):
                    continue
                if is_marker(batch):
                    transactions.marker_read(batch)  # type: ignore[arg-type]
                elif not transactions.batch_read(batch):
                    self._map(batch)

    def _transactions(self, segments: Sequence[Segment]) -> CleanedTransactions:
        """The aborted transactions whose markers are in ``segments`` or come later: a marker that is gone with its
        segment ends nothing any more (Log.collectAbortedTransactions, 2.3.1)."""
        begin = segments[0].base_offset if segments else self.end
        return CleanedTransactions.of(self.log.producers.aborted_from(begin, self.end))

    def _map(self, batch: Batch) -> None:
        for delta, key, _has_value in entries(batch):
            offset = batch.base_offset + delta
            if key is not None and offset >= self.first_dirty:
                self.last_offsets[key] = offset

    def _tombstones_go_until(self, segments: Sequence[Segment]) -> int:
        """The time (ms): tombstones and markers go from the segments that were last modified then or before. It is
        delete.retention.ms before the last change of the last segment that was compacted before."""
        clean = [segment for segment in segments if segment.base_offset < self.first_dirty]
        return _last_modified_ms(clean[-1]) - self._retention_ms if clean else 0

    # -- one batch ----------------------------------------------------------------------------------------------------

    def _cleaned(self, batch: Batch, transactions: CleanedTransactions, deletes_stay: bool) -> Batch:
        if is_removed(batch):
            return batch
        if is_marker(batch):
            return self._cleaned_marker(batch, transactions, deletes_stay)
        discards = transactions.batch_read(batch)
        found = entries(batch)
        horizon = self._horizon_ms(batch)
        if self.log.directory.rules.sets_delete_horizons:
            deletes_stay = horizon == NO_TIMESTAMP or self.now_ms < horizon
        kept = [] if discards else [one for one in found if self._stays(batch, one, deletes_stay)]
        self.gone += len(found) - len(kept)
        if not kept:
            return without_records(batch) if found and self._is_last(batch) else self._without(batch, found)
        sets = horizon == NO_TIMESTAMP and self._sets_horizon(any(not one.has_value for one in kept))
        if len(kept) == len(found) and not sets:
            return batch
        return with_records(batch, _deltas(kept), self.now_ms + self._retention_ms if sets else horizon)

    def _without(self, batch: Batch, found: Sequence[Entry]) -> Batch:
        """Nothing is left of ``batch``, which may have been emptied before: then it stays while it is its producer's
        last one."""
        return batch if not found and self._is_last(batch) else removed(batch)

    def _cleaned_marker(self, marker: Batch, transactions: CleanedTransactions, deletes_stay: bool) -> Batch:
        if marker.size <= HEADER_BYTES:  # it was emptied before
            return marker if self._is_last(marker) else removed(marker)
        needless = transactions.marker_read(marker)  # type: ignore[arg-type]
        horizon = self._horizon_ms(marker)
        if self.log.directory.rules.sets_delete_horizons:
            deletes_stay = horizon == NO_TIMESTAMP or self.now_ms < horizon
        if needless and not deletes_stay:
            return without_records(marker) if self._is_last(marker) else removed(marker)
        if needless and horizon == NO_TIMESTAMP and self._sets_horizon(True):
            return with_records(marker, (0,), self.now_ms + self._retention_ms)
        return marker

    def _horizon_ms(self, batch: Batch) -> int:
        return horizon_ms(batch) if self.log.directory.rules.sets_delete_horizons else NO_TIMESTAMP

    def _sets_horizon(self, has_deletes: bool) -> bool:
        return has_deletes and self.log.directory.rules.sets_delete_horizons

    def _stays(self, batch: Batch, entry: Entry, deletes_stay: bool) -> bool:
        if entry.key is None:
            return False
        last = self.last_offsets.get(entry.key, -1)
        return batch.base_offset + entry.delta >= last and (entry.has_value or deletes_stay)

    def _is_last(self, batch: Batch) -> bool:
        """Whether it is the last batch of a producer that the log knows: it stays, even if it is empty, so that what
        its sequence number and epoch are is known."""
        if not batch.sequenced:
            return False
        known = self._last_records.get(batch.producer_id)  # type: ignore[attr-defined]
        if known is None:
            return False
        last, epoch = known
        if last is None:
            return is_marker(batch) and batch.producer_epoch == epoch  # type: ignore[attr-defined]
        return batch.next_offset - 1 == last


def _deltas(kept: Sequence[Entry]) -> Collection[int]:
    return {one.delta: None for one in kept}.keys()


def _last_modified_ms(segment: Segment) -> int:
    return segment.newest_us // 1000


def merged(segments: Sequence[Segment], most_bytes: int) -> Iterator[int]:
    """The base offsets of the segments that ``segments`` become: neighbours that are no larger than one together, by
    their sizes before (Cleaner.groupSegmentsBySize)."""
    first, size = 0, 0
    for place, segment in enumerate(segments):
        fits = size + segment.size <= most_bytes and segment.next_offset - 1 - first <= MOST_OFFSETS
        if place and fits:
            size += segment.size
        else:
            first, size = segment.base_offset, segment.size
            yield first
