"""DescribeTransactions and ListTransactions (TransactionCoordinator.handleDescribeTransactions, TransactionStateManager
.listTransactionStates; 3.0 to 3.9)."""

from attrs import define

from brokers.requests.router import handles
from brokers.transactions.metadata import TransactionMetadata, TransactionState
from brokers.transactions.transaction_state_manager import CoordinatorEpochAndTxnMetadata, TransactionStateManager
from emulator.network import Channel
from emulator.protocol.errors import NO_ERROR, Errors
from emulator.protocol.transactions.describing import (
    DescribedTransaction,
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    ListedTransaction,
    ListTransactionsRequest,
    ListTransactionsResponse,
)

STATES = frozenset(state.value for state in TransactionState)


@define(eq=False)
class TransactionsDescriber:
    """Answers admin clients."""

    store: TransactionStateManager

    @handles(DescribeTransactionsRequest)
    def describe(self, request: DescribeTransactionsRequest, channel: Channel) -> None:
        response = DescribeTransactionsResponse(tuple([self._described(id) for id in request.ids]))
        channel.reply(response, response.size)

    def _described(self, id: str) -> DescribedTransaction:
        if not id:
            return DescribedTransaction(id, Errors.INVALID_REQUEST)
        found = self.store.find(id)
        if not isinstance(found, CoordinatorEpochAndTxnMetadata):
            return DescribedTransaction(id, found or Errors.TRANSACTIONAL_ID_NOT_FOUND)
        one = found.metadata
        if one.state is TransactionState.DEAD:  # it is being forgotten
            return DescribedTransaction(id, Errors.TRANSACTIONAL_ID_NOT_FOUND)
        return DescribedTransaction(
            id, NO_ERROR, one.state, one.timeout_ms, one.start_ms, one.producer_id, one.producer_epoch,
            tuple(one.partitions),
        )  # fmt: skip

    @handles(ListTransactionsRequest)
    def list(self, request: ListTransactionsRequest, channel: Channel) -> None:
        if self.store.partitions.loading:
            response = ListTransactionsResponse(Errors.COORDINATOR_LOAD_IN_PROGRESS)
        else:
            ids = (one for ids in self.store.transactions.values() for one in ids.values())
            listed = [ListedTransaction(one.id, one.producer_id, one.state) for one in ids if self._is_in(one, request)]
            unknown = tuple(dict.fromkeys(state for state in request.states if state not in STATES))
            response = ListTransactionsResponse(NO_ERROR, unknown, tuple(listed))
        channel.reply(response, response.size)

    def _is_in(self, one: TransactionMetadata, request: ListTransactionsRequest) -> bool:
        lasted_ms = self.store.clock_ms - one.start_ms
        return (
            one.state is not TransactionState.DEAD
            and (not request.producer_ids or one.producer_id in request.producer_ids)
            and (not request.states or one.state in request.states)
            and (request.longer_than_ms < 0 or lasted_ms > request.longer_than_ms)
        )
