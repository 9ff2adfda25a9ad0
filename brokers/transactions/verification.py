"""The verification of transactions by leaders (AddPartitionsToTxnManager, and
ReplicaManager.maybeStartTransactionVerificationForPartitions; 3.6.2 and 3.9.0; KIP-890, part 1): before a leader
appends the first records of a transaction, it asks the transaction's coordinator whether the partition is in it.

One request at a time is under way to each coordinator. The questions that come meanwhile are in the next one, each
transactional id once.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from attrs import define, field

from brokers.coordinators.internal_topic import InternalTopicPartitions
from brokers.log.producer_state_manager import VerificationStateEntry
from brokers.replica_manager import ReplicaManager
from brokers.transactions.marker_sending import Connect
from emulator.network import Disconnected
from emulator.protocol.errors import Errors
from emulator.protocol.transactions.add_partitions_to_txns import (
    AddPartitionsToTxnsRequest,
    AddPartitionsToTxnsResponse,
    AddPartitionsToTxnTransaction,
)
from emulator.protocol.transactions.coordination import OfTransaction
from emulator.protocol.types import TopicPartition

Outcome = Mapping[TopicPartition, Errors]


class Verification(NamedTuple):
    """The outcome of a verification.

    Attributes:
        errors: the partitions to which nothing may be appended, and why.
        guards: what was verified; a partition that is not here needed no verification.
    """

    errors: Outcome
    guards: Mapping[TopicPartition, VerificationStateEntry]


Verified = Callable[[Verification], object]
Verify = Callable[[OfTransaction, Mapping[TopicPartition, int], bool, Verified], object]
"""``AddPartitionsToTxnManager.verify``."""


class Question(NamedTuple):
    """A question about one transaction, and whom to tell the errors: of partitions that are in it, there are none."""

    transaction: AddPartitionsToTxnTransaction
    tell: Callable[[Outcome], object]

    def fail(self, error: Errors) -> None:
        self.tell(dict.fromkeys(self.transaction.partitions, error))


@define(eq=False)
class TransactionDataAndCallbacks:
    """The questions of the next request to one coordinator.

    Attributes:
        knows_abortable: whether the client of the first of them knows TRANSACTION_ABORTABLE, which Kafka takes for the
            others as well.
        questions: by transactional id.
    """

    knows_abortable: bool
    questions: dict[str, Question] = field(factory=dict)


@define(eq=False)
class AddPartitionsToTxnManager:
    """The verifications of one broker.

    Attributes:
        states: the partitions of ``__transaction_state``, as far as this broker knows them.
        is_over: whether the broker has stopped handling requests: it does nothing with an answer any more.
    """

    manager: ReplicaManager
    states: InternalTopicPartitions
    connect: Connect
    is_over: bool = False
    _next: dict[int, TransactionDataAndCallbacks] = field(factory=dict)
    _asked: dict[int, None] = field(factory=dict)
    """The coordinators that are being asked."""

    def verify(
        self,
        producer: OfTransaction,
        sequences: Mapping[TopicPartition, int],
        knows_abortable: bool,
        done: Verified,
    ) -> None:
        """Verify partitions for a producer, each with the sequence number of its batch, and call ``done``: at once
        where no coordinator has to be asked, or none is known."""
        id, number, epoch = producer.transactional_id, producer.producer_id, producer.producer_epoch
        errors: dict[TopicPartition, Errors] = {}
        guards: dict[TopicPartition, VerificationStateEntry] = {}
        for tp, sequence in sequences.items():
            partition = self.manager.partitions.get(tp)
            if partition is None:
                errors[tp] = self.manager.error_without_replica(tp)
            elif not partition.is_leader:
                errors[tp] = Errors.NOT_LEADER_FOR_PARTITION
            else:
                guard = partition.log.maybe_start_verification(number, sequence, epoch)
                if guard is not None:
                    guards[tp] = guard
        transaction = AddPartitionsToTxnTransaction(id, number, epoch, tuple(guards))
        question = Question(transaction, lambda found: done(Verification({**errors, **found}, guards)))
        if not guards:
            question.tell({})
            return
        coordinator = self._coordinator(id)
        if coordinator is None:
            question.fail(Errors.COORDINATOR_NOT_AVAILABLE)
        else:
            self._ask(coordinator, question, knows_abortable)

    def _coordinator(self, transactional_id: str) -> int | None:
        """The broker that leads the partition of the id, as this broker's metadata has it."""
        metadata, home = self.manager.metadata, self.states.home(transactional_id)
        state = metadata.partitions_of(home.topic).get(home.partition)
        return None if state is None or state.leader not in metadata.live_brokers else state.leader

    def _ask(self, coordinator: int, question: Question, knows_abortable: bool) -> None:
        """Put a question into the next request (addTxnData). One about the same transactional id that waits is given
        up, as its client asks again, or it has another instance."""
        if coordinator not in self._next:
            self._next[coordinator] = TransactionDataAndCallbacks(knows_abortable)
        questions, asked = self._next[coordinator].questions, question.transaction
        earlier = questions.get(asked.transactional_id)
        if earlier is not None:
            if earlier.transaction.producer_epoch > asked.producer_epoch:
                question.fail(Errors.INVALID_PRODUCER_EPOCH)
                return
            is_same = earlier.transaction.producer_epoch == asked.producer_epoch
            del questions[asked.transactional_id]
            earlier.fail(Errors.NETWORK_EXCEPTION if is_same else Errors.INVALID_PRODUCER_EPOCH)
        questions[asked.transactional_id] = question
        if coordinator not in self._asked:
            self._asked[coordinator] = None
            self._begin(coordinator)

    def _begin(self, coordinator: int) -> None:
        self.manager.process.spawn(self._send, coordinator, name=f"verifications by {coordinator}")

    async def _send(self, coordinator: int) -> None:
        """Send what there is for a coordinator, one request at a time."""
        client = self.connect(coordinator)
        while coordinator in self._next:
            sent, request = self._take(coordinator)
            try:
                response: AddPartitionsToTxnsResponse | None = await client.call(request, request.size)
            except Disconnected:
                response = None
            self._answered(sent, response)
        del self._asked[coordinator]
        client.close()

    def _take(self, coordinator: int) -> tuple[TransactionDataAndCallbacks, AddPartitionsToTxnsRequest]:
        """The questions that wait for a coordinator, and the request with them (generateRequests)."""
        sent = self._next.pop(coordinator)
        return sent, AddPartitionsToTxnsRequest(tuple(each.transaction for each in sent.questions.values()))

    def _answered(self, sent: TransactionDataAndCallbacks, response: AddPartitionsToTxnsResponse | None) -> None:
        """Tell what the coordinator has answered; None: it has not, or the connection was lost."""
        if self.is_over:
            return
        complete = self.manager.purgatory.completing
        if response is None:
            for question in sent.questions.values():
                complete(question.fail)(Errors.NETWORK_EXCEPTION)
            return
        for id, outcomes in response.transactions.items():
            found = {tp: _for_client(error, sent.knows_abortable) for tp, error in outcomes if error}
            complete(sent.questions[id].tell)(found)


def _for_client(error: Errors, knows_abortable: bool) -> Errors:
    """The error for a client where the coordinator has answered ``error``."""
    if error is Errors.PRODUCER_FENCED:
        return Errors.INVALID_PRODUCER_EPOCH
    if error is Errors.TRANSACTION_ABORTABLE and not knows_abortable:
        return Errors.INVALID_TXN_STATE
    return error
