"""The search for records by time (Log.fetchOffsetByTimestamp, LogSegment.findOffsetByTimestamp; 2.3.1)."""

from typing import NamedTuple

from brokers.log.batch_runs import Piece, all_pieces
from brokers.log.log import Log
from emulator.protocol.extents import ExtentPart
from emulator.protocol.records import NO_TIMESTAMP, StoredBatch, read_records
from emulator.protocol.types import Batch


class TimedRecord(NamedTuple):
    """A record's offset, time and leader epoch."""

    offset: int
    timestamp_ms: int
    leader_epoch: int


def max_timestamp_ms(batch: Batch) -> int:
    """The latest time of its records. Those of emulated producers have the time of the append."""
    return batch.max_timestamp_ms if isinstance(batch, StoredBatch) else batch.timestamp_us // 1000


def latest_time_ms(log: Log) -> int:
    """The latest time of any record; NO_TIMESTAMP where there is none."""
    return max(map(_latest_ms, all_pieces(log.batches)), default=NO_TIMESTAMP)


def _latest_ms(piece: Piece) -> int:
    return piece.newest_us // 1000 if isinstance(piece, ExtentPart) else max_timestamp_ms(piece)


def first_since(log: Log, timestamp_ms: int) -> TimedRecord | None:
    """The first record whose time is ``timestamp_ms`` or later, or None. Compaction leaves nothing of some batches."""
    for piece in all_pieces(log.batches):
        if piece.size and piece.next_offset > log.start_offset and _latest_ms(piece) >= timestamp_ms:
            batch = _first_in(piece, log.start_offset, timestamp_ms)
            found = _in_batch(batch, log.start_offset, timestamp_ms)
            if found is not None:
                return found
    return None


def _first_in(piece: Piece, start_offset: int, timestamp_ms: int) -> Batch:
    """The first batch that ends after ``start_offset`` and is as late as ``timestamp_ms``. ``piece`` has one."""
    if not isinstance(piece, ExtentPart):
        return piece
    return piece.batch(max(piece.ended(start_offset), piece.until(timestamp_ms * 1000 - 1)))


def _in_batch(batch: Batch, start_offset: int, timestamp_ms: int) -> TimedRecord | None:
    """The first such record of the batch; the first of all where its compression is not to be had."""
    begin, epoch = max(batch.base_offset, start_offset), batch.leader_epoch
    if not isinstance(batch, StoredBatch) or batch.append_time_ms != NO_TIMESTAMP:
        return TimedRecord(begin, max_timestamp_ms(batch), epoch)
    from emulator.protocol.rewriting import whole_records  # and the packages of compression, which few runs need

    data = batch.records.read()
    try:
        for record in whole_records(data) if batch.header.compressed else read_records(data):
            offset = batch.base_offset + record.offset_delta
            if record.timestamp_ms >= timestamp_ms and offset >= start_offset:
                return TimedRecord(offset, record.timestamp_ms, epoch)
    except ValueError:  # its producer has sent something that no client can read, or the package is not there
        return TimedRecord(begin, batch.header.base_timestamp_ms, epoch)
    return None
