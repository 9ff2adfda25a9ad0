"""The search for records by time (Log.fetchOffsetByTimestamp, LogSegment.findOffsetByTimestamp; 2.3.1)."""

from typing import NamedTuple

from brokers.log.log import Log
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
    return max((max_timestamp_ms(batch) for batch in log.batches), default=NO_TIMESTAMP)


def first_since(log: Log, timestamp_ms: int) -> TimedRecord | None:
    """The first record whose time is ``timestamp_ms`` or later, or None."""
    for batch in log.batches:
        if batch.next_offset > log.start_offset and max_timestamp_ms(batch) >= timestamp_ms:
            found = _in_batch(batch, log.start_offset, timestamp_ms)
            if found is not None:
                return found
    return None


def _in_batch(batch: Batch, start_offset: int, timestamp_ms: int) -> TimedRecord | None:
    """The first such record of the batch. Compressed records are not read: the first record of such a batch is
    returned."""
    begin, epoch = max(batch.base_offset, start_offset), batch.leader_epoch
    if not isinstance(batch, StoredBatch) or batch.append_time_ms != NO_TIMESTAMP:
        return TimedRecord(begin, max_timestamp_ms(batch), epoch)
    if batch.header.compressed:
        return TimedRecord(begin, batch.header.base_timestamp_ms, epoch)
    try:
        for record in read_records(batch.records.read()):
            offset = batch.base_offset + record.offset_delta
            if record.timestamp_ms >= timestamp_ms and offset >= start_offset:
                return TimedRecord(offset, record.timestamp_ms, epoch)
    except ValueError:  # its producer has sent something that no client can read
        return TimedRecord(begin, batch.header.base_timestamp_ms, epoch)
    return None
