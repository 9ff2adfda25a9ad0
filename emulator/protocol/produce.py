"""Produce (API 0): a client appends one batch to each of several partitions of one leader broker.

InitProducerId (API 22, KIP-98, 0.11): an idempotent producer gets its id.
"""

from collections.abc import Iterable

from attrs import define

from emulator.protocol.api import Request, Response, declare
from emulator.protocol.errors import Errors
from emulator.protocol.types import Batch, SequencedBatch, TopicPartition


@define(eq=False)
class ProducedBatch:
    """A batch before it has offsets.

    Attributes:
        count: records in it.
        size: bytes.
        id: unique over the run.
    """

    tp: TopicPartition
    count: int
    size: int
    id: int

    def placed(self, base_offset: int, leader_epoch: int, now_us: int) -> Batch:
        """The batch as a leader of ``leader_epoch`` appends it at ``base_offset``, ``now_us`` by its clock."""
        return Batch(base_offset, base_offset + self.count, leader_epoch, self.size, self.id, timestamp_us=now_us)


@define(eq=False)
class IdempotentBatch(ProducedBatch):
    """One that a broker can tell from its own repetition: the producer's id and the number of its first record among
    those that this producer sent to the partition."""

    producer_id: int
    base_sequence: int

    @property
    def last_sequence(self) -> int:
        return self.base_sequence + self.count - 1

    def placed(self, base_offset: int, leader_epoch: int, now_us: int) -> Batch:
        return SequencedBatch(
            base_offset, base_offset + self.count, leader_epoch, self.size, self.id, self.producer_id,
            self.base_sequence, timestamp_us=now_us,
        )  # fmt: skip


@define(eq=False)
class ProduceRequest(Request):
    """acks: 0 (no answer), 1 (the leader's append), -1 (the whole in-sync set)."""

    acks: int
    timeout_us: int
    batches: tuple[ProducedBatch, ...]
    size: int

    def topic_partitions(self) -> Iterable[TopicPartition]:
        return (batch.tp for batch in self.batches)


@define(eq=False)
class ProduceResponse(Response):
    """Per partition the error and the base offset (-1 with an error)."""

    partitions: tuple[tuple[TopicPartition, Errors, int], ...]

    @property
    def size(self) -> int:
        return 10 + 30 * len(self.partitions)

    def topic_partitions(self) -> Iterable[TopicPartition]:
        return (each[0] for each in self.partitions)


@define(eq=False)
class InitProducerIdRequest(Request):
    """Asked of any broker, without a transactional id."""

    size: int = 20


@define(eq=False)
class InitProducerIdResponse(Response):
    """An id that nobody else has. The producer's epoch is 0, always."""

    producer_id: int
    size: int = 20


declare(0, "Produce", ProduceRequest, ProduceResponse, help="a producer appends to the partitions that a broker leads")
declare(
    22, "InitProducerId", InitProducerIdRequest, InitProducerIdResponse, help="an idempotent producer asks for its id"
)
