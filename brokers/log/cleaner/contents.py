"""The records of a batch as the log cleaner sees them, and the batch without some of them.

A compacted batch keeps its place: its offsets, leader epoch, id and sequence numbers. One of which nothing is left has
the size 0 and is not sent to clients, as if it were not in the log; replicas go on sharing its place, and a log that is
loaded knows the producers of its batches as the snapshots of Kafka's segments do.
"""

from collections.abc import Collection, Hashable
from typing import Any, NamedTuple

from attrs import evolve

from emulator.protocol.control_batches import ControlBatch
from emulator.protocol.made_up_records import made_up_key, made_up_records
from emulator.protocol.records import (
    COMPRESSION,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    NO_TIMESTAMP,
    InMemory,
    KeyedBatch,
    PlainStoredBatch,
    RecordHeader,
    StoredBatch,
)
from emulator.protocol.rewriting import delete_horizon_ms, emptied, rewritten, whole_records
from emulator.protocol.types import Batch, SequencedBatch

NO_RECORDS = InMemory(b"")


class Uncleanable(Exception):
    """A batch that the log cleaner cannot read."""


class Entry(NamedTuple):
    """One record. ``delta``: its offset, from the batch's base offset. ``key``: None for none. ``has_value``: False for
    a tombstone."""

    delta: int
    key: Hashable
    has_value: bool


def is_marker(batch: Batch) -> bool:
    """Whether it ends a transaction, and has no keys."""
    return isinstance(batch, ControlBatch)


def is_removed(batch: Batch) -> bool:
    """Whether compaction has left nothing of it."""
    return not batch.size


def _bytes(batch: Batch) -> bytes:
    return batch.records.read() if isinstance(batch, StoredBatch) else made_up_records(batch)


def entries(batch: Batch) -> list[Entry]:
    """The records of a batch. Raises: Uncleanable."""
    if batch.corrupt:
        raise Uncleanable(f"the batch at {batch.base_offset} is corrupt")
    if is_removed(batch):
        return []
    if isinstance(batch, KeyedBatch):
        return [Entry(place, *keyed) for place, keyed in zip(batch.places, batch.keys(), strict=True)]
    if not isinstance(batch, StoredBatch):
        return [
            Entry(place, made_up_key(batch.id, place), True) for place in range(batch.next_offset - batch.base_offset)
        ]
    try:
        return [Entry(one.offset_delta, one.key, one.has_value) for one in whole_records(batch.records.read())]
    except ValueError as error:
        raise Uncleanable(f"the batch at {batch.base_offset}: {error}") from error


def horizon_ms(batch: Batch) -> int:
    """The time from which on its tombstones, or its marker, may go; NO_TIMESTAMP: none is set (KIP-534)."""
    if isinstance(batch, KeyedBatch):
        return batch.delete_horizon_ms
    return delete_horizon_ms(batch.records.read()) if isinstance(batch, StoredBatch) and batch.size else NO_TIMESTAMP


def with_records(batch: Batch, deltas: Collection[int], horizon: int) -> Batch:
    """``batch`` with those of its records, at least one, and with a delete horizon or NO_TIMESTAMP. Raises:
    Uncleanable, where a compression is not to be had."""
    if isinstance(batch, KeyedBatch):
        return batch.with_kept(tuple(deltas), horizon)
    data = _bytes(batch)
    try:
        kept = [record for record in whole_records(data) if record.offset_delta in deltas]
        found = rewritten(data, kept, horizon)
    except ValueError as error:
        raise Uncleanable(f"the batch at {batch.base_offset}: {error}") from error
    return _stored(batch, found, len(kept), max(record.timestamp_ms for record in kept))


def without_records(batch: Batch) -> Batch:
    """``batch`` as its header alone, which clients get: it says what its producer's last sequence number is."""
    if isinstance(batch, KeyedBatch):
        return batch.with_kept((), NO_TIMESTAMP)
    data = emptied(_bytes(batch))
    return _stored(batch, data, 0, _header(batch).max_timestamp_ms)


def removed(batch: Batch) -> Batch:
    """``batch`` of which nothing is left but its place."""
    if isinstance(batch, StoredBatch):
        return evolve(batch, size=0, records=NO_RECORDS)
    if not batch.in_extent:
        return evolve(batch, size=0)
    place = batch.base_offset, batch.next_offset, batch.leader_epoch, 0, batch.id
    if isinstance(batch, SequencedBatch):
        return SequencedBatch(
            *place, batch.producer_id, batch.base_sequence, timestamp_us=batch.timestamp_us,
            producer_epoch=batch.producer_epoch,
        )  # fmt: skip
    return Batch(*place, timestamp_us=batch.timestamp_us)


def _header(batch: Batch) -> RecordHeader:
    if isinstance(batch, StoredBatch):
        return batch.header
    at_ms = batch.timestamp_us // 1000
    return RecordHeader(0, batch.next_offset - batch.base_offset, at_ms, at_ms)


def _stored(batch: Batch, data: bytes, count: int, latest_ms: int) -> StoredBatch:
    header = evolve(_header(batch), count=count, max_timestamp_ms=latest_ms)
    if not count:
        header = evolve(header, attributes=header.attributes & ~COMPRESSION)
    if isinstance(batch, StoredBatch):
        return evolve(batch, size=len(data), header=header, records=InMemory(data))
    known: Any = batch if isinstance(batch, SequencedBatch) else None
    kind: type[StoredBatch] = PlainStoredBatch if known is None else StoredBatch
    return kind(
        batch.base_offset, batch.next_offset, batch.leader_epoch, len(data), batch.id,
        NO_PRODUCER_ID if known is None else known.producer_id, NO_SEQUENCE if known is None else known.base_sequence,
        header, InMemory(data), timestamp_us=batch.timestamp_us,
        producer_epoch=-1 if known is None else known.producer_epoch,
    )  # fmt: skip
