"""AddPartitionsToTxn (API 24), AddOffsetsToTxn (25) and EndTxn (26): a producer's transaction, at its coordinator.

Versions: v2 (2.7, KIP-588) knows PRODUCER_FENCED; before, that is INVALID_PRODUCER_EPOCH.
"""

from attrs import define

from emulator.protocol.api import OfPartitions, Request, Response, declare
from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition


@define(eq=False)
class OfTransaction:
    """The fields of every request of a transactional producer to its coordinator.

    Attributes:
        producer_id, producer_epoch: as InitProducerId gave them.
    """

    transactional_id: str
    producer_id: int
    producer_epoch: int


@define(eq=False)
class AddPartitionsToTxnRequest(OfPartitions, OfTransaction, Request):
    """Add partitions to which the transaction will write."""

    partitions: tuple[TopicPartition, ...]

    @property
    def size(self) -> int:
        return 24 + len(self.transactional_id) + sum(6 + len(tp.topic) for tp in self.partitions)


@define(eq=False)
class AddPartitionsToTxnResponse(OfPartitions, Response):
    """The outcome for each partition. All are added, or none is."""

    partitions: tuple[tuple[TopicPartition, Errors], ...]

    @property
    def size(self) -> int:
        return 8 + sum(8 + len(tp.topic) for tp, _error in self.partitions)


@define(eq=False)
class AddOffsetsToTxnRequest(OfTransaction, Request):
    """Announce that the transaction will commit offsets of this group."""

    group: str

    @property
    def size(self) -> int:
        return 24 + len(self.transactional_id) + len(self.group)


@define(eq=False)
class AddOffsetsToTxnResponse(Response):
    error: Errors
    size: int = 10


@define(eq=False)
class EndTxnRequest(OfTransaction, Request):
    """Commit or abort the transaction.

    Attributes:
        committed: False: abort.
    """

    committed: bool

    @property
    def size(self) -> int:
        return 24 + len(self.transactional_id)


@define(eq=False)
class EndTxnResponse(Response):
    """The decision is in the coordinator's log. The partitions learn of it later."""

    error: Errors
    size: int = 10


declare(
    24, "AddPartitionsToTxn", AddPartitionsToTxnRequest, AddPartitionsToTxnResponse,
    help="a producer adds partitions to its transaction",
)  # fmt: skip
declare(
    25, "AddOffsetsToTxn", AddOffsetsToTxnRequest, AddOffsetsToTxnResponse,
    help="a producer adds a group's offsets to its transaction",
)  # fmt: skip
declare(26, "EndTxn", EndTxnRequest, EndTxnResponse, help="a producer commits or aborts its transaction")
