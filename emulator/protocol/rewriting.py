"""The records inside a batch's bytes, and the batch without some of them, as Kafka's log cleaner writes it
(MemoryRecords.filterTo, 2.4; with delete horizons 3.3).

Offsets, sequence numbers and compression stay. The CRC is not computed: the code that sends the bytes to a client does
that.
"""

from collections.abc import Sequence
from typing import NamedTuple

from emulator.protocol.compression import pack, unpack
from emulator.protocol.records import (
    COMPRESSION,
    DELETE_HORIZON,
    HEADER,
    HEADER_BYTES,
    LENGTH_ENDS,
    NO_TIMESTAMP,
    read_varint,
    varint,
)


class WholeRecord(NamedTuple):
    """One record with all its bytes.

    Attributes:
        key: None for a null key.
        has_value: False for a tombstone.
        attributes, rest: its first byte, and what follows its offset: key, value and headers as they are stored.
    """

    offset_delta: int
    timestamp_ms: int
    key: bytes | None
    has_value: bool
    attributes: int
    rest: bytes


class _Header(NamedTuple):
    base_offset: int
    length: int
    leader_epoch: int
    magic: int
    crc: int
    attributes: int
    last_offset_delta: int
    base_timestamp_ms: int
    max_timestamp_ms: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    records: int


def whole_records(data: bytes) -> list[WholeRecord]:
    """The records of a batch. Raises: ValueError, if the bytes are not those of records; CannotUnpack."""
    header = _Header(*HEADER.unpack_from(data))
    body, at, found = unpack(header.attributes & COMPRESSION, data[HEADER_BYTES:]), 0, []
    try:
        for _ in range(header.records):
            length, at = read_varint(body, at)
            end = at + length
            if length < 0 or end > len(body):
                raise ValueError("the bytes of a batch end inside a record")
            found.append(_record(body, at, end, header.base_timestamp_ms))
            at = end
    except IndexError:
        raise ValueError("the bytes of a batch end inside a record") from None
    return found


def _record(body: bytes, begin: int, end: int, base_timestamp_ms: int) -> WholeRecord:
    delta_ms, at = read_varint(body, begin + 1)
    offset_delta, at = read_varint(body, at)
    rest = body[at:end]
    size, at = read_varint(body, at)
    key = None
    if size >= 0:
        key, at = body[at : at + size], at + size
    size, at = read_varint(body, at)
    if at + max(size, 0) > end:
        raise ValueError("a record is longer than its length says")
    return WholeRecord(offset_delta, base_timestamp_ms + delta_ms, key, size >= 0, body[begin], rest)


def delete_horizon_ms(data: bytes) -> int:
    """The time from which on the tombstones or the marker of a batch may go (KIP-534); NO_TIMESTAMP: none is set."""
    header = _Header(*HEADER.unpack_from(data))
    return header.base_timestamp_ms if header.attributes & DELETE_HORIZON else NO_TIMESTAMP


def rewritten(data: bytes, kept: Sequence[WholeRecord], horizon_ms: int = NO_TIMESTAMP) -> bytes:
    """The batch ``data`` with the records ``kept`` of it, at least one. ``horizon_ms``: see ``delete_horizon_ms``; the
    time takes the place of the base timestamp. Raises: CannotUnpack."""
    header = _Header(*HEADER.unpack_from(data))
    base_ms = kept[0].timestamp_ms if horizon_ms == NO_TIMESTAMP else horizon_ms
    body = bytearray()
    for record in kept:
        found = bytes((record.attributes,)) + varint(record.timestamp_ms - base_ms) + varint(record.offset_delta)
        found += record.rest
        body += varint(len(found)) + found
    packed = pack(header.attributes & COMPRESSION, bytes(body))
    changed = header._replace(
        length=HEADER_BYTES - LENGTH_ENDS + len(packed), crc=0, base_timestamp_ms=base_ms,
        attributes=header.attributes & ~DELETE_HORIZON | (0 if horizon_ms == NO_TIMESTAMP else DELETE_HORIZON),
        max_timestamp_ms=max(record.timestamp_ms for record in kept), records=len(kept),
    )  # fmt: skip
    return HEADER.pack(*changed) + packed


def emptied(data: bytes) -> bytes:
    """The batch ``data`` without records: a header, which says what its producer's last sequence number was
    (DefaultRecordBatch.writeEmptyHeader)."""
    header = _Header(*HEADER.unpack_from(data))
    attributes = header.attributes & ~(COMPRESSION | DELETE_HORIZON)
    changed = header._replace(
        length=HEADER_BYTES - LENGTH_ENDS, crc=0, attributes=attributes, base_timestamp_ms=NO_TIMESTAMP, records=0
    )
    return HEADER.pack(*changed)
