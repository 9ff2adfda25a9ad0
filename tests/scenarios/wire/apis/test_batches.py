"""Batches as they leave for a client: those of real producers, of emulated ones, damaged ones, and with other times."""

import pytest

from emulator.protocol.records import InMemory, PlainStoredBatch, RecordHeader, read_records, write_records
from emulator.protocol.types import Batch, corrupted
from scenarios.wire.apis.fetch import in_bytes
from scenarios.wire.codec.records import RefusedRecords, read_batches


def stored(append_time_ms: int = -1) -> PlainStoredBatch:
    data = write_records([(None, b"a"), (None, b"b")], 1000)
    return PlainStoredBatch(
        7, 9, 3, len(data), 1, -1, -1, RecordHeader(0, 2, 1000, 1000), InMemory(data), append_time_ms
    )


def test_the_leaders_offset_and_epoch_are_in_the_bytes() -> None:
    [header] = read_batches(in_bytes([stored()]))
    assert (header.base_offset, header.last_offset, header.leader_epoch) == (7, 8, 3)
    assert (header.max_timestamp, header.is_log_append_time) == (1000, False)


def test_the_time_of_the_append_is_in_the_bytes() -> None:
    [header] = read_batches(in_bytes([stored(5000)]))
    assert (header.base_timestamp, header.max_timestamp, header.is_log_append_time) == (1000, 5000, True)


def test_an_emulated_batch_has_as_many_records_and_about_as_many_bytes() -> None:
    data = in_bytes([Batch(10, 110, 2, 20_000, 5, timestamp_us=3_000_000)])
    [header] = read_batches(data)
    assert (header.base_offset, header.count, header.max_timestamp) == (10, 100, 3000)
    assert abs(len(data) - 20_000) < 1000
    assert len(list(read_records(data))) == 100


def test_a_damaged_batch_has_another_checksum() -> None:
    with pytest.raises(RefusedRecords, match="another checksum"):
        read_batches(in_bytes([corrupted(Batch(0, 5, 0, 500, 1))]))
