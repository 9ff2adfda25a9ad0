"""Record batches: made by other libraries' builders and read by us, and the other way round."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from aiokafka.record.default_records import DefaultRecordBatchBuilder as AiokafkaBuilder
from hypothesis import given
from hypothesis import strategies as st
from kafka.record.default_records import DefaultRecordBatchBuilder as KafkaPythonBuilder
from kafka.record.memory_records import MemoryRecords
from kio.records.readers import read_batch

from emulator.protocol.errors import Errors
from emulator.protocol.records import read_records, write_records
from scenarios.wire.codec.records import (
    BatchHeader,
    RefusedRecords,
    checked,
    headers,
    placed,
    read_batches,
    read_produced,
)

BUILDERS = {"aiokafka": AiokafkaBuilder, "kafka-python": KafkaPythonBuilder}
Pair = tuple[bytes | None, bytes | None]
PAIRS: list[Pair] = [(b"k", b"v" * 100), (None, None)]
TIME = 1_700_000_000_000


def ours(pairs: list[Pair], timestamp_ms: int = TIME) -> bytes:
    return checked(write_records(pairs, timestamp_ms))


ONE = ours([(b"key", b"value")])


def built(peer: str, compression: int = 0, pairs: list[Pair] = PAIRS, **producer: int) -> bytes:
    """A batch as a client's own builder makes it; each record is a millisecond later than the one before."""
    wanted = {"is_transactional": 0, "producer_id": -1, "producer_epoch": -1, "base_sequence": -1} | producer
    builder: Any = BUILDERS[peer](magic=2, compression_type=compression, batch_size=1_000_000, **wanted)
    for offset, (key, value) in enumerate(pairs):
        builder.append(offset, TIME + offset, key, value, [("h", b"1"), ("n", None)])
    return bytes(builder.build())


@pytest.mark.parametrize("peer", BUILDERS)
@pytest.mark.parametrize(("number", "compression"), list(enumerate(["none", "gzip", "snappy", "lz4", "zstd"])))
def test_the_header_of_a_batch_of_a_client(peer: str, number: int, compression: str) -> None:
    batch = built(peer, number, PAIRS * 25, is_transactional=1, producer_id=7, producer_epoch=2, base_sequence=40)
    [header] = read_batches(batch)
    assert header == read_produced(memoryview(batch), 7)
    assert (header.at, header.size, header.end) == (0, len(batch), len(batch))
    assert (header.compression, header.is_transactional, header.is_control) == (compression, True, False)
    assert (header.producer_id, header.producer_epoch, header.base_sequence, header.last_sequence) == (7, 2, 40, 89)
    assert (header.base_offset, header.last_offset, header.count) == (0, 49, 50)
    assert header.max_timestamp == TIME + 49
    assert not header.is_log_append_time


@pytest.mark.parametrize("peer", BUILDERS)
def test_the_records_of_a_client(peer: str) -> None:
    rows = [(each.offset_delta, each.timestamp_ms, each.key, each.value) for each in read_records(built(peer))]
    assert rows == [(i, TIME + i, *pair) for i, pair in enumerate(PAIRS)]


MAYBE = st.none() | st.binary(max_size=200)


@given(
    st.lists(st.tuples(MAYBE, MAYBE), min_size=1, max_size=8),
    st.integers(0, 2**47),
    st.integers(0, 2**62),
    st.integers(0, 2**31 - 1),
)
def test_two_other_libraries_read_what_we_write(pairs: list[Pair], time: int, offset: int, epoch: int) -> None:
    batch = placed(ours(pairs, time), offset, epoch)
    theirs = next(iter(MemoryRecords(batch)))
    assert theirs.validate_crc()
    rows = [(each.key, each.value, each.timestamp, each.offset) for each in theirs]
    assert rows == [(key, value, time, offset + i) for i, (key, value) in enumerate(pairs)]
    also, size = read_batch(batch, 0)
    assert size == len(batch)
    assert [(each.key, each.value) for each in also.records] == pairs
    [header] = read_batches(batch)
    assert (header.base_offset, header.leader_epoch, header.last_offset) == (offset, epoch, offset + len(pairs) - 1)


def test_several_batches_are_found_one_after_the_other() -> None:
    field = placed(built("aiokafka"), 10, 3) + placed(ONE, 12, 4)
    first, second = read_batches(field)
    assert (first.at, first.base_offset, first.leader_epoch, first.count) == (0, 10, 3, 2)
    assert (second.at, second.base_offset, second.leader_epoch, second.end) == (first.end, 12, 4, len(field))
    assert field[second.at :] == placed(ONE, 12, 4)
    assert read_batches(b"") == []


def patched(at: int, value: int, size: int) -> bytes:
    """``ONE`` with a number of its header replaced, and the checksum of what it then has."""
    data = bytearray(ONE)
    data[at : at + size] = (value % (1 << 8 * size)).to_bytes(size, "big")
    return checked(data)


REFUSALS: list[tuple[Callable[[], bytes | None], int, Errors, str]] = [
    (lambda: None, 9, Errors.INVALID_RECORD, "0 record batches"),
    (lambda: ONE + ONE, 9, Errors.INVALID_RECORD, "2 record batches"),
    (lambda: ONE[:-1], 9, Errors.CORRUPT_MESSAGE, "has a length of"),
    (lambda: ONE[:60], 9, Errors.CORRUPT_MESSAGE, "60 bytes at byte 0 are less than"),
    (lambda: ONE[:-1] + b"\1", 9, Errors.CORRUPT_MESSAGE, "another checksum"),
    (lambda: patched(8, 10, 4), 9, Errors.CORRUPT_MESSAGE, "has a length of 10 bytes"),
    (lambda: patched(8, -5, 4), 9, Errors.CORRUPT_MESSAGE, "has a length of -5 bytes"),
    (lambda: patched(16, 1, 1), 9, Errors.INVALID_RECORD, "message format v1"),
    (lambda: patched(16, 3, 1), 9, Errors.CORRUPT_MESSAGE, "unknown magic 3"),
    (lambda: patched(16, -1, 1), 9, Errors.CORRUPT_MESSAGE, "unknown magic -1"),
    (lambda: patched(0, 5, 8), 9, Errors.INVALID_RECORD, "the base offset is 5"),
    (lambda: patched(21, 5, 2), 9, Errors.UNKNOWN_SERVER_ERROR, "unknown compression 5"),
    (lambda: patched(21, 4, 2), 6, Errors.UNSUPPORTED_COMPRESSION_TYPE, "zstd in a Produce request of version 6"),
    (lambda: patched(21, 0x20, 2), 9, Errors.INVALID_RECORD, "control records"),
    (lambda: patched(23, 3, 4), 9, Errors.INVALID_RECORD, "1 records, but the last offset delta is 3"),
    (lambda: patched(57, -1, 4), 9, Errors.INVALID_RECORD, "-1 records"),
    (
        lambda: patched(43, 9, 8),
        9,
        Errors.INVALID_RECORD,
        "a record batch with a producer id has the negative sequence number -1",
    ),
]


@pytest.mark.parametrize(("data", "version", "error", "problem"), REFUSALS)
def test_a_producers_batch_is_refused_as_by_a_broker(
    data: Callable[[], bytes | None], version: int, error: Errors, problem: str
) -> None:
    with pytest.raises(RefusedRecords, match=problem) as caught:
        read_produced(data(), version)
    assert caught.value.error is error


def test_sequence_numbers_begin_again_after_the_largest() -> None:
    batch = built("aiokafka", pairs=PAIRS * 2, producer_id=1, producer_epoch=0, base_sequence=0x7FFFFFFE)
    assert next(headers(batch)).last_sequence == 1


@given(st.data())
def test_damaged_batches_are_refused_and_nothing_else(data: st.DataObject) -> None:
    batch = bytearray(ours(PAIRS))
    for _ in range(data.draw(st.integers(1, 4))):
        batch[data.draw(st.integers(0, len(batch) - 1))] = data.draw(st.integers(0, 255))
    with suppress(RefusedRecords):
        assert all(isinstance(header, BatchHeader) for header in headers(bytes(batch)))
    with suppress(RefusedRecords):
        read_produced(bytes(batch), 9)
