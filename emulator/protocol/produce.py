"""Produce (API 0): a client appends one batch to each of several partitions of one leader broker.

InitProducerId (API 22, KIP-98, 0.11): an idempotent or transactional producer gets its id.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from attrs import define, field, frozen

from emulator.protocol.api import Request, Response, declare
from emulator.protocol.errors import Errors
from emulator.protocol.types import Batch, SequencedBatch, TopicPartition

ProducedResult = tuple[TopicPartition, Errors, int]
"""The error and the base offset of one batch of a produce request (-1 with an error)."""


class AppendInfo(NamedTuple):
    """A real client's answer about one batch beside its ``ProducedResult`` (kafka.log.LogAppendInfo).

    Attributes:
        id: the id of the batch in the log; if the request repeated a batch, the id of the first one.
        append_time_ms: the time of the append, where the topic's records have that; -1 elsewhere.
        log_start_offset: the leader's; -1 with an error for which the broker does not look.
        message: the text that a client shows its user beside the error; empty for none.
        record_errors: the records that are the reason, by their place in the batch, with a text, or an empty one
            (KIP-467).
    """

    id: int
    append_time_ms: int = -1
    log_start_offset: int = -1
    message: str = ""
    record_errors: tuple[tuple[int, str], ...] = ()


@frozen
class KeylessRecords:
    """The way in which a release refuses records without a key for a compacted topic.

    Attributes:
        error: CORRUPT_MESSAGE up to 2.3: InvalidRecordException is one of CorruptRecordException.
        names_first: the answer names the first of them, and says beside the error what is wrong (2.4).
        names_all: it names each, and says at each what is wrong (2.5).
    """

    error: Errors = Errors.CORRUPT_MESSAGE
    names_first: bool = False
    names_all: bool = False


@define(eq=False)
class ProducedBatch:
    """A batch that has no offsets yet.

    Attributes:
        count: the number of records.
        size: the size in bytes.
        id: unique in the run.
    """

    tp: TopicPartition
    count: int
    size: int
    id: int

    def placed(self, base_offset: int, leader_epoch: int, now_us: int) -> Batch:
        """The batch as a leader of ``leader_epoch`` appends it at ``base_offset``, when its clock shows ``now_us``."""
        return Batch(base_offset, base_offset + self.count, leader_epoch, self.size, self.id, timestamp_us=now_us)


@define(eq=False)
class IdempotentBatch(ProducedBatch):
    """A batch of an idempotent producer, of which a broker recognizes a duplicate.

    Attributes:
        base_sequence: the sequence number of its first record, among the records that the producer sent to the
            partition.
        producer_epoch: as in ``SequencedBatch``.
    """

    producer_id: int
    base_sequence: int
    producer_epoch: int = field(default=0, kw_only=True)

    @property
    def last_sequence(self) -> int:
        return self.base_sequence + self.count - 1

    @property
    def sequenced(self) -> bool:
        """Whether its producer numbers its records."""
        return True

    @property
    def transactional(self) -> bool:
        """Whether it belongs to a transaction. Batches of emulated producers do not."""
        return False

    def placed(self, base_offset: int, leader_epoch: int, now_us: int) -> Batch:
        return SequencedBatch(
            base_offset, base_offset + self.count, leader_epoch, self.size, self.id, self.producer_id,
            self.base_sequence, timestamp_us=now_us,
        )  # fmt: skip


@define(eq=False)
class ProduceRequest(Request):
    """Append one batch to each of several partitions.

    Attributes:
        acks: 0 (no answer), 1 (after the leader's append), -1 (after the append by the whole ISR).
        transactional_id: that of its producer; None: it has none.
        knows_abortable: whether its producer knows TRANSACTION_ABORTABLE (v11, 3.8).
    """

    acks: int
    timeout_us: int
    batches: tuple[ProducedBatch, ...]
    size: int
    transactional_id: str | None = field(default=None, kw_only=True)
    knows_abortable: bool = field(default=True, kw_only=True)

    def topic_partitions(self) -> Iterable[TopicPartition]:
        return (batch.tp for batch in self.batches)

    def response(self, results: Sequence[ProducedResult], _infos: Sequence[AppendInfo]) -> "ProduceResponse":
        """The answer in the form that its sender reads; ``results`` and ``infos`` in the order of the batches."""
        return ProduceResponse(tuple(results))


@define(eq=False)
class ProduceResponse(Response):
    """The results, per partition.

    Attributes:
        partitions: in the order of the request.
    """

    partitions: tuple[ProducedResult, ...]

    @property
    def size(self) -> int:
        return 10 + 30 * len(self.partitions)

    def topic_partitions(self) -> Iterable[TopicPartition]:
        return (each[0] for each in self.partitions)


@define(eq=False)
class InitProducerIdRequest(Request):
    """A request for a producer id. Sent to any broker; with a transactional id, to its coordinator.

    Attributes:
        transactional_id: None: the producer is idempotent only.
        producer_id, producer_epoch: those that the producer has (KIP-360, 2.5); -1: none.
        transaction_timeout_us: how long a transaction may last before its coordinator aborts it.
    """

    size: int = 20
    transactional_id: str | None = None
    producer_id: int = -1
    producer_epoch: int = -1
    transaction_timeout_us: int = 0


@define(eq=False)
class InitProducerIdResponse(Response):
    """A producer id that no other producer has; -1 with an error.

    Attributes:
        producer_epoch: 0 without a transactional id; with one, higher than that of each earlier producer with this id.
    """

    producer_id: int
    size: int = 20
    error: Errors = Errors.NONE
    producer_epoch: int = 0


declare(0, "Produce", ProduceRequest, ProduceResponse, help="a producer appends to the partitions that a broker leads")
declare(
    22, "InitProducerId", InitProducerIdRequest, InitProducerIdResponse, help="an idempotent producer asks for its id"
)
