"""Record batches of format v2 (magic 2, KIP-98), as producers send them: 61 bytes of header, and records.

The records stay as they are, compressed or not. A broker writes two fields of the header when it appends a batch, the
base offset and the leader epoch; neither is covered by the checksum.
"""

from __future__ import annotations

from collections.abc import Iterator
from struct import Struct
from typing import Final

from attrs import define

from emulator.protocol.errors import Errors
from emulator.protocol.records import (
    APPEND_TIME,
    COMPRESSION,
    CONTROL,
    HEADER,
    LENGTH_ENDS,
    MAGIC,
    NO_PRODUCER_ID,
    TRANSACTIONAL,
)
from scenarios.wire.codec.checksum import crc32c

CRC_AT, CHECKED_FROM = 17, 21
"""The places of the checksum, and of the first byte that it covers: the attributes."""

COMPRESSIONS: Final = ("none", "gzip", "snappy", "lz4", "zstd")
"""The compressions by their number in a batch's attributes."""

_CRC: Final = Struct(">I")
_PLACE: Final = Struct(">qii")
_OLD: Final = Struct(">qiIb")
"""The first fields of a message of format v0 or v1: offset, length, checksum, magic."""


class RefusedRecords(ValueError):
    """The records field of a request cannot be appended by a broker.

    Attributes:
        error: the code of the partition's response.
    """

    def __init__(self, error: Errors, problem: str) -> None:
        super().__init__(problem)
        self.error = error


@define  # frozen ones take three times as long to make
class BatchHeader:
    """The header of a batch, and the place of the batch.

    Attributes:
        at: the start of the batch in the field.
        size: its bytes, header included.
        base_offset: the value in the bytes; a producer sends 0.
        leader_epoch: the value in the bytes; a producer sends -1.
        crc: the checksum of all that follows it.
        attributes: compression, timestamp type, transactional and control bit.
        last_offset_delta: the difference between the last record's offset and the base offset.
        base_timestamp: the timestamp of the first record, in milliseconds.
        max_timestamp: the latest timestamp, in milliseconds.
        producer_id: -1 for a producer that is not idempotent.
        producer_epoch: -1 likewise.
        base_sequence: the sequence number of the first record; -1 likewise.
        count: the number of records.
    """

    at: int
    size: int
    base_offset: int
    leader_epoch: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp: int
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    count: int

    @property
    def end(self) -> int:
        """The end of the batch in the field."""
        return self.at + self.size

    @property
    def last_offset(self) -> int:
        return self.base_offset + self.last_offset_delta

    @property
    def compression(self) -> str:
        """The name of the compression; ``read_batches`` refuses unknown numbers."""
        return COMPRESSIONS[self.attributes & COMPRESSION]

    @property
    def is_log_append_time(self) -> bool:
        return bool(self.attributes & APPEND_TIME)

    @property
    def is_transactional(self) -> bool:
        return bool(self.attributes & TRANSACTIONAL)

    @property
    def is_control(self) -> bool:
        return bool(self.attributes & CONTROL)

    @property
    def has_producer_id(self) -> bool:
        """Whether an idempotent producer sent it."""
        return self.producer_id > NO_PRODUCER_ID

    @property
    def last_sequence(self) -> int:
        """The sequence number of the last record. After 2147483647 comes 0 (DefaultRecordBatch.incrementSequence)."""
        if self.base_sequence < 0:
            return self.base_sequence
        return (self.base_sequence + self.last_offset_delta) & 0x7FFFFFFF


def headers(records: bytes | memoryview) -> Iterator[BatchHeader]:
    """The header of each batch in a field that a broker has checked before: the bytes of a log, or of a response."""
    at, end = 0, len(records)
    while at < end:
        header = _header(records, at, end)
        yield header
        at = header.end


def read_batches(records: bytes | memoryview) -> list[BatchHeader]:
    """The batches of a field, with lengths and checksums as they should be.

    Raises:
        RefusedRecords: CORRUPT_MESSAGE for bytes that are no batch or have another checksum, INVALID_RECORD for the
            message formats v0 and v1, UNKNOWN_SERVER_ERROR for a compression that Kafka does not have.
    """
    found = list(headers(records))
    view = memoryview(records)
    for header in found:
        if crc32c(view[header.at + CHECKED_FROM : header.end]) != header.crc:
            raise RefusedRecords(Errors.CORRUPT_MESSAGE, f"the record batch at byte {header.at} has another checksum")
        if header.attributes & COMPRESSION >= len(COMPRESSIONS):
            problem = (
                f"the record batch at byte {header.at} has the unknown compression {header.attributes & COMPRESSION}"
            )
            raise RefusedRecords(Errors.UNKNOWN_SERVER_ERROR, problem)
    return found


def read_produced(records: bytes | memoryview | None, version: int) -> BatchHeader:
    """The one batch that a Produce request may have for a partition, checked as far as its header goes.

    The checks are those of brokers of Kafka 2.4 to 3.0: ProduceRequest.validateRecords, Log.analyzeAndValidateRecords,
    LogValidator.validateBatch.

    Args:
        records: the records field of the partition.
        version: the version of the request.

    Raises: RefusedRecords: as ``read_batches``; INVALID_RECORD for a batch that no client may send or that contradicts
    itself, UNSUPPORTED_COMPRESSION_TYPE for zstd before version 7.
    """
    found = read_batches(records or b"")
    if len(found) != 1:
        raise _invalid(f"{len(found)} record batches; a Produce request has exactly one for a partition")
    header = found[0]
    if header.compression == "zstd" and version < 7:
        problem = f"zstd in a Produce request of version {version}, which has it since version 7"
        raise RefusedRecords(Errors.UNSUPPORTED_COMPRESSION_TYPE, problem)
    if header.base_offset:
        raise _invalid(f"the base offset is {header.base_offset}; a producer has to send 0")
    if header.count <= 0 or header.last_offset_delta != header.count - 1:
        raise _invalid(f"{header.count} records, but the last offset delta is {header.last_offset_delta}")
    if header.is_control:
        raise _invalid("control records, which only brokers write")
    if header.has_producer_id and header.base_sequence < 0:
        raise _invalid(f"a record batch with a producer id has the negative sequence number {header.base_sequence}")
    return header


def _invalid(problem: str) -> RefusedRecords:
    return RefusedRecords(Errors.INVALID_RECORD, problem)


def placed(batch: bytes | memoryview, base_offset: int, leader_epoch: int) -> bytes:
    """One batch as a broker appends it: with its base offset and the leader's epoch."""
    return b"".join((_PLACE.pack(base_offset, len(batch) - LENGTH_ENDS, leader_epoch), memoryview(batch)[16:]))


def checked(batch: bytes | bytearray) -> bytes:
    """One batch with the checksum of its bytes."""
    crc = crc32c(memoryview(batch)[CHECKED_FROM:])
    return b"".join((batch[:CRC_AT], _CRC.pack(crc), memoryview(batch)[CHECKED_FROM:]))


def _header(records: bytes | memoryview, at: int, end: int) -> BatchHeader:
    left = end - at
    if left >= _OLD.size and records[at + 16] < MAGIC:
        problem = f"message format v{records[at + 16]}: only v2 is supported, which producers send since Kafka 0.11"
        raise _invalid(problem)
    if left < HEADER.size:
        raise RefusedRecords(Errors.CORRUPT_MESSAGE, f"{left} bytes at byte {at} are less than a record batch's header")
    (base_offset, length, leader_epoch, magic, crc, *others) = HEADER.unpack_from(records, at)
    size = length + LENGTH_ENDS
    if magic != MAGIC:
        raise RefusedRecords(Errors.CORRUPT_MESSAGE, f"the record batch at byte {at} has the unknown magic {magic}")
    if not HEADER.size <= size <= left:
        raise RefusedRecords(Errors.CORRUPT_MESSAGE, f"the record batch at byte {at} has a length of {length} bytes")
    return BatchHeader(at, size, base_offset, leader_epoch, crc, *others)
