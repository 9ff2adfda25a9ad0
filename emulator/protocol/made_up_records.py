"""The records of emulated producers' batches, which have none: as many as a batch's count says, with about the batch's
size together.

Their keys are made up, too, so that logs of them can be compacted: batches whose ids are the same modulo ``KEYS`` have
the same keys, one for each of their records.
"""

from emulator.protocol.records import write_records
from emulator.protocol.types import Batch

KEYS = 100
"""The number of different batches, by their keys."""
_RECORD_OVERHEAD = 12
"""The approximate size of a record, apart from its key and its value."""


def made_up_key(batch_id: int, place: int) -> bytes:
    """The key of the record ``place`` of an emulated producer's batch."""
    return b"%d-%d" % (batch_id % KEYS, place)


def made_up_records(batch: Batch) -> bytes:
    """The bytes of a batch of an emulated producer: values of zeros."""
    count = batch.next_offset - batch.base_offset
    keys = [made_up_key(batch.id, place) for place in range(count)]
    left = batch.size // count - _RECORD_OVERHEAD
    records = [(key, bytes(max(0, left - len(key)))) for key in keys]
    return write_records(records, batch.timestamp_us // 1000)
