"""The records of ``__transaction_state`` (kafka.coordinator.transaction.TransactionLog, 2.3): the state of each
transactional id.

The emulated log has them as these objects. For a client that reads the topic as bytes, ``scenarios.wire`` encodes them.
"""

from collections.abc import Hashable

from attrs import define, evolve

from brokers.transactions.metadata import TxnTransitMetadata
from emulator.protocol.produce import ProducedBatch
from emulator.protocol.records import KeyedBatch
from emulator.protocol.types import Batch, TopicPartition

OVERHEAD = 73
"""The bytes of a batch with one record, beside its key and its value."""


@define(eq=False)
class TransactionBatch(KeyedBatch):
    """A batch of a coordinator in a log: one record.

    Attributes:
        value: None: a tombstone, the transactional id has expired.
    """

    transactional_id: str
    value: TxnTransitMetadata | None

    def keys(self) -> list[tuple[Hashable, bool]]:
        return [(self.transactional_id, self.value is not None)]

    def with_kept(self, kept: tuple[int, ...], delete_horizon_ms: int) -> "TransactionBatch":
        return evolve(self, kept=kept, delete_horizon_ms=delete_horizon_ms)


@define(eq=False)
class TransactionRecords(ProducedBatch):
    """A batch of a coordinator, without an offset in the log yet: one record."""

    transactional_id: str
    value: TxnTransitMetadata | None

    @classmethod
    def of(
        cls, tp: TopicPartition, id: int, transactional_id: str, value: TxnTransitMetadata | None
    ) -> "TransactionRecords":
        size = OVERHEAD + 4 + len(transactional_id) + (0 if value is None else value.size)
        return cls(tp, 1, size, id, transactional_id, value)

    def placed(self, base_offset: int, leader_epoch: int, now_us: int) -> Batch:
        return TransactionBatch(
            base_offset, base_offset + 1, leader_epoch, self.size, self.id, self.transactional_id, self.value,
            timestamp_us=now_us,
        )  # fmt: skip
