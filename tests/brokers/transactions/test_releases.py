"""Differences between the transaction coordinators of releases."""

from typing import Any

import pytest

from brokers.transactions.metadata import LAST_EPOCH, NO_PRODUCER_EPOCH
from brokers.transactions.policies import TransactionPolicies
from emulator.protocol.errors import Errors
from emulator.protocol.stop_replica import StopReplicaRequest
from emulator.protocol.types import TopicPartition
from scenarios.profiles import PROFILES
from scenarios.wire.versions import announced, release_of
from tests.brokers.bench import TP, state
from tests.brokers.transactions.bench import SECOND, STATES, Producer, TransactionBench

OTHER = TopicPartition("t", 1)
INIT, ADD_PARTITIONS, ADD_OFFSETS, END, COMMIT = 22, 24, 25, 26, 28


def of(release: str, **settings: Any) -> TransactionBench:
    return TransactionBench(PROFILES[release].policies.brokers.transactions, **settings)


def timed_out(bench: TransactionBench) -> Producer:
    """A producer whose transaction was aborted for that."""
    producer = bench.producer(timeout_us=5 * SECOND)
    bench.add(producer)
    bench.wait(7 * SECOND)
    bench.answer_markers()
    assert bench.state == "CompleteAbort"
    return producer


@pytest.mark.parametrize(
    ("release", "newest"),
    [
        ("kafka-0.8", (1, 1, 1, 1, 2)),
        ("kafka-1.1", (0, 0, 0, 0, 0)),
        ("kafka-2.3", (1, 1, 1, 1, 2)),
        ("kafka-2.4", (2, 1, 1, 1, 2)),
        ("kafka-2.5", (3, 1, 1, 1, 3)),
        ("kafka-2.6", (3, 1, 1, 1, 3)),
        ("kafka-2.7", (4, 2, 2, 2, 3)),
        ("kafka-2.8", (4, 3, 3, 3, 3)),
    ],
)
def test_brokers_announce_the_versions_of_their_release(release: str, newest: tuple[int, ...]) -> None:
    own = PROFILES[release].policies.brokers.api_versions
    versions = announced(release_of(own), own)
    assert tuple(versions[key][1] for key in (INIT, ADD_PARTITIONS, ADD_OFFSETS, END, COMMIT)) == newest
    assert announced("2.4", "2.7.2")[INIT][1] == 2, "nor more than was asked for"
    assert announced("3.0", own)[INIT][1] <= max(newest[0], 1), "nor more than the coordinator knows"


@pytest.mark.parametrize(("release", "error"), [("kafka-2.5", Errors.NONE), ("kafka-2.6", Errors.PRODUCER_FENCED)])
def test_a_transaction_is_ended_with_a_higher_epoch_before_kafka_9600(release: str, error: Errors) -> None:
    bench = of(release)
    number, epoch = bench.producer()
    bench.add((number, epoch))
    assert bench.end((number, epoch + 1)) is error


def test_a_producer_that_was_too_slow_gets_another_epoch_in_2_5_alone() -> None:
    bench = of("kafka-2.5", abort_interval_us=SECOND)
    number, epoch = timed_out(bench)
    assert bench.producer(known=(number, epoch)) == (number, epoch + 1)
    bench = of("kafka-2.6", abort_interval_us=SECOND)
    late = timed_out(bench)
    assert bench.init(known=late).error is Errors.PRODUCER_FENCED
    assert bench.metadata.last_producer_epoch == NO_PRODUCER_EPOCH


@pytest.mark.parametrize(("release", "goes_on"), [("kafka-1.1", True), ("kafka-2.3", True), ("kafka-2.4", False)])
def test_a_coordinator_without_its_replica_answers_before_kafka_9235(release: str, goes_on: bool) -> None:
    bench = of(release)
    producer = bench.producer()
    assert bench.add(producer) is Errors.NONE
    bench.send(StopReplicaRequest(9, 1, -1, True, (STATES,)))
    assert bench.add(producer) is (Errors.NONE if goes_on else Errors.NOT_COORDINATOR), "it is in the transaction"
    bench.learn(OTHER, 0)
    assert bench.add(producer, OTHER) is Errors.NOT_COORDINATOR, "which cannot be written"
    bench.elect(epoch=3)
    assert bench.add(producer) is Errors.INVALID_PRODUCER_ID_MAPPING, "its new replica is empty"


def test_a_coordinator_without_its_replica_ends_when_it_follows() -> None:
    bench = of("kafka-2.3")
    producer = bench.producer()
    bench.send(StopReplicaRequest(9, 1, -1, True, (STATES,)))
    bench.resign(3)
    assert bench.add(producer) is Errors.NOT_COORDINATOR


def fail_to_fence(bench: TransactionBench, times: int) -> int:
    """The coordinator tries to abort what lasts too long, and too few replicas are in sync. The epoch after that."""
    bench.add(bench.producer(timeout_us=SECOND))
    bench.leader_and_isr(state(0, 1, (0, 1), tp=STATES, replicas=(0, 1)))
    for _ in range(times):
        bench.wait(2 * SECOND)
    return bench.metadata.producer_epoch


@pytest.mark.parametrize(("release", "raised"), [("kafka-2.5", True), ("kafka-2.6", False)])
def test_a_fence_that_cannot_be_written_raises_the_epoch_each_time_before_kafka_9666(
    release: str, raised: bool
) -> None:
    once, often = (of(release, abort_interval_us=SECOND, max_timeout_us=SECOND) for _ in range(2))
    first, last = fail_to_fence(once, 1), fail_to_fence(often, 20)
    assert first == 1
    assert (last > first) is raised


def test_epochs_that_are_used_up_by_fences_leave_a_transaction_open() -> None:
    bench = of("kafka-2.5", abort_interval_us=SECOND)
    bench.add(bench.producer(timeout_us=SECOND))
    bench.metadata.producer_epoch = LAST_EPOCH
    assert bench.init().error is Errors.UNKNOWN_SERVER_ERROR
    bench.wait(5 * SECOND)
    assert bench.state == "Ongoing"


@pytest.mark.parametrize(("retries", "state"), [(False, "PrepareCommit"), (True, "CompleteCommit")])
def test_a_marker_that_meets_a_storage_error_is_lost_before_kafka_9749(retries: bool, state: str) -> None:
    bench = TransactionBench(TransactionPolicies(retries_storage_errors=retries))
    producer = bench.producer()
    bench.learn(OTHER, 0)
    bench.add(producer, TP, OTHER)
    bench.end(producer)
    bench.answer_markers(Errors.KAFKA_STORAGE_ERROR)
    bench.wait(SECOND)
    bench.answer_markers()
    assert bench.state == state
    bench.resign(1)
    bench.elect(2)
    bench.answer_markers()
    assert bench.state == "CompleteCommit", "the next coordinator sends all of them"
