"""Answers of transaction coordinators to producers, and what they write and send."""

import pytest

from brokers.transactions.metadata import LAST_EPOCH
from brokers.transactions.policies import TransactionPolicies
from brokers.transactions.records import TransactionBatch
from emulator.protocol.errors import Errors
from emulator.protocol.events import TransactionsLoaded
from emulator.protocol.shown import Deviated
from emulator.protocol.types import TopicPartition
from tests.brokers.bench import ME, TP, state
from tests.brokers.transactions.bench import ID, SECOND, STATES, TransactionBench

UNKNOWN = TopicPartition("unknown", 0)


def test_a_producer_gets_its_place_and_each_other_one_a_higher_epoch() -> None:
    bench = TransactionBench()
    assert bench.producer() == (1001, 0)
    assert bench.producer() == (1001, 1)
    assert bench.producer(id="other") == (1002, 0)


@pytest.mark.parametrize(
    ("request_", "error"),
    [
        ({"id": ""}, Errors.INVALID_REQUEST),
        ({"timeout_us": 0}, Errors.INVALID_TRANSACTION_TIMEOUT),
        ({"timeout_us": 901 * SECOND}, Errors.INVALID_TRANSACTION_TIMEOUT),
        ({"known": (5, 0)}, Errors.PRODUCER_FENCED),
        ({"known": (1001, 7)}, Errors.PRODUCER_FENCED),
    ],
)
def test_who_gets_no_place(request_: dict[str, object], error: Errors) -> None:
    bench = TransactionBench(max_timeout_us=900 * SECOND)
    bench.producer()
    assert bench.init(**request_).error is error  # type: ignore[arg-type]


def test_a_producer_that_asks_again_gets_the_answer_that_it_did_not_see() -> None:
    bench = TransactionBench()
    first = bench.producer()
    second = bench.producer(known=first)
    assert second == (1001, 1)
    assert bench.producer(known=first) == second
    assert bench.init(known=(1001, -5)).error is Errors.PRODUCER_FENCED


def test_a_broker_that_does_not_lead_the_partition_is_no_coordinator() -> None:
    bench = TransactionBench(elected=False)
    assert bench.init().error is Errors.NOT_COORDINATOR
    bench.lead(0, (0,), tp=STATES, replicas=(0,))
    assert bench.init().error is Errors.COORDINATOR_LOAD_IN_PROGRESS
    bench.wait(0)
    producer = bench.producer()
    bench.resign()
    assert bench.add(producer) is Errors.NOT_COORDINATOR


def test_a_committed_transaction_is_written_sent_and_completed() -> None:
    bench = TransactionBench()
    producer = bench.producer()
    assert bench.add(producer) is Errors.NONE
    assert bench.end(producer) is Errors.NONE
    assert bench.state == "PrepareCommit"
    [(broker, queued)] = bench.markers.noted
    assert (broker, queued.marker.committed, queued.marker.partitions) == (0, True, (TP,))
    assert bench.add(producer) is bench.end(producer) is bench.init().error is Errors.CONCURRENT_TRANSACTIONS
    bench.answer_markers()
    assert bench.state == "CompleteCommit"
    assert bench.end(producer) is Errors.NONE, "said again"
    assert bench.end(producer, committed=False) is Errors.INVALID_TXN_STATE
    batches = bench.manager.partitions[STATES].log.batches
    states = [str(batch.value.state) for batch in batches if isinstance(batch, TransactionBatch) and batch.value]
    assert states == ["Empty", "Ongoing", "PrepareCommit", "CompleteCommit"]


def test_what_is_refused_of_a_producer() -> None:
    bench = TransactionBench(TransactionPolicies(end_needs_same_epoch=True))
    producer = bench.producer()
    number, epoch = producer
    assert bench.end(producer) is Errors.INVALID_TXN_STATE
    assert bench.add(producer, id="other") is bench.end(producer, id="other") is Errors.INVALID_PRODUCER_ID_MAPPING
    assert bench.add((number + 1, epoch)) is Errors.INVALID_PRODUCER_ID_MAPPING
    assert bench.add((number, epoch - 1)) is bench.end((number, epoch + 1)) is Errors.PRODUCER_FENCED
    assert bench.add(producer, id="") is bench.end(producer, id="") is Errors.INVALID_REQUEST
    assert bench.add(producer, TP, UNKNOWN) is Errors.OPERATION_NOT_ATTEMPTED
    assert bench.add(producer, UNKNOWN) is Errors.UNKNOWN_TOPIC_OR_PARTITION


def test_a_successor_waits_until_what_was_left_open_is_aborted() -> None:
    bench = TransactionBench()
    producer = bench.producer()
    bench.add(producer)
    assert bench.init().error is Errors.CONCURRENT_TRANSACTIONS
    [(_broker, queued)] = bench.markers.noted
    assert (queued.marker.committed, queued.marker.producer_epoch) == (False, producer[1] + 1)
    assert bench.end(producer) is Errors.PRODUCER_FENCED
    bench.answer_markers()
    assert bench.producer() == (producer[0], producer[1] + 2)


def test_a_transaction_that_lasts_too_long_is_aborted() -> None:
    bench = TransactionBench(abort_interval_us=SECOND)
    producer = bench.producer(timeout_us=5 * SECOND)
    bench.add(producer)
    bench.wait(5 * SECOND)
    assert bench.state == "Ongoing"
    bench.wait(2 * SECOND)
    assert bench.state == "PrepareAbort"
    bench.answer_markers()
    assert bench.state == "CompleteAbort"
    assert bench.end(producer) is Errors.PRODUCER_FENCED


def test_a_marker_that_is_refused_for_the_moment_is_sent_again() -> None:
    bench = TransactionBench()
    producer = bench.producer()
    bench.add(producer)
    bench.end(producer)
    bench.answer_markers(Errors.NOT_ENOUGH_REPLICAS)
    assert bench.state == "PrepareCommit"
    assert bench.markers.noted == []
    bench.wait(SECOND)
    bench.answer_markers()
    assert bench.state == "CompleteCommit"


@pytest.mark.parametrize("leader", [-1, 9])
def test_a_marker_waits_for_a_leader(leader: int) -> None:
    bench = TransactionBench()
    producer = bench.producer()
    bench.add(producer)
    bench.learn(TP, leader)
    bench.end(producer)
    bench.wait(SECOND)
    assert bench.markers.noted == []
    bench.learn(TP, 2)
    bench.wait(SECOND)
    assert [broker for broker, _queued in bench.markers.noted] == [2]


def test_a_fenced_coordinator_leaves_the_rest_to_its_successor() -> None:
    bench = TransactionBench()
    producer = bench.producer()
    bench.add(producer)
    bench.end(producer)
    bench.answer_markers(Errors.TRANSACTION_COORDINATOR_FENCED)
    bench.wait(SECOND)
    assert bench.markers.noted == []
    assert bench.state == "PrepareCommit"


def test_the_next_coordinator_sends_the_markers_of_what_is_decided() -> None:
    bench = TransactionBench()
    loaded = bench.see(TransactionsLoaded)
    producer = bench.producer()
    bench.add(producer)
    bench.end(producer)
    bench.resign(1)
    bench.markers.noted.clear()
    bench.elect(2)
    [(_broker, queued)] = bench.markers.noted
    assert (queued.marker.committed, queued.marker.coordinator_epoch) == (True, 2)
    assert [event.ids for event in loaded] == [1]
    bench.answer_markers()
    assert bench.state == "CompleteCommit"
    assert bench.producer() == (producer[0], producer[1] + 1)


def test_a_coordinator_takes_partitions_for_deleted_of_which_its_broker_has_received_no_metadata() -> None:
    """kafka-2.3, seed 106 of the default swarm: all brokers have restarted."""
    bench = TransactionBench()
    producer = bench.producer()
    bench.add(producer)
    bench.end(producer)
    bench.restart()
    bench.learn(TP, -2)
    seen = bench.see(Deviated)
    bench.leader_and_isr(state(ME, 1, (ME,), replicas=(ME,), tp=STATES))
    bench.wait(0)
    bench.learn(STATES, ME)
    bench.wait(SECOND)
    assert (bench.state, bench.markers.noted) == ("CompleteCommit", [])
    assert [(one.ticket, one.partition) for one in seen] == [("TransactionMarkerChannelManager", TP.partition)]


def test_a_producer_id_whose_epochs_are_used_up_is_replaced() -> None:
    bench = TransactionBench()
    bench.producer()
    bench.metadata.producer_epoch = LAST_EPOCH - 1
    assert bench.producer() == (1002, 0)


def test_a_transactional_id_that_is_not_used_expires() -> None:
    bench = TransactionBench(id_expiration_us=3600 * SECOND, expire_interval_us=60 * SECOND)
    bench.producer()
    bench.wait(3599 * SECOND)
    assert bench.metadata.id == ID
    bench.wait(120 * SECOND)
    assert bench.coordinator.store.transactions[0] == {}
    tombstone = bench.manager.partitions[STATES].log.batches[-1]
    assert isinstance(tombstone, TransactionBatch)
    assert tombstone.value is None
    bench.resign(1)
    bench.elect(2)
    assert bench.coordinator.store.transactions[0] == {}
