"""AddPartitionsToTxn about several transactions, which may only ask whether they have their partitions: brokers send it
(v4, 3.5, KIP-890; v5, 3.8, knows TRANSACTION_ABORTABLE)."""

from collections.abc import Iterable

from attrs import define

from emulator.protocol.api import Request, Response, variant
from emulator.protocol.errors import Errors
from emulator.protocol.transactions.coordination import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnResponse,
    OfTransaction,
)
from emulator.protocol.types import TopicPartition


@define(eq=False)
class AddPartitionsToTxnTransaction(OfTransaction):
    """One transaction of several (AddPartitionsToTxnRequestData.AddPartitionsToTxnTransaction).

    Attributes:
        verify_only: nothing is added: the outcome of a partition says whether the transaction has it.
    """

    partitions: tuple[TopicPartition, ...]
    verify_only: bool = True


@variant(AddPartitionsToTxnRequest)
@define(eq=False)
class AddPartitionsToTxnsRequest(Request):
    """Add partitions to several transactions, or ask whether they have them. Each is named once."""

    transactions: tuple[AddPartitionsToTxnTransaction, ...]

    @property
    def size(self) -> int:
        return 10 + sum(
            16 + len(each.transactional_id) + sum(6 + len(tp.topic) for tp in each.partitions)
            for each in self.transactions
        )

    def topic_partitions(self) -> Iterable[TopicPartition]:
        return (tp for each in self.transactions for tp in each.partitions)


@variant(AddPartitionsToTxnResponse)
@define(eq=False)
class AddPartitionsToTxnsResponse(Response):
    """The outcome for each partition, by transactional id, as each is known."""

    transactions: dict[str, tuple[tuple[TopicPartition, Errors], ...]]

    @property
    def size(self) -> int:
        return 10 + sum(
            4 + len(id) + sum(8 + len(tp.topic) for tp, _error in each) for id, each in self.transactions.items()
        )

    def topic_partitions(self) -> Iterable[TopicPartition]:
        return (tp for each in self.transactions.values() for tp, _error in each)
