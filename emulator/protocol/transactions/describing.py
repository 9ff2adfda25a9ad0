"""DescribeTransactions (API 65) and ListTransactions (API 66; KIP-664, 3.0): the transactional ids of a coordinator."""

from typing import NamedTuple

from attrs import define

from emulator.protocol.api import Request, Response, declare
from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition


class DescribedTransaction(NamedTuple):
    """A transactional id, or why it is not known.

    Attributes:
        state: Kafka's name of the state (``brokers.transactions.metadata.TransactionState``).
        start_ms: the time when the transaction began; -1: none has.
        partitions: the partitions of the transaction; once it is decided, those without a marker.
    """

    id: str
    error: Errors
    state: str = ""
    timeout_ms: int = 0
    start_ms: int = 0
    producer_id: int = 0
    producer_epoch: int = 0
    partitions: tuple[TopicPartition, ...] = ()


@define(eq=False)
class DescribeTransactionsRequest(Request):
    """To the coordinator of these transactional ids."""

    ids: tuple[str, ...]

    @property
    def size(self) -> int:
        return 10 + sum(map(len, self.ids))


@define(eq=False)
class DescribeTransactionsResponse(Response):
    """The results, in the order of the request."""

    transactions: tuple[DescribedTransaction, ...]

    @property
    def size(self) -> int:
        return 10 + sum(40 + 20 * len(each.partitions) for each in self.transactions)


class ListedTransaction(NamedTuple):
    """A transactional id with its producer and its state."""

    id: str
    producer_id: int
    state: str


@define(eq=False)
class ListTransactionsRequest(Request):
    """To any broker, which answers for the ids that it coordinates.

    Attributes:
        states, producer_ids: only ids with one of these; empty: with any.
        longer_than_ms: only ids whose transaction has lasted longer (KIP-994, 3.8); negative: all.
    """

    states: tuple[str, ...] = ()
    producer_ids: tuple[int, ...] = ()
    longer_than_ms: int = -1

    @property
    def size(self) -> int:
        return 20 + 16 * len(self.states) + 8 * len(self.producer_ids)


@define(eq=False)
class ListTransactionsResponse(Response):
    """The ids. ``unknown_states``: the states of the request that there are not."""

    error: Errors
    unknown_states: tuple[str, ...] = ()
    transactions: tuple[ListedTransaction, ...] = ()

    @property
    def size(self) -> int:
        return 20 + 40 * len(self.transactions)


declare(
    65,
    "DescribeTransactions",
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    help="a client asks a coordinator for the states of transactional ids",
)
declare(
    66,
    "ListTransactions",
    ListTransactionsRequest,
    ListTransactionsResponse,
    help="a client asks a broker which transactional ids it coordinates",
)
