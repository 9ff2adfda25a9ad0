"""Control batches: the markers with which a transaction ends in a partition (KIP-98;
org.apache.kafka.common.record.EndTransactionMarker).

A marker is a batch of one record. It takes an offset, replicates and is truncated like every batch, and clients get its
bytes; they do not show it to their applications.
"""

from struct import Struct
from typing import ClassVar

from attrs import define

from emulator.protocol.produce import ProducedBatch
from emulator.protocol.records import (
    CONTROL,
    NO_SEQUENCE,
    TRANSACTIONAL,
    InMemory,
    RecordHeader,
    StoredBatch,
    write_records,
)
from emulator.protocol.types import Batch, TopicPartition

ABORT, COMMIT = 0, 1
"""Kafka's numbers (ControlRecordType)."""
SIZE = 78
"""The bytes of a control batch: the header, and a record with a key of four bytes and a value of six."""
_KEY, _VALUE = Struct(">hh"), Struct(">hi")


@define(eq=False)
class ControlBatch(StoredBatch):
    """A marker in a log.

    Attributes:
        committed: False: the transaction was aborted.
        coordinator_epoch: the epoch of the coordinator that has sent it.
    """

    committed: bool = False
    coordinator_epoch: int = -1
    transactional: ClassVar[bool] = True


@define(eq=False)
class ControlRecords(ProducedBatch):
    """A marker that has no offset yet."""

    producer_id: int
    producer_epoch: int
    coordinator_epoch: int
    committed: bool

    @classmethod
    def of(
        cls, tp: TopicPartition, id: int, producer_id: int, producer_epoch: int, coordinator_epoch: int,
        committed: bool,
    ) -> "ControlRecords":  # fmt: skip
        return cls(tp, 1, SIZE, id, producer_id, producer_epoch, coordinator_epoch, committed)

    def placed(self, base_offset: int, leader_epoch: int, now_us: int) -> Batch:
        at_ms, attributes = now_us // 1000, TRANSACTIONAL | CONTROL
        key, value = _KEY.pack(0, COMMIT if self.committed else ABORT), _VALUE.pack(0, self.coordinator_epoch)
        data = write_records(
            [(key, value)], at_ms, attributes=attributes, producer_id=self.producer_id,
            producer_epoch=self.producer_epoch,
        )  # fmt: skip
        return ControlBatch(
            base_offset, base_offset + 1, leader_epoch, self.size, self.id, self.producer_id, NO_SEQUENCE,
            RecordHeader(attributes, 1, at_ms, at_ms), InMemory(data),
            timestamp_us=now_us, producer_epoch=self.producer_epoch, committed=self.committed,
            coordinator_epoch=self.coordinator_epoch,
        )  # fmt: skip
