"""The requests of transactional producers to their coordinator (kafka.coordinator.transaction.TransactionCoordinator,
2.7).

Each method is one transition, which passes its response to a callback, now or later.
"""

from collections.abc import Callable, Sequence

from attrs import define, field

from brokers.coordinators.appending import Appender
from brokers.coordinators.transitions import Transitions
from brokers.replica_manager import ReplicaManager
from brokers.transactions.config import TRANSACTION_STATE_TOPIC
from brokers.transactions.marker_sending import Connect, TransactionMarkerChannelManager
from brokers.transactions.metadata import (
    LAST_EPOCH,
    NO_PRODUCER_EPOCH,
    TransactionMetadata,
    TransactionState,
    TxnTransitMetadata,
)
from brokers.transactions.policies import TransactionPolicies
from brokers.transactions.transaction_state_manager import CoordinatorEpochAndTxnMetadata, TransactionStateManager
from emulator.logger import get_logger
from emulator.nodes import Process
from emulator.protocol.errors import NO_ERROR, Errors
from emulator.protocol.produce import InitProducerIdRequest, InitProducerIdResponse
from emulator.protocol.records import NO_PRODUCER_ID
from emulator.protocol.shown import Deviated
from emulator.protocol.shown_coordination import ProducerInitialized, TransactionLate
from emulator.protocol.transactions.coordination import EndTxnRequest, OfTransaction
from emulator.protocol.types import TopicPartition

Done = Callable[[Errors], object]
Initialized = Callable[[InitProducerIdResponse], object]
GenerateProducerId = Callable[[Callable[[int], object]], object]
"""A function that calls back with a producer id that no other producer has."""
DECIDED = TransactionState.PREPARE_COMMIT, TransactionState.PREPARE_ABORT


@define(eq=False)
class TransactionCoordinator:
    """The coordinator of one broker's transactional ids.

    Attributes:
        generate_producer_id: calls back with a new producer id, or with none (``NO_PRODUCER_ID``).
        connect: opens a connection to a broker's listener.
        transitions: the transitions of this coordinator.
        store: the transactional ids and their records.
        markers: sends the markers of ended transactions to the partitions.
    """

    process: Process
    manager: ReplicaManager
    appender: Appender
    generate_producer_id: GenerateProducerId
    connect: Connect
    transitions: Transitions = field(init=False)
    store: TransactionStateManager = field(init=False)
    markers: TransactionMarkerChannelManager = field(init=False)
    _ticking: bool = False
    _left: dict[int, None] = field(factory=dict)
    """The partitions whose replica was removed, and whose ids this coordinator has kept (KAFKA-9235)."""

    def __attrs_post_init__(self) -> None:
        self.transitions = Transitions(self.process, self.manager.purgatory)
        self.store = TransactionStateManager(
            self.process, self.manager, self.appender, self.transitions, self._send_markers
        )
        self.markers = TransactionMarkerChannelManager(self.process, self.store, self.connect)

    @property
    def policies(self) -> TransactionPolicies:
        return self.manager.policies.transactions

    # -- election and resignation -----------------------------------------------------------------------------------

    def elected(self, partition: int, leader_epoch: int) -> None:
        """This broker leads ``partition`` of ``__transaction_state`` now."""
        if not self._ticking:
            self._ticking = True
            config, owned = self.store.config, self.store.partitions.owned
            self.process.every(
                config.abort_interval_us,
                self.transitions.alone(self._abort_late),
                owned,
            )
            self.process.every(
                config.expire_interval_us,
                self.transitions.alone(self.store.expire),
                owned,
            )
        if partition in self._left:
            self._give_up(partition, None)
        self.transitions.ending(self.store.partitions.elected)(partition, leader_epoch)

    def resigned(self, partition: int, leader_epoch: int | None) -> None:
        """This broker does not lead it any more; ``leader_epoch``: None where its replica was removed."""
        if leader_epoch is None and not self.policies.stop_resigns:
            if partition in self.store.partitions.owned:
                self._left[partition] = None
                self._show("KAFKA-9235", partition)
            return
        self._give_up(partition, leader_epoch)

    def _show(self, ticket: str, partition: int) -> None:
        """Show that the release does what a ticket is about (``Deviated``)."""
        self.process.mark(
            Deviated, self.process.node.id, ticket, TRANSACTION_STATE_TOPIC, partition, self.process.node.id
        )

    def _give_up(self, partition: int, leader_epoch: int | None) -> None:
        self._left.pop(partition, None)
        if self.store.resigned(partition, leader_epoch):
            self.markers.forget(partition)

    # -- InitProducerId ---------------------------------------------------------------------------------------------

    def init_producer_id(self, request: InitProducerIdRequest, callback: Initialized) -> None:
        """Give a new producer its epoch, and fence those before it. A transaction that they have left open is aborted
        first; the producer gets an error and has to ask again (handleInitProducerId)."""
        id = request.transactional_id
        assert id is not None
        callback = self._showing(request, callback)
        if not id:
            self._refuse(callback, Errors.INVALID_REQUEST)
        elif not 0 < request.transaction_timeout_us <= self.store.config.max_timeout_us:
            self._refuse(callback, Errors.INVALID_TRANSACTION_TIMEOUT)
        else:
            found = self.store.find(id)
            if isinstance(found, CoordinatorEpochAndTxnMetadata):
                self._init(request, found, callback)
            elif found:
                self._refuse(callback, found)
            else:
                self.generate_producer_id(self.transitions.ending(lambda new: self._create(request, new, callback)))

    def _showing(self, request: InitProducerIdRequest, answer: Initialized) -> Initialized:
        """``answer``, which is shown first (``ProducerInitialized``)."""

        def show(response: InitProducerIdResponse) -> None:
            self.process.show(
                ProducerInitialized, self.process.node.id, request.transactional_id, request.producer_id,
                request.producer_epoch, response.producer_id, response.producer_epoch, response.error.name,
            )  # fmt: skip
            answer(response)

        return show

    def _create(self, request: InitProducerIdRequest, producer_id: int, callback: Initialized) -> None:
        if producer_id == NO_PRODUCER_ID:
            self._refuse(callback, Errors.COORDINATOR_LOAD_IN_PROGRESS)
            return
        assert request.transactional_id is not None
        now_ms, timeout_ms = self.store.clock_ms, request.transaction_timeout_us // 1000
        created = TransactionMetadata(request.transactional_id, producer_id, timeout_ms, now_ms)
        found = self.store.put_if_absent(created)
        if isinstance(found, CoordinatorEpochAndTxnMetadata):
            self._init(request, found, callback)
        else:
            self._refuse(callback, found)

    def _init(
        self, request: InitProducerIdRequest, found: CoordinatorEpochAndTxnMetadata, callback: Initialized
    ) -> None:
        metadata = found.metadata
        expected = None if request.producer_id == NO_PRODUCER_ID else request.producer_epoch
        error = self._why_not_init(request, metadata)
        if error:
            self._refuse(callback, error)
        elif metadata.state is TransactionState.ONGOING and not metadata.can_be_fenced:
            self._refuse(callback, Errors.UNKNOWN_SERVER_ERROR)
        elif metadata.state is TransactionState.ONGOING:
            fence = metadata.prepare_fence()
            self._end(
                metadata.id, fence.producer_id, fence.producer_epoch,
                lambda error: self._refuse(callback, error or Errors.CONCURRENT_TRANSACTIONS),
                committed=False, from_client=False,
            )  # fmt: skip
        elif metadata.is_epoch_exhausted and expected in (None, metadata.producer_epoch):
            self.generate_producer_id(self.transitions.ending(lambda new: self._rotate(request, found, new, callback)))
        else:
            timeout_ms = request.transaction_timeout_us // 1000
            self._initialize(found, metadata.prepare_increment(timeout_ms, expected, self.store.clock_ms), callback)

    def _why_not_init(self, request: InitProducerIdRequest, metadata: TransactionMetadata) -> Errors:
        if metadata.pending is not None:
            return Errors.CONCURRENT_TRANSACTIONS
        if request.producer_id != NO_PRODUCER_ID and not _is_valid(request, metadata):
            return Errors.PRODUCER_FENCED
        return Errors.CONCURRENT_TRANSACTIONS if metadata.state in DECIDED else NO_ERROR

    def _rotate(
        self,
        request: InitProducerIdRequest,
        found: CoordinatorEpochAndTxnMetadata,
        producer_id: int,
        callback: Initialized,
    ) -> None:
        """Give the producer another producer id, if nothing has changed while that was fetched."""
        if producer_id == NO_PRODUCER_ID:
            self._refuse(callback, Errors.COORDINATOR_LOAD_IN_PROGRESS)
            return
        metadata = found.metadata
        if self.store.find(metadata.id) != found or metadata.pending is not None or not metadata.is_epoch_exhausted:
            self._refuse(callback, Errors.CONCURRENT_TRANSACTIONS)
            return
        to = metadata.prepare_rotation(
            producer_id, request.transaction_timeout_us // 1000, self.store.clock_ms,
            records_last=request.producer_id != NO_PRODUCER_ID,
        )  # fmt: skip
        self._initialize(found, to, callback)

    def _initialize(
        self, found: CoordinatorEpochAndTxnMetadata, to: TxnTransitMetadata | Errors, callback: Initialized
    ) -> None:
        if isinstance(to, Errors):
            self._refuse(callback, to)
            return

        def written(error: Errors) -> None:
            if error:
                self._refuse(callback, error)
            else:
                response = InitProducerIdResponse(to.producer_id, producer_epoch=to.producer_epoch)
                self.transitions.answer(callback, response)

        self.store.append(found.metadata.id, found.coordinator_epoch, to, written)

    def _refuse(self, callback: Initialized, error: Errors) -> None:
        response = InitProducerIdResponse(NO_PRODUCER_ID, error=error, producer_epoch=NO_PRODUCER_EPOCH)
        self.transitions.answer(callback, response)

    # -- AddPartitionsToTxn and AddOffsetsToTxn ---------------------------------------------------------------------

    def add_partitions(
        self, request: OfTransaction, partitions: Sequence[TopicPartition], done: Done
    ) -> None:  # fmt: skip
        """Add partitions to the transaction, which begins with the first (handleAddPartitionsToTransaction)."""
        found = self._of_producer(request)
        if isinstance(found, Errors):
            self.transitions.answer(done, found)
            return
        metadata = found.metadata
        if request.producer_epoch != metadata.producer_epoch:
            error = Errors.PRODUCER_FENCED
        elif metadata.pending is not None or metadata.state in DECIDED:
            error = Errors.CONCURRENT_TRANSACTIONS
        elif metadata.state is TransactionState.ONGOING and all(tp in metadata.partitions for tp in partitions):
            error = NO_ERROR
        else:
            to = metadata.prepare_add(partitions, self.store.clock_ms)
            self.store.append(
                metadata.id, found.coordinator_epoch, to, lambda error: self.transitions.answer(done, error)
            )
            return
        self.transitions.answer(done, error)

    def verify(
        self, transaction: OfTransaction, partitions: Sequence[TopicPartition]
    ) -> tuple[tuple[TopicPartition, Errors], ...]:
        """Say of each partition whether a transaction has it; NONE: it has (handleVerifyPartitionsInTransaction, 3.6.2
        and 3.9.0). It has a partition from the record that adds it on, until all markers are written; a change under
        way is not looked at."""
        found = self._of_producer(transaction)
        if isinstance(found, Errors):
            return tuple((tp, found) for tp in partitions)
        metadata, error = found.metadata, NO_ERROR
        if transaction.producer_epoch != metadata.producer_epoch:
            error = Errors.PRODUCER_FENCED
        elif metadata.state in DECIDED:
            error = Errors.CONCURRENT_TRANSACTIONS
        missing = Errors.TRANSACTION_ABORTABLE if self.policies.knows_abortable else Errors.INVALID_TXN_STATE
        return tuple((tp, error if error or tp in metadata.partitions else missing) for tp in partitions)

    def _of_producer(self, request: OfTransaction) -> CoordinatorEpochAndTxnMetadata | Errors:
        """The transactional id of a producer, or the error if the producer is not the current one."""
        if not request.transactional_id:
            return Errors.INVALID_REQUEST
        found = self.store.find(request.transactional_id)
        if isinstance(found, Errors):
            return found or Errors.INVALID_PRODUCER_ID_MAPPING
        same = found.metadata.producer_id == request.producer_id
        return found if same else Errors.INVALID_PRODUCER_ID_MAPPING

    # -- EndTxn -----------------------------------------------------------------------------------------------------

    def end(self, request: EndTxnRequest, done: Done) -> None:
        """Commit or abort. The producer is answered when the decision is in the log; the markers follow."""
        if not request.transactional_id:
            self.transitions.answer(done, Errors.INVALID_REQUEST)
            return
        self._end(
            request.transactional_id, request.producer_id, request.producer_epoch,
            lambda error: self.transitions.answer(done, error), committed=request.committed, from_client=True,
        )  # fmt: skip

    def _end(
        self, id: str, producer_id: int, producer_epoch: int, done: Done, *, committed: bool, from_client: bool
    ) -> None:
        """End a transaction (endTransaction). ``from_client``: the epoch should be that of the producer; the
        coordinator itself uses a higher one, to fence it."""
        found = self.store.find(id)
        if isinstance(found, Errors):
            done(found or Errors.INVALID_PRODUCER_ID_MAPPING)
            return
        metadata = found.metadata
        fences = metadata.pending is TransactionState.PREPARE_EPOCH_FENCE
        strict = from_client and self.policies.end_needs_same_epoch
        if metadata.producer_id != producer_id:
            done(Errors.INVALID_PRODUCER_ID_MAPPING)
        elif producer_epoch < metadata.producer_epoch or (strict and producer_epoch != metadata.producer_epoch):
            done(Errors.PRODUCER_FENCED)
        elif metadata.pending is not None and not fences:
            done(Errors.CONCURRENT_TRANSACTIONS)
        elif metadata.state is not TransactionState.ONGOING:
            done(_outcome(metadata.state, committed))
        else:
            if fences:
                metadata.pending = None
                if not committed:
                    metadata.fenced(producer_epoch, remembers=not self.policies.fences_once)
            self._decide(found, done, committed=committed, fences=fences)

    def _decide(self, found: CoordinatorEpochAndTxnMetadata, done: Done, *, committed: bool, fences: bool) -> None:
        """Write the decision; then answer, and send the markers."""
        metadata = found.metadata
        to = metadata.prepare_decision(committed=committed, now_ms=self.store.clock_ms)

        def decided(error: Errors) -> None:
            if not error:
                done(NO_ERROR)
                self._send_markers(found)
                return
            if fences:
                metadata.failed_fence = self.policies.fences_once
            done(error)

        self.store.append(metadata.id, found.coordinator_epoch, to, decided)

    def _send_markers(self, found: CoordinatorEpochAndTxnMetadata) -> None:
        """Send the markers of a transaction that is decided to its partitions. A new coordinator does this first."""
        to = found.metadata.prepare_complete(self.store.clock_ms)
        self.markers.add(found, to, committed=to.state is TransactionState.COMPLETE_COMMIT)

    # -- transactions that last too long ----------------------------------------------------------------------------

    def _abort_late(self) -> None:
        """Abort the transactions that have lasted too long, and fence their producers (abortTimedOutTransactions)."""
        for metadata in self.store.late():
            log = get_logger("brokers.transactions")
            if not metadata.can_be_fenced:
                log.error("cannot abort what has lasted too long: no epoch is left", transactional_id=metadata.id)
                return
            log.info("a transaction has lasted too long", transactional_id=metadata.id)
            home = self.store.partitions.home(metadata.id)
            self.process.mark(TransactionLate, self.process.node.id, metadata.id, home)
            fence = metadata.prepare_fence()
            self._end(
                metadata.id, fence.producer_id, fence.producer_epoch, lambda _error: None, committed=False,
                from_client=False,
            )  # fmt: skip


def _outcome(state: TransactionState, committed: bool) -> Errors:
    """The answer to a producer that ends a transaction which is not open: NONE if it was ended in that same way
    before."""
    if state is (TransactionState.COMPLETE_COMMIT if committed else TransactionState.COMPLETE_ABORT):
        return NO_ERROR
    if state is (TransactionState.PREPARE_COMMIT if committed else TransactionState.PREPARE_ABORT):
        return Errors.CONCURRENT_TRANSACTIONS
    return Errors.INVALID_TXN_STATE


def _is_valid(request: InitProducerIdRequest, metadata: TransactionMetadata) -> bool:
    """Whether a producer with this producer id and epoch can be the known one (KIP-360)."""
    if metadata.producer_epoch == NO_PRODUCER_EPOCH or request.producer_id == metadata.producer_id:
        return True
    return request.producer_id == metadata.last_producer_id and request.producer_epoch >= LAST_EPOCH - 1
