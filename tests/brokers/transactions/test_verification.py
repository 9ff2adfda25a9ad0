"""The verification of transactions by leaders, after Kafka's AddPartitionsToTxnManagerTest, ReplicaManagerTest,
UnifiedLogTest, ProducerStateManagerTest and GroupCoordinatorTest (3.6.2 and 3.9.0). Broker 0 leads; the test
answers for broker 1, which coordinates."""

from collections.abc import Sequence
from typing import Any, cast

import pytest
from attrs import define, evolve

from brokers.broker_config import BrokerConfig
from brokers.broker_policies import BrokerPolicies
from brokers.groups.config import GroupCoordinatorConfig
from brokers.groups.transactional import TransactionalOffsets
from brokers.requests.produce import ProduceHandler
from brokers.transactions.config import TransactionConfig
from brokers.transactions.coordinator import TransactionCoordinator
from brokers.transactions.marker_sending import Connect
from brokers.transactions.marker_writing import MarkerWriter
from brokers.transactions.verification import AddPartitionsToTxnManager
from emulator.protocol.clients.produce import RecordsProduceRequest
from emulator.protocol.errors import Errors
from emulator.protocol.groups.group_offsets import OffsetToCommit
from emulator.protocol.records import TRANSACTIONAL, ProducedRecords, RecordHeader
from emulator.protocol.shown import ProduceRefused
from emulator.protocol.transactions.add_partitions_to_txns import (
    AddPartitionsToTxnsRequest,
    AddPartitionsToTxnsResponse,
    AddPartitionsToTxnTransaction,
)
from emulator.protocol.transactions.markers import TxnMarker, WriteTxnMarkersRequest
from emulator.protocol.transactions.txn_offset_commit import TxnOffsetCommitRequest
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import ALL_BROKERS
from scenarios.profiles import PROFILES
from tests.brokers.bench import TP, Bench, Line
from tests.brokers.groups.bench import GROUP, OFFSETS, GroupBench
from tests.brokers.transactions.bench import STATES, TransactionBench

ANNE, ID, OTHER = 24, "billing", TopicPartition("t", 1)
ENABLE = "transaction.partition.verification.enable"
Outcomes = dict[TopicPartition, Errors]


@define(eq=False)
class Asked(AddPartitionsToTxnManager):
    """Questions that wait for the test."""

    def _begin(self, coordinator: int) -> None:
        """Send nothing."""


class VerifyingBench(GroupBench):
    """A broker that leads ``TP``, ``OTHER`` and the group's offsets."""

    def __init__(self, release: str = "kafka-3.9", **settings: Any) -> None:
        self.isr = (0,)
        config = BrokerConfig(
            groups=GroupCoordinatorConfig(num_partitions=1),
            transactions=evolve(TransactionConfig(num_partitions=1), **settings),
        )
        transactions = PROFILES[release].policies.brokers.transactions
        Bench.__init__(self, BrokerPolicies(config, admits_unknown_producers=True, transactions=transactions))
        self.elect()
        for tp in (TP, OTHER):
            self.lead(0, (0,), tp=tp, replicas=(0,))
        self.learn(STATES, 1)

    def restart(self) -> None:
        super().restart()
        coordinator = TransactionCoordinator(
            self.process, self.manager, self.produces, lambda _: None, cast(Connect, None)
        )
        self.asked = Asked(self.manager, coordinator.store.partitions, cast(Connect, None))
        self.produces.verify = self.asked.verify
        offsets = TransactionalOffsets(self.groups, self.asked.verify)
        self.router.add(offsets)
        self.router.add(MarkerWriter(self.manager, ProduceHandler(self.manager), offsets, self.groups.transitions))

    def write(
        self, sequence: int, *tps: TopicPartition, id: str | None = ID, epoch: int = 0, producers: Sequence[int] = (),
        idempotent: Sequence[TopicPartition] = (), knows_abortable: bool = True,
    ) -> Line:  # fmt: skip
        """A batch of two records for each partition."""
        tps = tps or (TP,)
        batches = tuple(
            ProducedRecords(
                tp, 2, 100, 1 + sequence, producer, sequence,
                RecordHeader(0 if tp in idempotent else TRANSACTIONAL, 2, 0, 0), b"", producer_epoch=epoch,
            )
            for tp, producer in zip(tps, producers or [ANNE] * len(tps), strict=True)
        )  # fmt: skip
        return self.send(
            RecordsProduceRequest(
                -1, 1000, batches, 100, transactional_id=id, knows_abortable=knows_abortable,
            )
        )  # fmt: skip

    def commit_in_transaction(self, offset: int, **more: Any) -> Line:
        return self.send(
            TxnOffsetCommitRequest(
                GROUP, (OffsetToCommit(TP, offset),), **more, transactional_id=ID, producer_id=ANNE, producer_epoch=0
            )
        )

    def mark(self, *tps: TopicPartition) -> None:
        assert not any(
            error
            for outcomes in self.send(
                WriteTxnMarkersRequest((TxnMarker(ANNE, 0, 1, False, tps or (TP,)),))
            ).last.outcomes
            for _tp, error in outcomes
        )

    @property
    def questions(self) -> dict[str, tuple[int, tuple[TopicPartition, ...]]]:
        """By transactional id, the epoch and the partitions that the next request asks about."""
        waiting = self.asked._next.get(1)
        transactions = [] if waiting is None else [each.transaction for each in waiting.questions.values()]
        assert all(each.verify_only for each in transactions)
        return {each.transactional_id: (each.producer_epoch, each.partitions) for each in transactions}

    def answer(self, *errors: Errors) -> None:
        """The coordinator answers with these errors, one for each partition in turn; NONE for the others."""
        sent, request = self.asked._take(1)
        left = list(errors)
        self.asked._answered(
            sent,
            AddPartitionsToTxnsResponse(
                {
                    each.transactional_id: tuple((tp, left.pop(0) if left else Errors.NONE) for tp in each.partitions)
                    for each in request.transactions
                }
            ),
        )

    def lose(self) -> None:
        """The coordinator does not answer."""
        self.asked._answered(self.asked._take(1)[0], None)

    @property
    def is_open(self) -> bool:
        return self.partition.log.producers.is_ongoing(ANNE)

    def guarded(self) -> bool:
        return ANNE in self.partition.log.verifications

    def configure(self, **settings: str) -> None:
        self.manager.configured(ALL_BROKERS, settings)


def results(line: Line) -> list[Errors]:
    """The errors of a Produce request or a commit, by partition."""
    return [each[1] for each in line.last.partitions]


# -- before the first records of a transaction ------------------------------------------------------------------------


@pytest.mark.parametrize("release", ["kafka-3.3", "kafka-3.6", "kafka-3.9"])
def test_since_3_6_a_leader_asks_before_the_first_records(release: str) -> None:
    bench = VerifyingBench(release)
    line = bench.write(0)
    assert bool(bench.questions) is (release != "kafka-3.3")
    if bench.questions:
        assert bench.questions == {ID: (0, (TP,))}
        assert not line.replies
        assert not bench.partition.log.end_offset
        bench.answer()
    assert results(line) == [Errors.NONE]
    assert bench.is_open
    assert results(bench.write(2)) == [Errors.NONE], "the next batch needs no question"


@pytest.mark.parametrize(("release", "missing"), [("kafka-3.6", Errors.INVALID_TXN_STATE), ("kafka-3.9", None)])
def test_testTransactionVerificationFlow(release: str, missing: Errors | None) -> None:
    bench = VerifyingBench(release)
    refused, error = bench.write(6), missing or Errors.TRANSACTION_ABORTABLE
    guard = bench.partition.log.verifications[ANNE]
    bench.answer(error)
    assert results(refused) == [error]
    assert refused.last.infos[0].log_start_offset == -1
    assert bench.partition.log.verifications[ANNE] is guard, "its sequence number counts further on"
    taken = bench.write(6)
    bench.answer()
    assert results(taken) == [Errors.NONE]
    assert bench.is_open
    assert not bench.guarded()


def test_testTransactionVerificationBlocksOutOfOrderSequence() -> None:
    bench = VerifyingBench()
    bench.write(6)
    bench.answer(Errors.INVALID_PRODUCER_ID_MAPPING)
    later = bench.write(8)
    bench.answer()
    assert results(later) == [Errors.OUT_OF_ORDER_SEQUENCE_NUMBER]
    assert bench.guarded()
    again = bench.write(6)
    bench.answer()
    assert results(again) == [Errors.NONE]


def test_testVerificationForTransactionalPartitionsOnly() -> None:
    bench = VerifyingBench()
    assert results(bench.write(0, idempotent=(TP,), id=None)) == [Errors.NONE]
    assert not bench.questions
    line = bench.write(2, TP, OTHER, idempotent=(OTHER,))
    assert bench.questions == {ID: (0, (TP,))}
    bench.answer(Errors.NOT_COORDINATOR)
    assert results(line) == [Errors.NOT_ENOUGH_REPLICAS, Errors.NONE], "the whole request waits"


def test_testTransactionVerificationGuardOnMultiplePartitions() -> None:
    bench = VerifyingBench()
    line = bench.write(0, TP, OTHER)
    assert bench.questions == {ID: (0, (TP, OTHER))}
    bench.answer(Errors.NONE, Errors.TRANSACTION_ABORTABLE)
    assert results(line) == [Errors.NONE, Errors.TRANSACTION_ABORTABLE]


def test_testExceptionWhenUnverifiedTransactionHasMultipleProducerIds() -> None:
    bench = VerifyingBench()
    assert results(bench.write(0, TP, OTHER, producers=(ANNE, ANNE + 1))) == [Errors.INVALID_PRODUCER_ID_MAPPING] * 2


def test_testTransactionVerificationWhenNotLeader() -> None:
    bench = VerifyingBench()
    bench.follow(1, 1)
    assert results(bench.write(6)) == [Errors.NOT_LEADER_FOR_PARTITION]
    assert not bench.questions
    unknown = TopicPartition("t", 7)
    assert results(bench.write(6, unknown)) == [Errors.UNKNOWN_TOPIC_OR_PARTITION]


def test_testDisabledTransactionVerification() -> None:
    bench = VerifyingBench(partition_verification_enable=False)
    assert results(bench.write(0)) == [Errors.NONE]
    bench.configure(**{ENABLE: "true"})
    assert results(bench.write(2)) == [Errors.NONE]
    assert not bench.questions, "the transaction is open"
    bench.mark()
    bench.write(4)
    assert bench.questions


def test_testTransactionVerificationDynamicDisablement() -> None:
    bench = VerifyingBench()
    line = bench.write(6)
    bench.configure(**{ENABLE: "false"})
    bench.answer(Errors.INVALID_TXN_STATE)
    assert results(line) == [Errors.INVALID_TXN_STATE]
    assert bench.guarded()
    assert results(bench.write(6)) == [Errors.NONE]
    assert not bench.guarded()
    bench.configure()
    assert bench.manager.policies.verifies_transactions, "the broker's own setting holds again"


def test_testEnablingVerificationWhenRequestIsAtLogLayer() -> None:
    bench = VerifyingBench()
    bench.produces.verify = None
    assert results(bench.write(4)) == [Errors.INVALID_TXN_STATE]
    assert not bench.guarded()


RETRIABLE = ("NOT_COORDINATOR", "CONCURRENT_TRANSACTIONS", "COORDINATOR_LOAD_IN_PROGRESS", "COORDINATOR_NOT_AVAILABLE")


@pytest.mark.parametrize("name", RETRIABLE)
def test_testVerificationErrorConversions(name: str) -> None:
    bench = VerifyingBench("kafka-3.6")
    shown = bench.see(ProduceRefused)
    line = bench.write(0)
    bench.answer(Errors[name])
    assert results(line) == [Errors.NOT_ENOUGH_REPLICAS]
    why = "Unable to verify the partition has been added to the transaction. Underlying error: "
    assert line.last.infos[0].message == why + name
    assert [each.error for each in shown] == [name], "too few replicas are not the reason"


@pytest.mark.parametrize(
    ("release", "records", "offsets"),
    [
        ("kafka-3.6", Errors.NETWORK_EXCEPTION, None),
        ("kafka-3.9", Errors.NOT_ENOUGH_REPLICAS, Errors.COORDINATOR_LOAD_IN_PROGRESS),
    ],
)
def test_a_coordinator_that_does_not_answer(release: str, records: Errors, offsets: Errors | None) -> None:
    bench = VerifyingBench(release)
    line = bench.write(0)
    bench.lose()
    assert results(line) == [records]
    line = bench.commit_in_transaction(5)
    if offsets is None:
        assert results(line) == [Errors.NONE]
        assert not bench.questions, "offsets are not verified before 3.7"
    else:
        bench.lose()
        assert results(line) == [offsets]


# -- while the coordinator is asked -----------------------------------------------------------------------------------


def test_an_answer_from_before_the_end_of_a_transaction_counts_no_more() -> None:
    """testTransactionIsOngoingAndVerificationGuard, testEmptyTransactionStillClearsVerificationGuard: else the batch
    would leave a transaction open for good."""
    bench = VerifyingBench()
    line = bench.write(0)
    sent, request = bench.asked._take(1)
    bench.mark()
    assert not bench.guarded()
    late = bench.write(0)
    (transaction,) = request.transactions
    bench.asked._answered(
        sent, AddPartitionsToTxnsResponse({ID: tuple((tp, Errors.NONE) for tp in transaction.partitions)})
    )
    assert results(line) == [Errors.INVALID_TXN_STATE]
    assert line.last.infos[0].log_start_offset == 0
    bench.answer()
    assert results(late) == [Errors.NONE], "the later question has a guard of its own"


def test_a_leader_that_is_none_any_more_appends_nothing() -> None:
    bench = VerifyingBench()
    line = bench.write(0)
    bench.follow(1, 1)
    bench.answer()
    assert results(line) == [Errors.NOT_LEADER_FOR_PARTITION]


def test_a_duplicate_is_acknowledged_after_its_transaction() -> None:
    bench = VerifyingBench()
    bench.write(0)
    bench.answer()
    bench.mark()
    line = bench.write(0)
    bench.answer()
    assert results(line) == [Errors.NONE]
    assert line.last.partitions[0][2] == 0


def test_a_broker_that_has_stopped_handling_requests_appends_nothing() -> None:
    bench = VerifyingBench()
    line = bench.write(0)
    bench.asked.is_over = True
    bench.answer()
    assert not line.replies
    assert not bench.partition.log.end_offset


def test_testAddTxnData() -> None:
    bench = VerifyingBench()
    first, third = bench.write(0), bench.write(0, OTHER, id="third")
    same = bench.write(0)
    assert results(first) == [Errors.NOT_ENOUGH_REPLICAS], "its client asks again"
    newer = bench.write(0, epoch=1)
    assert results(same) == [Errors.INVALID_PRODUCER_EPOCH]
    older = bench.write(0)
    assert results(older) == [Errors.INVALID_PRODUCER_EPOCH]
    assert bench.questions == {"third": (0, (OTHER,)), ID: (1, (TP,))}, "in the order in which they came"
    bench.answer()
    assert (results(newer), results(third)) == ([Errors.NONE], [Errors.NONE])


def test_testGenerateRequests() -> None:
    bench = VerifyingBench()
    first = bench.write(0)
    sent, _request = bench.asked._take(1)
    second = bench.write(0)
    assert bench.questions
    assert not first.replies, "what is under way is not replaced"
    bench.asked._answered(sent, None)
    bench.answer()
    assert (results(first), results(second)) == ([Errors.NOT_ENOUGH_REPLICAS], [Errors.NONE])


@pytest.mark.parametrize("leader", [None, -1, 7])
def test_testTransactionCoordinatorResolution(leader: int | None) -> None:
    bench = VerifyingBench()
    if leader is None:
        bench.learn(STATES, -2)
    else:
        bench.learn(STATES, leader)
    line = bench.write(0)
    assert results(line) == [Errors.NOT_ENOUGH_REPLICAS]
    assert not bench.questions
    assert line.last.infos[0].message.endswith("COORDINATOR_NOT_AVAILABLE")


@pytest.mark.parametrize(
    ("answered", "knows_abortable", "error"),
    [
        (Errors.PRODUCER_FENCED, True, Errors.INVALID_PRODUCER_EPOCH),
        (Errors.TRANSACTION_ABORTABLE, False, Errors.INVALID_TXN_STATE),
        (Errors.TRANSACTION_ABORTABLE, True, Errors.TRANSACTION_ABORTABLE),
        (Errors.INVALID_PRODUCER_ID_MAPPING, True, Errors.INVALID_PRODUCER_ID_MAPPING),
    ],
)
def test_testAddPartitionsToTxnHandlerErrorHandling(answered: Errors, knows_abortable: bool, error: Errors) -> None:
    bench = VerifyingBench()
    line = bench.write(0, knows_abortable=knows_abortable)
    bench.answer(answered)
    assert results(line) == [error]


# -- the offsets of transactions --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answered", "error"),
    [
        (Errors.NONE, Errors.NONE),
        (Errors.INVALID_PRODUCER_ID_MAPPING, Errors.INVALID_PRODUCER_ID_MAPPING),
        (Errors.INVALID_TXN_STATE, Errors.INVALID_TXN_STATE),
        (Errors.COORDINATOR_LOAD_IN_PROGRESS, Errors.COORDINATOR_LOAD_IN_PROGRESS),
    ],
)
def test_testVerificationErrorsForTxnOffsetCommits(answered: Errors, error: Errors) -> None:
    bench = VerifyingBench()
    line = bench.commit_in_transaction(5)
    assert bench.questions == {ID: (0, (OFFSETS,))}
    assert not line.replies
    bench.answer(answered)
    assert results(line) == [error]


def test_offsets_are_refused_of_a_transaction_that_has_ended_meanwhile() -> None:
    bench = VerifyingBench()
    line = bench.commit_in_transaction(5)
    sent, _request = bench.asked._take(1)
    bench.mark(OFFSETS)
    bench.asked._answered(sent, AddPartitionsToTxnsResponse({ID: ((OFFSETS, Errors.NONE),)}))
    assert results(line) == [Errors.INVALID_TXN_STATE]


def test_a_member_is_checked_when_the_coordinator_has_answered() -> None:
    bench = VerifyingBench()
    line = bench.commit_in_transaction(5, member_id="stranger", generation=1)
    assert not line.replies
    bench.answer()
    assert results(line) == [Errors.UNKNOWN_MEMBER_ID]


def test_a_group_whose_coordinator_has_moved_meanwhile() -> None:
    bench = VerifyingBench()
    line = bench.commit_in_transaction(5)
    bench.resign()
    bench.answer()
    assert results(line) == [Errors.COORDINATOR_NOT_AVAILABLE]


# -- the coordinator --------------------------------------------------------------------------------------------------


def asked(bench: TransactionBench, producer: tuple[int, int], *tps: TopicPartition, id: str = ID) -> Outcomes:
    request = AddPartitionsToTxnsRequest((AddPartitionsToTxnTransaction(id, *producer, tps or (TP,)),))
    ((_id, outcomes),) = bench.send(request).last.transactions.items()
    return dict(outcomes)


@pytest.mark.parametrize(
    ("release", "missing"), [("kafka-3.6", Errors.INVALID_TXN_STATE), ("kafka-3.9", Errors.TRANSACTION_ABORTABLE)]
)
def test_testVerifyPartitionHandling(release: str, missing: Errors) -> None:
    bench = TransactionBench(PROFILES[release].policies.brokers.transactions)
    bench.learn(OTHER, 0)
    assert asked(bench, (1, 0)) == {TP: Errors.INVALID_PRODUCER_ID_MAPPING}
    assert asked(bench, (1, 0), id="") == {TP: Errors.INVALID_REQUEST}
    producer = bench.producer()
    assert asked(bench, producer) == {TP: missing}
    bench.add(producer)
    assert asked(bench, producer, TP, OTHER) == {TP: Errors.NONE, OTHER: missing}
    assert asked(bench, (producer[0], producer[1] + 1)) == {TP: Errors.PRODUCER_FENCED}
    assert asked(bench, (producer[0] + 1, producer[1])) == {TP: Errors.INVALID_PRODUCER_ID_MAPPING}
    unknown = TopicPartition("t", 9)
    tried = {TP: Errors.OPERATION_NOT_ATTEMPTED, unknown: Errors.UNKNOWN_TOPIC_OR_PARTITION}
    assert asked(bench, producer, TP, unknown) == tried
    bench.end(producer)
    assert asked(bench, producer) == {TP: Errors.CONCURRENT_TRANSACTIONS}, "as its markers are under way"
    bench.answer_markers()
    assert asked(bench, producer) == {TP: missing}
    bench.resign()
    assert asked(bench, producer) == {TP: Errors.NOT_COORDINATOR}


def test_one_request_adds_to_several_transactions() -> None:
    bench = TransactionBench(PROFILES["kafka-3.9"].policies.brokers.transactions)
    first, second = bench.producer(), bench.producer(id="other")
    request = AddPartitionsToTxnsRequest(
        (
            AddPartitionsToTxnTransaction(ID, *first, (TP,), verify_only=False),
            AddPartitionsToTxnTransaction("other", *second, (TP,)),
        )
    )
    found = bench.send(request).last.transactions
    assert {id: error for id, ((_tp, error),) in found.items()} == {
        ID: Errors.NONE, "other": Errors.TRANSACTION_ABORTABLE,
    }  # fmt: skip
