"""WriteTxnMarkers (API 27): a transaction coordinator ends transactions in the partitions that a broker leads.

Fencing: producer epoch and coordinator epoch, by the log of each partition.
"""

from collections.abc import Iterable
from typing import NamedTuple

from attrs import define

from emulator.protocol.api import Request, Response, declare
from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition


class TxnMarker(NamedTuple):
    """The end of one transaction (WriteTxnMarkersRequest.TxnMarkerEntry).

    Attributes:
        producer_epoch: higher than that of the transaction's records where the coordinator has fenced their producer.
        coordinator_epoch: the leader epoch of the coordinator's partition of ``__transaction_state``.
        committed: False: aborted.
    """

    producer_id: int
    producer_epoch: int
    coordinator_epoch: int
    committed: bool
    partitions: tuple[TopicPartition, ...]


@define(eq=False)
class WriteTxnMarkersRequest(Request):
    """Write these markers."""

    markers: tuple[TxnMarker, ...]

    @property
    def size(self) -> int:
        return 10 + sum(19 + sum(6 + len(tp.topic) for tp in marker.partitions) for marker in self.markers)

    def topic_partitions(self) -> Iterable[TopicPartition]:
        return (tp for marker in self.markers for tp in marker.partitions)


@define(eq=False)
class WriteTxnMarkersResponse(Response):
    """The outcomes, in the order of the request's markers; each when all replicas in sync have the marker."""

    outcomes: tuple[tuple[tuple[TopicPartition, Errors], ...], ...]

    @property
    def size(self) -> int:
        return 10 + sum(12 + sum(8 + len(tp.topic) for tp, _error in each) for each in self.outcomes)

    def topic_partitions(self) -> Iterable[TopicPartition]:
        return (tp for each in self.outcomes for tp, _error in each)


declare(
    27, "WriteTxnMarkers", WriteTxnMarkersRequest, WriteTxnMarkersResponse,
    help="a transaction coordinator ends transactions in the partitions that a broker leads",
)  # fmt: skip
