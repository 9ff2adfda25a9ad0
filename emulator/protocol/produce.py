"""Produce (API 0): a client appends one batch to each of several partitions of one leader broker."""

from attrs import define

from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition


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


@define(eq=False)
class ProduceRequest:
    """acks: 0 (no answer), 1 (the leader's append), -1 (the whole in-sync set)."""

    acks: int
    timeout_us: int
    batches: tuple[ProducedBatch, ...]
    size: int


@define(eq=False)
class ProduceResponse:
    """Per partition the error and the base offset (-1 with an error)."""

    partitions: tuple[tuple[TopicPartition, Errors, int], ...]

    @property
    def size(self) -> int:
        return 10 + 30 * len(self.partitions)
