"""DescribeProducers (API 61, KIP-664, 2.8): the idempotent producers that a replica remembers."""

from typing import NamedTuple

from attrs import define

from emulator.protocol.api import OfPartitions, Request, Response, declare
from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition

NO_TRANSACTION = -1


class ActiveProducer(NamedTuple):
    """A producer of one log.

    Attributes:
        last_sequence: the sequence number of its last record; NO_SEQUENCE: nothing of its epoch is known but a marker.
        last_timestamp_ms: the time of its last record or marker.
        coordinator_epoch: the epoch of the coordinator that has sent its last marker; -1: there is none.
        transaction_start: the first offset of its open transaction, or NO_TRANSACTION.
    """

    producer_id: int
    producer_epoch: int
    last_sequence: int
    last_timestamp_ms: int
    coordinator_epoch: int = -1
    transaction_start: int = NO_TRANSACTION


class DescribedProducers(NamedTuple):
    """The producers of one partition, or why they are not known."""

    tp: TopicPartition
    error: Errors
    producers: tuple[ActiveProducer, ...] = ()


@define(eq=False)
class DescribeProducersRequest(OfPartitions, Request):
    """To a broker with replicas of these partitions."""

    SIZES = 10, 20
    partitions: tuple[TopicPartition, ...]


@define(eq=False)
class DescribeProducersResponse(OfPartitions, Response):
    """The results, in the order of the request."""

    partitions: tuple[DescribedProducers, ...]

    @property
    def size(self) -> int:
        return 10 + sum(20 + 36 * len(each.producers) for each in self.partitions)


declare(
    61,
    "DescribeProducers",
    DescribeProducersRequest,
    DescribeProducersResponse,
    help="a client asks which idempotent producers a replica remembers",
)
