"""One cleaning of a log, judged by the log's batches before and after it (kafka.log.Cleaner, 1.1 to 3.9).

What a record is worth is found here from the log alone: its transaction by the marker that follows it, its key by the
record. The cleaner's own map of keys, index of transactions and checkpoint are not asked.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any, NamedTuple

from attrs import define, field

from brokers.log.cleaner.contents import Entry, Uncleanable, entries, horizon_ms, is_marker
from brokers.log.times import max_timestamp_ms
from emulator.protocol.records import HEADER_BYTES, NO_TIMESTAMP
from emulator.protocol.shown import RecordsCompacted
from emulator.protocol.types import Batch
from scenarios.observe.findings.compaction_facts import Compacts

OPEN, COMMITTED, ABORTED = "open", "committed", "aborted"


class Wrong(NamedTuple):
    """Something that a cleaning must not do."""

    part: Compacts
    offset: int
    why: str


Records = dict[int, tuple[Entry, int]]
"""Records by offset, each with the place of its batch in the log."""


@define(eq=False)
class Cleaning:
    """A cleaning.

    Args:
        event: its batches before and after.
        committed: the end of what is committed in the partition.
        start: the start of the log.

    Attributes:
        fates: of each batch before it, whether its records are committed; those of no transaction are.
        of_marker: the places of the batches that each marker ends, by its place.
    """

    event: RecordsCompacted
    committed: int
    start: int
    fates: list[str] = field(init=False)
    of_marker: dict[int, list[int]] = field(factory=dict)
    _now_ms: int = field(init=False)
    """The latest time that the broker's clock or any batch shows."""

    def __attrs_post_init__(self) -> None:
        going_on: dict[int, list[int]] = {}
        self.fates = [COMMITTED] * len(self.event.before)
        self._now_ms = max((self.event.now_ms, *(one.timestamp_us // 1000 for one in self.event.before)))
        for place, batch in enumerate(self.event.before):
            known: Any = batch
            if is_marker(batch) and batch.size <= HEADER_BYTES:
                continue  # it ends nothing in the log of a replica that has copied it so
            if is_marker(batch):
                ended = self.of_marker[place] = going_on.pop(known.producer_id, [])
                for one in ended:
                    self.fates[one] = COMMITTED if known.committed else ABORTED
            elif batch.transactional:
                going_on.setdefault(known.producer_id, []).append(place)
                self.fates[place] = OPEN

    def wrongs(self) -> Iterator[Wrong]:
        """The things that it has done wrong. Nothing more is looked at where a batch has another place, or cannot be
        read."""
        end, active = self.event.next_offset, self.event.active
        moved = list(self._moved())
        yield from moved
        if end > active:
            yield Wrong(Compacts.WHAT_IS_CLOSED, active, "the segment was still written to")
        if moved:
            return
        try:
            before, after = self._records()
        except Uncleanable:
            return
        yield from self._other(before, after)
        yield from self._lost(before, after)
        yield from self._left(after)
        yield from self._markers(after)
        yield from self._producers()

    def _moved(self) -> Iterator[Wrong]:
        for was, now in zip(self.event.before, self.event.after, strict=False):
            if _place(was) != _place(now):
                yield Wrong(Compacts.PLACES, was.base_offset, f"the batch is that from {now.base_offset} now")
                return
        if len(self.event.before) != len(self.event.after):
            offset = min(self.event.before, self.event.after, key=len)[-1].next_offset
            yield Wrong(Compacts.PLACES, offset, "the log has more batches, or fewer")

    def _records(self) -> tuple[Records, Records]:
        """The records that are compacted, by offset, before and after it. Raises: Uncleanable."""
        before: Records = {}
        after: Records = {}
        for place, (was, now) in enumerate(zip(self.event.before, self.event.after, strict=True)):
            records = self._records_of(was, place)
            before |= records
            after |= records if now is was else self._records_of(now, place)
        return before, after

    def _records_of(self, batch: Batch, place: int) -> Records:
        if batch.base_offset >= self.event.next_offset or is_marker(batch):
            return {}
        base = batch.base_offset
        return {base + one.delta: (one, place) for one in entries(batch)}

    def _other(self, before: Records, after: Records) -> Iterator[Wrong]:
        for offset, record in after.items():
            if before.get(offset) != record:
                yield Wrong(Compacts.PLACES, offset, "the record is another one than before")
        for was, now in zip(self.event.before, self.event.after, strict=True):
            if was.base_offset >= self.event.next_offset and was is not now:
                yield Wrong(Compacts.WHAT_IS_CLOSED, was.base_offset, "what comes after that is another batch now")

    # -- what is gone -------------------------------------------------------------------------------------------------

    def _lost(self, before: Records, after: Records) -> Iterator[Wrong]:
        if before.keys() == after.keys():
            return
        last = self._last_of_each(before)
        for offset, (record, place) in before.items():
            fate = self.fates[place]
            if offset in after or fate == ABORTED:
                continue
            if fate == OPEN:
                if offset >= self.start:  # none is open before that (Log.updateFirstUnstableOffset, 0.11)
                    yield Wrong(Compacts.WHAT_IS_CLOSED, offset, "the record's transaction is open, and it is gone")
            elif record.key is not None:
                yield from self._gone(offset, record, place, last[record.key])

    def _last_of_each(self, before: Records) -> dict[Hashable, tuple[int, int]]:
        """By key, the offset of the last record that counts, and of the last of those that are committed."""
        found: dict[Hashable, tuple[int, int]] = {}
        for offset, (record, place) in before.items():
            if self.fates[place] == COMMITTED:
                sure = offset if offset < self.committed else found.get(record.key, (-1, -1))[1]
                found[record.key] = offset, sure
        return found

    def _gone(self, offset: int, record: Entry, place: int, last: tuple[int, int]) -> Iterator[Wrong]:
        """A record that is gone: for a later one of its key, or as a tombstone that is old enough."""
        latest, sure = last
        if offset == latest and record.has_value:
            yield Wrong(Compacts.LAST_RECORDS, offset, f"the last record of key {record.key!r} is gone")
        elif offset == latest and not self._is_old(place):
            why = f"the tombstone of key {record.key!r} is gone after {self._age_ms(place)} ms"
            yield Wrong(Compacts.TOMBSTONES, offset, why)
        elif offset == sure and offset < latest:
            why = f"the last committed record of key {record.key!r} is gone for that at {latest}"
            yield Wrong(Compacts.COMMITTED, offset, why)

    def _is_old(self, place: int) -> bool:
        """Whether a tombstone or marker has been there for delete.retention.ms, or its delete horizon is past."""
        horizon = horizon_ms(self.event.before[place])
        if horizon != NO_TIMESTAMP:
            return horizon <= self.event.now_ms
        return self._age_ms(place) >= self.event.retention_ms

    def _age_ms(self, place: int) -> int:
        batch = self.event.before[place]
        return self._now_ms - min(max_timestamp_ms(batch), batch.timestamp_us // 1000)

    def _markers(self, after: Records) -> Iterator[Wrong]:
        left = {place for _, place in after.values()}
        for marker, places in self.of_marker.items():
            was, now = self.event.before[marker], self.event.after[marker]
            if not (was.size > HEADER_BYTES >= now.size):
                continue
            if not left.isdisjoint(places):
                yield Wrong(Compacts.MARKERS, was.base_offset, "the marker is gone, and records that it decides stay")
            elif not self._is_old(marker):
                yield Wrong(Compacts.TOMBSTONES, was.base_offset, f"the marker is gone after {self._age_ms(marker)} ms")

    def _producers(self) -> Iterator[Wrong]:
        """The last batches of producers: those of an epoch that a marker has ended are known no more."""
        last: dict[int, int] = {}
        for place, batch in enumerate(self.event.before):
            known: Any = batch
            if is_marker(batch):
                at = last.get(known.producer_id)
                if at is not None and known.producer_epoch != self.event.before[at].producer_epoch:  # type: ignore[attr-defined]
                    del last[known.producer_id]
            elif batch.sequenced and known.base_sequence >= 0:
                last[known.producer_id] = place
        for producer_id, place in last.items():
            was, now = self.event.before[place], self.event.after[place]
            if was.size and not now.size and was.next_offset > self.start:
                yield Wrong(Compacts.PRODUCERS, was.base_offset, f"the last batch of producer {producer_id} is gone")

    # -- what is left -------------------------------------------------------------------------------------------------

    def _left(self, after: Records) -> Iterator[Wrong]:
        """The records that should be gone, now or since an earlier cleaning. The cleaner looks for no keys before the
        start of the log, which may be within a segment."""
        last = {record.key: offset for offset, (record, place) in after.items() if self.fates[place] == COMMITTED}
        for offset, (record, place) in after.items():
            later = last.get(record.key, offset)
            if self.fates[place] == COMMITTED and later != offset and later >= self.start:
                why = f"a record of key {record.key!r} stays, and there is one at {later}"
                yield Wrong(Compacts.ONE_EACH, offset, why)


def _place(batch: Batch) -> tuple[int, int, int, int]:
    return batch.base_offset, batch.next_offset, batch.leader_epoch, batch.id
