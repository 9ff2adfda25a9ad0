"""TransactionCoordinatorTest, TransactionStateManagerTest, TransactionMarkerChannelManagerTest,
TransactionMarkerRequestCompletionHandlerTest and TransactionMetadataTest (1.1.1 to 3.9.0): who may do what in which
state of a transactional id, and what happens where a write or a marker fails."""

from typing import Any

import pytest

from brokers.transactions.metadata import LAST_EPOCH, TransactionState
from brokers.transactions.records import TransactionBatch
from emulator.protocol.errors import Errors
from emulator.protocol.transactions.describing import DescribeTransactionsRequest, ListTransactionsRequest
from emulator.protocol.types import TopicPartition
from scenarios.profiles import PROFILES
from tests.brokers.bench import TP
from tests.brokers.conformance.test_group_metadata import Failing
from tests.brokers.transactions.bench import ID, SECOND, STATES, Producer, TransactionBench

NONE, FENCED, CONCURRENT = Errors.NONE, Errors.PRODUCER_FENCED, Errors.CONCURRENT_TRANSACTIONS
INVALID, UNAVAILABLE = Errors.INVALID_TXN_STATE, Errors.COORDINATOR_NOT_AVAILABLE
OTHER = TopicPartition("t", 1)
S = TransactionState
ENDS = (S.PREPARE_COMMIT, S.PREPARE_ABORT, S.COMPLETE_COMMIT, S.COMPLETE_ABORT)
ALL = (S.EMPTY, S.ONGOING, *ENDS)


def of(release: str, **settings: Any) -> TransactionBench:
    return TransactionBench(PROFILES[release].policies.brokers.transactions, **settings)


def brought_to(state: TransactionState, bench: TransactionBench) -> Producer:
    """The producer of an id that is in ``state``."""
    bench.learn(OTHER, 0)
    producer = bench.producer()
    if state is not S.EMPTY:
        assert bench.add(producer) is NONE
    if state in ENDS:
        assert bench.end(producer, committed=state in (S.PREPARE_COMMIT, S.COMPLETE_COMMIT)) is NONE
    if state in (S.COMPLETE_COMMIT, S.COMPLETE_ABORT):
        bench.answer_markers()
    assert bench.state == state
    return producer


def written(bench: TransactionBench) -> list[str]:
    """The states in the log."""
    batches = bench.manager.partitions[STATES].log.batches
    return [str(each.value.state) for each in batches if isinstance(each, TransactionBatch) and each.value]


# -- TransactionCoordinatorTest ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("release", ["kafka-1.1", "kafka-3.9"])
@pytest.mark.parametrize("state", ALL)
def test_partitions_are_added(state: TransactionState, release: str) -> None:
    """shouldRespondWith(ConcurrentTransactions|ConcurrentTransaction|Success)OnAddPartitionsWhenStateIs*,
    shouldAppendNewMetadataToLogOnAddPartitionsWhenPartitionsAdded,
    shouldRespondWithErrorsNoneOnAddPartitionWhenNoErrorsAndPartitionsTheSame."""
    bench = of(release)
    number, epoch = brought_to(state, bench)
    before = written(bench)
    for producer, error in (
        ((number + 1, epoch), Errors.INVALID_PRODUCER_ID_MAPPING),
        ((number, epoch + 1), FENCED),
        ((number, epoch), CONCURRENT if state in (S.PREPARE_COMMIT, S.PREPARE_ABORT) else NONE),
    ):
        assert bench.add(producer, TP) is error
    same = state in (S.PREPARE_COMMIT, S.PREPARE_ABORT, S.ONGOING)
    assert written(bench) == before + ([] if same else ["Ongoing"])
    if state not in (S.PREPARE_COMMIT, S.PREPARE_ABORT):
        assert bench.add((number, epoch), TP, OTHER) is NONE
        assert list(bench.metadata.partitions) == [TP, OTHER]


@pytest.mark.parametrize("committed", [True, False])
@pytest.mark.parametrize("state", ALL)
def test_a_transaction_is_ended(state: TransactionState, committed: bool) -> None:
    """shouldReturnOkOnEndTxnWhenStatusIs*, shouldReturnInvalidTxnRequestOnEndTxnRequestWhenStatusIs*,
    shouldReturnConcurrentTxnRequestOnEndTxnRequestWhenStatusIsPrepareCommit,
    shouldAppendPrepare(Commit|Abort)ToLogOnEndTxnWhenStatusIsOngoingAndResultIs*, shouldReplyWithInvalidPidMapping*,
    shouldReturnInvalidEpochOnEndTxnWhenEpochIs(Larger|Smaller). While the markers are sent the end is pending, which
    comes first; Kafka's tests leave that out."""
    bench = of("kafka-3.9")
    number, epoch = brought_to(state, bench)
    assert bench.end((number + 1, epoch), committed=committed) is Errors.INVALID_PRODUCER_ID_MAPPING
    assert bench.end((number, epoch + 1), committed=committed) is FENCED
    assert bench.end((number, epoch - 1), committed=committed) is FENCED
    commits = state in (S.PREPARE_COMMIT, S.COMPLETE_COMMIT)
    expected = {
        S.EMPTY: INVALID,
        S.ONGOING: NONE,
        S.PREPARE_COMMIT: CONCURRENT,
        S.PREPARE_ABORT: CONCURRENT,
    }.get(state, NONE if commits is committed else INVALID)
    before = written(bench)
    assert bench.end((number, epoch), committed=committed) is expected
    decided = ["PrepareCommit" if committed else "PrepareAbort"] if state is S.ONGOING else []
    assert written(bench) == before + decided


@pytest.mark.parametrize("release", ["kafka-1.1", "kafka-2.5", "kafka-3.9"])
@pytest.mark.parametrize("state", ALL)
def test_a_producer_begins(state: TransactionState, release: str) -> None:
    """shouldIncrementEpochAndUpdateMetadataOnHandleInitPidWhenExisting(Empty|Complete|CompleteCommit)Transaction,
    shouldWaitForCommitToCompleteOnHandleInitPidAndExistingTransactionInPrepare(Commit|Abort)State,
    shouldAbortTransactionOnHandleInitPidWhenExistingTransactionInOngoingState."""
    bench = of(release)
    number, epoch = brought_to(state, bench)
    answered = bench.init(timeout_us=7 * SECOND)
    if state in (S.EMPTY, S.COMPLETE_COMMIT, S.COMPLETE_ABORT):
        assert (answered.error, answered.producer_id, answered.producer_epoch) == (NONE, number, epoch + 1)
        assert (bench.state, bench.metadata.timeout_ms) == ("Empty", 7000)
        return
    assert (answered.error, answered.producer_id, answered.producer_epoch) == (CONCURRENT, -1, -1)
    committed = state is S.PREPARE_COMMIT
    assert bench.state == ("PrepareCommit" if committed else "PrepareAbort")
    bench.answer_markers()
    raised = 2 if state is S.ONGOING else 1
    assert bench.producer() == (number, epoch + raised)
    assert bench.end((number, epoch)) is FENCED


@pytest.mark.parametrize(
    ("before", "asked", "expected"),
    [
        ([], [None, (0, 10)], [11, FENCED]),
        ([], [(0, 10), (0, 10), (0, 11)], [11, 11, 12]),
        ([], [(0, 9)], [FENCED]),
        ([], [(1, 10)], [FENCED]),
    ],
    ids=["Stale", "Current", "NoLastProducerData", "DifferentProducerId"],
)
def test_a_producer_that_gives_its_epoch(before: list[Any], asked: list[Any], expected: list[Any]) -> None:
    """testInitProducerId(StaleCurrentEpochProvided|WithCurrentEpochProvided|WithNoLastProducerData),
    testFenceProducerWhenMappingExistsWithDifferentProducerId,
    TransactionMetadataTest.testEpochBumpWithCurrentEpochProvided, testAttemptedEpochBumpWith(LastEpoch|FencedEpoch)
    (2.7.2)."""
    bench = of("kafka-2.7")
    number, _epoch = bench.producer()
    bench.metadata.producer_epoch = 10
    for known, outcome in zip(asked, expected, strict=True):
        answered = bench.init(known=(-1, -1) if known is None else (number + known[0], known[1]))
        assert (answered.error or answered.producer_epoch) == outcome


def test_a_new_id_takes_no_known_producer() -> None:
    """shouldGenerateNewProducerIdIfNoStateAndProducerIdAndEpochProvided,
    testAttemptedEpochBumpWithNewlyCreatedMetadata."""
    bench = of("kafka-2.7")
    assert bench.producer(known=(7, 3)) == (1001, 0)


@pytest.mark.parametrize("known", [False, True])
def test_epochs_that_are_used_up(known: bool) -> None:
    """shouldGenerateNewProducerIdIfEpochsExhausted, testRetryInitProducerIdAfterProducerIdRotation,
    testInitProducerIdWithInvalidEpochAfterProducerIdRotation, TransactionMetadataTest.testRotateProducerId."""
    bench = of("kafka-2.7")
    number, _epoch = bench.producer()
    bench.metadata.producer_epoch = LAST_EPOCH - 1
    last = (number, LAST_EPOCH - 1)
    assert bench.producer(known=last if known else (-1, -1)) == (number + 1, 0)
    if known:
        assert bench.producer(known=last) == (number + 1, 0), "its answer was lost"
    assert bench.init(known=(number, LAST_EPOCH - 2)).error is FENCED
    assert bench.init(known=(number, 5)).error is FENCED
    assert bench.producer(known=(number + 1, 0)) == (number + 1, 1)


def test_the_last_epoch_is_there_to_fence() -> None:
    """shouldUseLastEpochToFenceWhenEpochsAreExhausted,
    TransactionMetadataTest.testFenceProducerAfterEpochsExhausted."""
    bench = of("kafka-3.9")
    number, _epoch = bench.producer()
    bench.metadata.producer_epoch = LAST_EPOCH - 1
    assert bench.add((number, LAST_EPOCH - 1)) is NONE
    assert bench.init().error is CONCURRENT
    assert (bench.state, bench.metadata.producer_epoch) == ("PrepareAbort", LAST_EPOCH)
    bench.answer_markers()
    assert bench.producer() == (number + 1, 0)


def test_a_transaction_that_lasts_too_long_has_the_next_epoch() -> None:
    """shouldAbortExpiredTransactionsInOngoingStateAndBumpEpoch: of the producer that has it now."""
    bench = of("kafka-2.7", abort_interval_us=SECOND)
    bench.producer(timeout_us=5 * SECOND)
    later = bench.producer(timeout_us=5 * SECOND)
    assert bench.add(later) is NONE
    bench.wait(7 * SECOND)
    assert bench.state == "PrepareAbort"
    assert bench.metadata.producer_epoch == later[1] + 1
    assert bench.end(later) is FENCED


def test_what_is_being_written_is_not_aborted_for_its_age() -> None:
    """shouldNotAbortExpiredTransactionsThatHaveAPendingStateTransition, shouldNotBumpEpochWithPendingTransaction."""
    bench = TransactionBench(isr=(0, 1), abort_interval_us=SECOND)
    answers: list[Any] = []
    from emulator.protocol.produce import InitProducerIdRequest

    transitions = bench.coordinator.transitions
    request = InitProducerIdRequest(
        transactional_id=ID, producer_id=-1, producer_epoch=-1, transaction_timeout_us=SECOND
    )
    transitions.ending(bench.coordinator.init_producer_id)(request, answers.append)
    assert (answers, bench.metadata.pending) == ([], S.EMPTY)
    transitions.ending(bench.coordinator.init_producer_id)(request, answers.append)
    assert answers[0].error is CONCURRENT
    assert bench.coordinator.store.late() == []


def test_a_coordinator_that_resigns_knows_nothing_any_more() -> None:
    """shouldRemoveTransactionsForPartitionOnEmigration, testLoadAndRemoveTransactionsForPartition,
    testDeleteLoadingPartition, testSuccessfulReimmigration,
    shouldRemoveMarkersForTxnPartitionWhenPartitionEmigrated."""
    bench = of("kafka-2.7")
    producer = brought_to(S.PREPARE_COMMIT, bench)
    bench.resign(1)
    assert bench.coordinator.store.transactions == {}
    bench.answer_markers()
    assert written(bench)[-1] == "PrepareCommit", "the answer is the next coordinator's"
    bench.lead(2, (0,), tp=STATES, replicas=(0,))
    bench.resign(3)
    bench.wait(SECOND)
    assert bench.end(producer) is Errors.NOT_COORDINATOR
    bench.elect(4)
    assert (bench.state, list(bench.metadata.partitions)) == ("PrepareCommit", [TP])


# -- TransactionStateManagerTest --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("failure", "error"),
    [
        (Errors.UNKNOWN_TOPIC_OR_PARTITION, UNAVAILABLE),
        (Errors.NOT_ENOUGH_REPLICAS, UNAVAILABLE),
        (Errors.NOT_ENOUGH_REPLICAS_AFTER_APPEND, UNAVAILABLE),
        (Errors.REQUEST_TIMED_OUT, UNAVAILABLE),
        (Errors.NOT_LEADER_FOR_PARTITION, Errors.NOT_COORDINATOR),
        (Errors.KAFKA_STORAGE_ERROR, Errors.NOT_COORDINATOR),
        (Errors.MESSAGE_TOO_LARGE, Errors.UNKNOWN_SERVER_ERROR),
        (Errors.RECORD_LIST_TOO_LARGE, Errors.UNKNOWN_SERVER_ERROR),
    ],
)
def test_what_a_failed_write_is_answered(failure: Errors, error: Errors) -> None:
    """testAppendFailTo(CoordinatorNotAvailable|NotCoordinator|Unknown)Error, testPendingStateNotResetOnRetryAppend,
    shouldNotRemoveExpiredTransactionalIdsIfLogAppendFails: nothing is pending then, but the end of a transaction that
    is written again."""
    bench = of("kafka-2.7", id_expiration_us=10 * SECOND)
    producer = brought_to(S.ONGOING, bench)
    works = bench.coordinator.store.partitions.appender
    bench.coordinator.store.partitions.appender = Failing(failure)
    assert bench.add(producer, OTHER) is error
    assert (bench.metadata.pending, list(bench.metadata.partitions)) == (None, [TP])
    assert bench.end(producer) is error
    assert (bench.metadata.pending, bench.state) == (None, "Ongoing")
    bench.coordinator.store.partitions.appender = works
    assert bench.end(producer) is NONE
    bench.coordinator.store.partitions.appender = Failing(failure)
    bench.answer_markers()
    again = error is UNAVAILABLE
    assert bench.metadata.pending is (S.COMPLETE_COMMIT if again else None)
    bench.coordinator.store.partitions.appender = works
    bench.wait(SECOND)
    assert bench.state == ("CompleteCommit" if again else "PrepareCommit")


@pytest.mark.parametrize("state", ALL)
def test_which_ids_expire(state: TransactionState) -> None:
    """shouldRemove(CompleteCommit|CompleteAbort|Empty)ExpiredTransactionalIds,
    shouldNotRemove(Ongoing|PrepareAbort|PrepareCommit)TransactionalIds,
    shouldNotRemoveExpiredTransactionalIdsIfLogAppendFails."""
    bench = of("kafka-2.7", id_expiration_us=10 * SECOND)
    brought_to(state, bench)
    store = bench.coordinator.store
    bench.wait(11 * SECOND)
    works, store.partitions.appender = store.partitions.appender, Failing(Errors.NOT_ENOUGH_REPLICAS)
    store.expire()
    assert bench.state == state
    store.partitions.appender = works
    store.expire()
    assert (ID in store.transactions[0]) is (state in (S.ONGOING, S.PREPARE_COMMIT, S.PREPARE_ABORT))


def test_which_transactions_are_late() -> None:
    """shouldOnlyConsiderTransactionsInTheOngoingStateToAbort,
    shouldAbortExpiredTransactionsInOngoingStateAndBumpEpoch."""
    for state in ALL:
        bench = of("kafka-2.7")
        producer = brought_to(state, bench)
        bench.wait(61 * SECOND)
        late = [S.ONGOING] if state is S.ONGOING else []
        if bench.state == state:
            assert [each.state for each in bench.coordinator.store.late()] == late
        else:
            assert (bench.state, bench.metadata.producer_epoch) == ("PrepareAbort", producer[1] + 1)


# -- markers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "then"),
    [
        (Errors.NONE, "complete"),
        (Errors.INVALID_PRODUCER_EPOCH, "given up"),
        (Errors.TRANSACTION_COORDINATOR_FENCED, "given up"),
        (Errors.UNKNOWN_TOPIC_OR_PARTITION, "again"),
        (Errors.NOT_LEADER_FOR_PARTITION, "again"),
        (Errors.NOT_ENOUGH_REPLICAS, "again"),
        (Errors.NOT_ENOUGH_REPLICAS_AFTER_APPEND, "again"),
        (Errors.KAFKA_STORAGE_ERROR, "again"),
    ],
)
def test_answers_to_markers(error: Errors, then: str) -> None:
    """TransactionMarkerRequestCompletionHandlerTest.shouldRetryPartitionWhen*, shouldCompleteDelayedOperationWhen*."""
    bench = of("kafka-2.7")
    brought_to(S.PREPARE_COMMIT, bench)
    bench.answer_markers(error)
    assert bench.state == ("CompleteCommit" if then == "complete" else "PrepareCommit")
    bench.wait(SECOND)
    assert [queued.marker.partitions for _broker, queued in bench.markers.noted] == ([(TP,)] if then == "again" else [])


def test_one_marker_for_each_broker() -> None:
    """TransactionMarkerChannelManagerTest.shouldGenerateRequestPerPartitionPerBroker, shouldOnlyWriteTxnCompletionOnce,
    shouldCompleteAppendToLogOnEndTxnWhenSendMarkersSucceed, TransactionsTest.testMultipleMarkersOneLeader."""
    bench = of("kafka-2.7")
    tps = [TopicPartition("t", number) for number in range(6)]
    for tp in tps:
        bench.learn(tp, tp.partition % 3)
    producer = bench.producer()
    assert bench.add(producer, *tps) is NONE
    assert bench.end(producer) is NONE
    sent = {broker: queued.marker.partitions for broker, queued in bench.markers.noted}
    assert sent == {broker: (tps[broker], tps[broker + 3]) for broker in range(3)}
    last = bench.markers.noted.pop()
    bench.answer_markers()
    assert (bench.state, list(bench.metadata.partitions)) == ("PrepareCommit", list(sent[last[0]]))
    bench.markers.noted.append(last)
    bench.answer_markers()
    assert written(bench).count("CompleteCommit") == 1
    assert bench.markers.noted == []


def test_answers_that_a_coordinator_gets_after_it_was_elected_again() -> None:
    """shouldNotLoseTxnCompletionAfterLoad (3.9): an answer to the markers of its former term ends nothing, and the new
    term completes the transaction."""
    bench = of("kafka-3.9")
    brought_to(S.PREPARE_COMMIT, bench)
    former, bench.markers.noted = bench.markers.noted, []
    bench.resign(1)
    bench.elect(2)
    current, bench.markers.noted = bench.markers.noted, former
    assert [queued.marker.coordinator_epoch for _broker, queued in (*former, *current)] == [0, 2]
    bench.answer_markers(Errors.TRANSACTION_COORDINATOR_FENCED)
    bench.markers.noted = current
    bench.answer_markers()
    assert bench.state == "CompleteCommit"


# -- administrators ---------------------------------------------------------------------------------------------------


def test_ids_that_cannot_be_described() -> None:
    """testDescribeTransactionsWithEmptyTransactionalId, ...WithExpiringTransactionalId, ...WhileCoordinatorLoading,
    testListTransactionsWithCoordinatorLoadingInProgress, testListTransactionsFiltering (3.0.2)."""
    from brokers.transactions.describing import TransactionsDescriber

    bench = of("kafka-3.0", elected=False)
    bench.router.add(TransactionsDescriber(bench.coordinator.store))

    def described(*ids: str) -> list[tuple[Errors, str]]:
        return [(one.error, one.state) for one in bench.send(DescribeTransactionsRequest(ids)).last.transactions]

    def listed(**filters: Any) -> list[str]:
        return [one.id for one in bench.send(ListTransactionsRequest(**filters)).last.transactions]

    assert described("", ID) == [(Errors.INVALID_REQUEST, ""), (Errors.NOT_COORDINATOR, "")]
    bench.lead(0, (0,), tp=STATES, replicas=(0,))
    assert described(ID) == [(Errors.COORDINATOR_LOAD_IN_PROGRESS, "")]
    assert bench.send(ListTransactionsRequest()).last.error is Errors.COORDINATOR_LOAD_IN_PROGRESS
    bench.wait(0)
    assert described(ID) == [(Errors.TRANSACTIONAL_ID_NOT_FOUND, "")]
    number, _epoch = brought_to(S.ONGOING, bench)
    other = bench.producer(id="other")
    assert described(ID, "other") == [(NONE, "Ongoing"), (NONE, "Empty")]
    assert listed() == [ID, "other"]
    assert listed(states=("Ongoing",)) == listed(producer_ids=(number,)) == [ID]
    assert listed(states=("Ongoing", "Empty"), producer_ids=(other[0],)) == ["other"]
    assert listed(states=("CompleteAbort",)) == []
