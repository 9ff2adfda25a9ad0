"""A log of real batches, written, rolled and compacted by hand, and what a reader from its beginning gets."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from attrs import evolve

from brokers.log.cleaner.cleanable import log_to_clean
from brokers.log.cleaner.cleaning import Cleaned, clean
from brokers.log.directory import LogDirectory
from brokers.log.log import Log
from brokers.log.log_config import RULES, LogConfig, LogRules
from emulator.disks import Disk
from emulator.protocol.compression import pack
from emulator.protocol.control_batches import ControlBatch, ControlRecords
from emulator.protocol.records import (
    HEADER_BYTES,
    NO_PRODUCER_ID,
    NO_SEQUENCE,
    TRANSACTIONAL,
    ProducedRecords,
    RecordHeader,
    StoredBatch,
    write_records,
)
from emulator.protocol.rewriting import whole_records
from emulator.protocol.types import TopicPartition

TP = TopicPartition("orders", 0)
CONFIG = LogConfig(cleanup_policy="compact", segment_bytes=1 << 20)
Pair = tuple[bytes | None, bytes | None]


class Read(NamedTuple):
    """One record that a reader gets."""

    offset: int
    key: bytes | None
    value: bytes | None


def value_of(rest: bytes) -> bytes | None:
    """The value in the stored bytes of a record with a key of less than 64 bytes, and a value likewise."""
    key = 1 + (rest[0] >> 1 if not rest[0] & 1 else 0)
    return None if rest[key] & 1 else rest[key + 1 : key + 1 + (rest[key] >> 1)]


class CompactedLog:
    """A log with the time of its broker, in milliseconds."""

    def __init__(self, config: LogConfig = CONFIG, rules: LogRules = RULES) -> None:
        self.config, self.now_ms = config, 1_000_000
        self.disk = Disk()
        self.rules = rules
        self.log = Log(LogDirectory(self.disk, lambda _: self.config, rules=rules), TP)

    def reload(self) -> Log:
        """The log as a new process loads it."""
        self.log = Log(LogDirectory(self.disk, lambda _: self.config, rules=self.rules), TP)
        return self.log

    def write(
        self, *pairs: Pair, compression: int = 0, producer: int = NO_PRODUCER_ID, sequence: int = NO_SEQUENCE,
        transactional: bool = False,
    ) -> int:  # fmt: skip
        """Append a batch; return its base offset."""
        attributes = compression | (TRANSACTIONAL if transactional else 0)
        whole = write_records(pairs, self.now_ms, attributes=attributes, producer_id=producer, producer_epoch=0)
        data = whole[:HEADER_BYTES] + pack(compression, whole[HEADER_BYTES:])
        header = RecordHeader(attributes, len(pairs), self.now_ms, self.now_ms)
        base = self.log.end_offset
        produced = ProducedRecords(TP, len(pairs), len(data), base + 1, producer, sequence, header, data)
        self.log.append(evolve(produced, producer_epoch=0).placed(base, 0, self.now_ms * 1000))
        return base

    def end(self, producer: int, *, committed: bool) -> None:
        """Append a marker."""
        marker = ControlRecords.of(TP, self.log.end_offset + 1, producer, 0, 0, committed)
        self.log.append(marker.placed(self.log.end_offset, 0, self.now_ms * 1000))

    def roll(self) -> None:
        """Begin a segment with the next batch."""
        kept, self.config = self.config, evolve(self.config, segment_bytes=0)
        self.log.measure_active_segment()
        self.config = kept

    def clean(self, high_watermark: int | None = None) -> Cleaned | None:
        """Compact what can be compacted; None if there is nothing."""
        high_watermark = self.log.end_offset if high_watermark is None else high_watermark
        found = log_to_clean(self.log, high_watermark, self.now_ms)
        if not found.cleanable_bytes:
            return None
        done = clean(self.log, found.first_dirty, found.first_uncleanable, self.now_ms)
        self.log.directory.cleaned.put(TP, done.next_offset)
        return done

    def read(self, begin: int = 0, *, committed: bool = False) -> list[Read]:
        """The records from ``begin`` on that a consumer gets; ``committed``: without those of aborted transactions."""
        return records_of(self.log, begin, committed=committed)


def records_of(log: Log, begin: int = 0, *, committed: bool = False) -> list[Read]:
    """The records of a log, as a consumer takes them from the bytes."""
    aborted: dict[int, list[int]] = {}
    for one in log.aborted_between(begin, log.end_offset):
        aborted.setdefault(one.producer_id, []).append(one.first_offset)
    dropping: dict[int, None] = {}
    found: list[Read] = []
    for batch in log.read(begin, 1 << 40):
        if not batch.size:
            continue
        assert isinstance(batch, StoredBatch)
        firsts = aborted.get(batch.producer_id, [])
        while firsts and firsts[0] < batch.next_offset:
            dropping[batch.producer_id] = firsts.pop(0)  # type: ignore[assignment]
        if isinstance(batch, ControlBatch):
            if not batch.committed and batch.header.count:
                dropping.pop(batch.producer_id, None)
        elif not (committed and batch.transactional and batch.producer_id in dropping):
            records = whole_records(batch.records.read())
            found += [Read(batch.base_offset + one.offset_delta, one.key, value_of(one.rest)) for one in records]
    return [one for one in found if one.offset >= begin]


def last_values(records: Sequence[Read]) -> Mapping[bytes | None, bytes | None]:
    """The last value of each key."""
    return {one.key: one.value for one in records}
