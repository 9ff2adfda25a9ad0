"""Record batches whose bytes are kept as their producer sent them: those of real clients, and those that brokers write
into internal topics (message format v2, KIP-98; org.apache.kafka.common.record.DefaultRecordBatch).

The bytes stay as they are. The base offset and the leader epoch, which a leader assigns, are in the batch object, and
are written over the bytes when these leave for a client. Only a search for a time looks at records.
"""

from collections.abc import Callable, Hashable, Iterator, Sequence
from struct import Struct
from typing import ClassVar, NamedTuple, Protocol

from attrs import define, field, frozen

from emulator.protocol.errors import NO_ERROR, Errors
from emulator.protocol.produce import IdempotentBatch
from emulator.protocol.types import Batch, SequencedBatch, TopicPartition

HEADER = Struct(">qiibIhiqqqhii")
"""The header of a batch, from baseOffset to the count of records
(org.apache.kafka.common.record.DefaultRecordBatch)."""
HEADER_BYTES = HEADER.size
LENGTH_ENDS = 12
"""The end of the length field: the batch's length counts the bytes after it."""
RECORD_BYTES = 7
"""The size of the smallest record that is not compressed."""
MAGIC = 2
NO_TIMESTAMP = NO_PRODUCER_ID = NO_SEQUENCE = -1
COMPRESSION, APPEND_TIME, TRANSACTIONAL, CONTROL, DELETE_HORIZON = 0x07, 0x08, 0x10, 0x20, 0x40
"""Bits of ``RecordHeader.attributes``."""

_SEQUENCES = 1 << 31


class Records(Protocol):
    """The bytes of a batch, wherever they are kept."""

    def read(self) -> bytes:
        """All the bytes, header included."""
        ...


@frozen(weakref_slot=False)
class InMemory:
    """Bytes in the memory of this process."""

    data: bytes = field(repr=False)

    def read(self) -> bytes:
        return self.data


Keep = Callable[[TopicPartition, bytes], Records]
"""A function that keeps the bytes of a batch which a leader appends. Raises: DiskError, if there is no room for
them."""


def in_memory(_tp: TopicPartition, data: bytes) -> Records:
    return InMemory(data)


@frozen(weakref_slot=False)
class RecordHeader:
    """The header of a batch.

    Attributes:
        attributes: compression, kind of timestamp, and whether it is transactional or a control batch.
        count: the number of its records.
        base_timestamp_ms, max_timestamp_ms: the times of its first record and of the latest one, by the producer's
            clock.
    """

    attributes: int
    count: int
    base_timestamp_ms: int
    max_timestamp_ms: int

    @property
    def compressed(self) -> bool:
        return bool(self.attributes & COMPRESSION)


@define(eq=False)
class StoredBatch(SequencedBatch):
    """A batch with its bytes. The logs of all replicas share it.

    Attributes:
        append_time_ms: the time when its leader appended it, where the topic has message.timestamp.type=LogAppendTime:
            then all its records have this time. NO_TIMESTAMP: each record has the time that its producer gave it.
    """

    header: RecordHeader
    records: Records
    append_time_ms: int = NO_TIMESTAMP

    @property
    def last_sequence(self) -> int:
        """The sequence number of its last record, whether or not that was compacted."""
        return _last_sequence(self.base_sequence, self.next_offset - self.base_offset)

    @property
    def max_timestamp_ms(self) -> int:
        """The time of its latest record."""
        return self.header.max_timestamp_ms if self.append_time_ms == NO_TIMESTAMP else self.append_time_ms


@define(eq=False)
class TransactionalBatch(StoredBatch):
    """A stored batch of a transaction."""

    transactional: ClassVar[bool] = True


@define(eq=False)
class PlainStoredBatch(StoredBatch):
    """A stored batch whose producer does not number its records."""

    sequenced: ClassVar[bool] = False


@define(eq=False)
class KeyedBatch(Batch):
    """A batch whose records a log has as objects: those that coordinators write.

    Attributes:
        kept: the places of the records that compaction has left of it; None: all.
        delete_horizon_ms: the time from which on its tombstones may go (KIP-534); NO_TIMESTAMP: none is set.
    """

    kept: tuple[int, ...] | None = field(default=None, kw_only=True)
    delete_horizon_ms: int = field(default=NO_TIMESTAMP, kw_only=True)

    @property
    def places(self) -> Sequence[int]:
        """The places of its records, as offsets from the base offset."""
        return range(self.next_offset - self.base_offset) if self.kept is None else self.kept

    def keys(self) -> Sequence[tuple[Hashable, bool]]:
        """The key of each record, and whether it has a value."""
        raise NotImplementedError

    def with_kept(self, kept: tuple[int, ...], delete_horizon_ms: int) -> "KeyedBatch":
        """A copy that has only the records at the places ``kept``."""
        raise NotImplementedError


@define(eq=False)
class ProducedRecords(IdempotentBatch):
    """A batch with its bytes that has no offsets yet. The ``producer_id`` is NO_PRODUCER_ID without idempotence.

    Attributes:
        invalid: why no leader appends it, though it is no larger than allowed.
        append_time: whether its records get the time of the append, as the leader decides.
    """

    header: RecordHeader
    data: bytes = field(repr=False)
    keep: Keep = in_memory
    invalid: Errors = NO_ERROR
    append_time: bool = False

    @property
    def last_sequence(self) -> int:
        return _last_sequence(self.base_sequence, self.count)

    @property
    def sequenced(self) -> bool:
        """Whether its producer is idempotent."""
        return self.producer_id != NO_PRODUCER_ID

    @property
    def transactional(self) -> bool:
        """Whether it belongs to a transaction."""
        return bool(self.header.attributes & TRANSACTIONAL)

    @property
    def _kind(self) -> type[StoredBatch]:
        if not self.sequenced:
            return PlainStoredBatch
        return TransactionalBatch if self.transactional else StoredBatch

    def placed(self, base_offset: int, leader_epoch: int, now_us: int) -> Batch:
        """The batch as a leader appends it, as in ``ProducedBatch.placed``. Raises: DiskError, if there is no room for
        its bytes."""
        kind = self._kind
        return kind(
            base_offset, base_offset + self.count, leader_epoch, self.size, self.id, self.producer_id,
            self.base_sequence, self.header, self.keep(self.tp, self.data),
            now_us // 1000 if self.append_time else NO_TIMESTAMP,
            timestamp_us=self._time_us(now_us), producer_epoch=self.producer_epoch,
        )  # fmt: skip

    def _time_us(self, now_us: int) -> int:
        """The time of its latest record; that of the append where its producer gave none."""
        newest_ms = self.header.max_timestamp_ms
        return now_us if self.append_time or newest_ms < 0 else newest_ms * 1000


def _last_sequence(base: int, count: int) -> int:
    """The sequence number of the last of ``count`` records. After the largest number they begin again at 0
    (DefaultRecordBatch.incrementSequence)."""
    return (base + count - 1) % _SEQUENCES


# -- records inside a batch -------------------------------------------------------------------------------------------


class Record(NamedTuple):
    """One record of a batch. None: a key or a value that is null."""

    offset_delta: int
    timestamp_ms: int
    key: bytes | None
    value: bytes | None


def read_records(data: bytes) -> Iterator[Record]:
    """The records of a batch that is not compressed. Raises: ValueError, if the bytes are not those of records."""
    base_timestamp_ms, count = HEADER.unpack_from(data)[7], HEADER.unpack_from(data)[12]
    at = HEADER_BYTES
    try:
        for _ in range(count):
            length, at = read_varint(data, at)
            end = at + length
            if length < 0 or end > len(data):
                raise ValueError("the bytes of a batch end inside a record")
            delta_ms, at = read_varint(data, at + 1)
            offset_delta, at = read_varint(data, at)
            key, at = _read_bytes(data, at)
            value, at = _read_bytes(data, at)
            yield Record(offset_delta, base_timestamp_ms + delta_ms, key, value)
            at = end
    except IndexError:
        raise ValueError("the bytes of a batch end inside a record") from None


def write_records(
    records: Sequence[tuple[bytes | None, bytes | None]], timestamp_ms: int, *, attributes: int = 0,
    producer_id: int = NO_PRODUCER_ID, producer_epoch: int = -1, places: Sequence[int] | None = None, count: int = 0,
) -> bytes:  # fmt: skip
    """The bytes of a batch of records (keys and values), not compressed and without sequence numbers. Its base offset
    is 0 and its CRC is not computed: the code that sends it to a client does that.

    Args:
        places, count: where compaction has left these of ``count`` records, their places among them.
    """
    body = bytearray()
    for delta, (key, value) in zip(range(len(records)) if places is None else places, records, strict=True):
        record = b"\0\0" + varint(delta) + _bytes(key) + _bytes(value) + b"\0"
        body += varint(len(record)) + record
    header = HEADER.pack(
        0, HEADER_BYTES - LENGTH_ENDS + len(body), -1, MAGIC, 0, attributes, (count or len(records)) - 1, timestamp_ms,
        timestamp_ms, producer_id, producer_epoch, NO_SEQUENCE, len(records),
    )  # fmt: skip
    return header + bytes(body)


def varint(value: int) -> bytes:
    """A signed varint: zigzag."""
    return unsigned_varint((value << 1) ^ (value >> 63))


def unsigned_varint(value: int) -> bytes:
    """A varint: seven bits in each byte."""
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    found.append(value)
    return bytes(found)


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    shift = value = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return (value >> 1) ^ -(value & 1), at
        shift += 7
        if shift > 63:
            raise ValueError("a number in a batch is too long")


def _bytes(value: bytes | None) -> bytes:
    return varint(-1) if value is None else varint(len(value)) + value


def _read_bytes(data: bytes, at: int) -> tuple[bytes | None, int]:
    length, at = read_varint(data, at)
    if length < 0:
        return None, at
    if at + length > len(data):
        raise ValueError("the bytes of a batch end inside a record")
    return data[at : at + length], at + length
