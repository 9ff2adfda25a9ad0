"""J answers: what a broker answers about its logs, of its metadata and of deletions is so."""

from __future__ import annotations

from typing import Any

import pytest

from emulator.protocol import events as e
from emulator.protocol.clients.fetch import (
    FINAL_EPOCH,
    READ_COMMITTED,
    READ_UNCOMMITTED,
    ConsumerFetchRequest,
    ConsumerFetchResponse,
    PartitionData,
    Stability,
)
from emulator.protocol.clients.list_offsets import (
    EARLIEST,
    LATEST,
    FoundOffset,
    OffsetQuery,
    OffsetsByTimeRequest,
    OffsetsByTimeResponse,
)
from emulator.protocol.clients.produce import KnownLeader
from emulator.protocol.delete_records import DeletedRecords, DeleteRecordsRequest, DeleteRecordsResponse
from emulator.protocol.describe_producers import (
    ActiveProducer,
    DescribedProducers,
    DescribeProducersRequest,
    DescribeProducersResponse,
)
from emulator.protocol.errors import NO_ERROR, Errors
from emulator.protocol.fetch import FetchRequest, FetchResponse
from emulator.protocol.offsets_for_leader_epoch import (
    EpochEndOffset,
    EpochQuery,
    ListOffsetsRequest,
    ListOffsetsResponse,
    OffsetsForLeaderEpochRequest,
    OffsetsForLeaderEpochResponse,
)
from emulator.protocol.produce import InitProducerIdRequest, InitProducerIdResponse
from emulator.protocol.shown_coordination import MarkerAppends, ProducerInitialized
from emulator.protocol.types import Batch, TopicPartition
from emulator.trace.shown_znodes import RequestAnswered
from tests.scenarios.observe.checkers.written_history import ORDERS_0, WrittenHistory

ORDERS_1 = TopicPartition("orders", 1)
CLIENT = -9
NOT_LEADER, FENCED, UNKNOWN = (
    Errors.NOT_LEADER_FOR_PARTITION, Errors.FENCED_LEADER_EPOCH, Errors.UNKNOWN_LEADER_EPOCH,
)  # fmt: skip


class Answering(WrittenHistory):
    """Broker 0 leads orders-0 in epoch 2. Its log begins at 5; batches 1 and 2 are of epoch 0, 3 and 4 of epoch 2, and
    the high watermark is 30 of 40. Broker 1 follows, and has all but the last."""

    def __init__(self, *names: str) -> None:
        super().__init__(*(names or ("answers_true",)))
        self.assigned((0, 1))
        self.begin((0, 1))
        for base in (0, 10):
            self.everywhere(base, 1 + base // 10, nodes=(0, 1))
        self.state(0, (0, 1), 2)
        self.leads(0, 2, 20, 20)
        self.follows(1, 0, 2, 20, 20)
        self.everywhere(20, 3, 2, nodes=(0, 1))
        self.append(0, 30, 4, 2, leader=True)
        self.high_watermark(0, 30, 2, leader=True)
        self.high_watermark(1, 30, 2)
        self.emit(e.LogStartMoved, 0, *ORDERS_0, 5, "request")

    def answers(
        self, request: Any, response: Any, node: int = 0, waited_us: int = 0, current: bool = True
    ) -> list[str]:
        since_us = self.world.now + 1000 - waited_us
        self.show(RequestAnswered, node, CLIENT, request, response, since_us, current)
        return [str(violation.state) for violation in self.violations()]


def place(at: int, error: Errors = NO_ERROR, time_ms: int = -1, epoch: int = -1) -> OffsetsByTimeResponse:
    return OffsetsByTimeResponse((FoundOffset(ORDERS_0, error, at, time_ms, epoch),))


def asks_place(at_ms: int, epoch: int = -1, isolation: int = READ_UNCOMMITTED) -> OffsetsByTimeRequest:
    return OffsetsByTimeRequest(-1, (OffsetQuery(ORDERS_0, epoch, at_ms),), isolation)


@pytest.mark.parametrize(
    ("reader", "epoch", "answer", "found"),
    [
        (-1, -1, (NO_ERROR, 5, 30), ""),
        (1, 2, (NO_ERROR, 5, 40), ""),
        (-1, -1, (NO_ERROR, 0, 30), "the start 0, which should be 5"),
        (-1, -1, (NO_ERROR, 5, 40), "the end 40, which should be 30"),
        (-1, -1, (NO_ERROR, 5, -1), "the end -1, which should be 30"),
        (1, 2, (NO_ERROR, 5, 30), "the end 30, which should be 40"),
        (1, 1, (FENCED, -1, -1), ""),
        (1, 3, (UNKNOWN, -1, -1), ""),
        (1, 1, (FENCED, 5, -1), "the start 5, which should be -1"),
        (1, 1, (NO_ERROR, 5, 40), "with NONE, asked under epoch 1, and leads in epoch 2"),
        (1, 2, (FENCED, -1, -1), "with FENCED_LEADER_EPOCH, asked under epoch 2, and leads"),
        (1, 1, (UNKNOWN, -1, -1), "with UNKNOWN_LEADER_EPOCH, asked under epoch 1"),
        (1, 2, (Errors.UNKNOWN_SERVER_ERROR, -1, -1), "with UNKNOWN_SERVER_ERROR"),
    ],
)
def test_where_a_log_begins_and_ends(reader: int, epoch: int, answer: tuple[Errors, int, int], found: str) -> None:
    seen = Answering().answers(ListOffsetsRequest(ORDERS_0, epoch, reader), ListOffsetsResponse(ORDERS_0, *answer))
    assert (found in seen[0] and len(seen) == 1) if found else not seen


def test_another_partition_than_was_asked_for() -> None:
    answer = ListOffsetsResponse(ORDERS_1, Errors.UNKNOWN_TOPIC_OR_PARTITION, -1, -1)
    assert Answering().answers(ListOffsetsRequest(ORDERS_0, 2, 1), answer) == [
        "broker 0, asked by ListOffsets about orders-0, answers for orders-1"
    ]


def test_a_leader_that_does_not_lead_any_more_shows_that() -> None:
    request, refused = ListOffsetsRequest(ORDERS_0, 2, 1), ListOffsetsResponse(ORDERS_0, NOT_LEADER, -1, -1)
    run = Answering()
    run.show(RequestAnswered, 0, CLIENT, request, refused, run.world.now, True)
    run.follows(0, 1, 3)
    assert run.violations() == []
    [seen] = Answering().answers(request, refused)
    assert "with NOT_LEADER_FOR_PARTITION, asked under epoch 2, and leads in epoch 2" in seen


@pytest.mark.parametrize(
    ("asked", "answer", "found"),
    [
        (asks_place(LATEST), place(30, epoch=2), ""),
        (asks_place(LATEST), place(40, epoch=2), "the offset 40, which should be 30"),
        (asks_place(LATEST), place(30, epoch=1), "the leader epoch 1, which should be 2"),
        (asks_place(LATEST), place(-1, Errors.OFFSET_NOT_AVAILABLE), "the offset -1, which should be another"),
        (asks_place(EARLIEST), place(5), ""),
        (asks_place(EARLIEST), place(0), "the offset 0, which should be 5"),
        (asks_place(0), place(20, time_ms=7, epoch=2), ""),
        (asks_place(0), place(30, time_ms=7, epoch=2), "the time 7"),
        (asks_place(9), place(20, time_ms=7, epoch=2), "the time 7"),
        (asks_place(0), place(20, time_ms=7, epoch=0), "the leader epoch 0, which should be 2"),
    ],
)
def test_the_offset_of_a_time(asked: OffsetsByTimeRequest, answer: OffsetsByTimeResponse, found: str) -> None:
    seen = Answering().answers(asked, answer)
    assert (found in seen[0] and len(seen) == 1) if found else not seen


def test_the_first_record_of_a_time() -> None:
    run = Answering()
    run.answers(asks_place(0), place(20, time_ms=7, epoch=2))
    at_ms = run.append(0, 40, 5, 2, leader=True).t_us // 1000
    later_ms = run.append(0, 50, 6, 2, leader=True).t_us // 1000
    run.high_watermark(0, 60, 2, leader=True)
    assert run.answers(asks_place(later_ms), place(50, time_ms=later_ms, epoch=2)) == []
    assert "the time 9" in run.answers(asks_place(0), place(50, time_ms=9, epoch=2))[0]
    run = Answering()
    run.answers(asks_place(0), place(20, time_ms=7, epoch=2))
    run.append(0, 40, 5, 2, leader=True)
    run.append(0, 50, 6, 2, leader=True)
    run.high_watermark(0, 60, 2, leader=True)
    [seen] = run.answers(asks_place(at_ms - 5), place(50, time_ms=later_ms, epoch=2))
    assert "the offset 50, which should be 40" in seen


@pytest.mark.parametrize(
    ("asked", "answer", "found"),
    [
        (0, (0, 20), ""),
        (1, (0, 20), ""),
        (2, (2, 40), ""),
        (3, (-1, -1), ""),
        (0, (0, 10), "the end 10, which should be 20"),
        (2, (2, 30), "the end 30, which should be 40"),
        (1, (1, 20), "the leader epoch 1, which should be 0"),
        (1, (-1, -1), "the end -1, which should be 20"),
    ],
)
def test_where_an_epoch_ends(asked: int, answer: tuple[int, int], found: str) -> None:
    request = OffsetsForLeaderEpochRequest(1, (EpochQuery(ORDERS_0, 2, asked),))
    response = OffsetsForLeaderEpochResponse((EpochEndOffset(ORDERS_0, NO_ERROR, *answer),))
    seen = Answering().answers(request, response)
    assert (found in seen[0] and len(seen) == 1) if found else not seen


def asks(offset: int, isolation: int = READ_UNCOMMITTED, *more: TopicPartition) -> ConsumerFetchRequest:
    wanted = tuple(PartitionData(tp, -1, offset, -1, 1000) for tp in (ORDERS_0, *more))
    return ConsumerFetchRequest(
        -1, 0, FINAL_EPOCH, 500_000, 1, 1000, 0, tuple((tp, -1, offset, -1, -1) for tp, *_ in wanted), (), wanted,
        isolation,
    )  # fmt: skip


BATCHES = (Batch(10, 20, 0, 100, 2), Batch(20, 30, 2, 100, 3))


def gets(
    *batches: Batch, high_watermark: int = 30, start: int = 5, stable: int | None = None, error: Errors = NO_ERROR
) -> ConsumerFetchResponse:
    stability = {} if stable is None else {ORDERS_0: Stability(stable)}
    row = (ORDERS_0, error, high_watermark, start, batches, None)
    return ConsumerFetchResponse(NO_ERROR, 0, (row,), 60, stability=stability)


@pytest.mark.parametrize(
    ("offset", "answer", "found"),
    [
        (12, gets(*BATCHES), ""),
        (30, gets(), ""),
        (12, gets(), "the count of batches 0, which should be 1"),
        (12, gets(BATCHES[1]), "the base offset 20, which should be 12"),
        (12, gets(*BATCHES, Batch(30, 40, 2, 100, 4)), "the end of records 40, which should be 30"),
        (12, gets(BATCHES[0], Batch(20, 30, 2, 100, 9)), "the batch 9, which should be another"),
        (12, gets(BATCHES[0], Batch(20, 30, 1, 100, 3)), "the leader epoch of a batch 1, which should be 2"),
        (12, gets(*BATCHES, high_watermark=31), "the high watermark 31, which should be 30"),
        (12, gets(*BATCHES, start=0), "the log start 0, which should be 5"),
        (12, gets(*BATCHES, error=Errors.UNKNOWN_SERVER_ERROR), "with UNKNOWN_SERVER_ERROR"),
        (4, gets(error=Errors.OFFSET_OUT_OF_RANGE), ""),
        (12, gets(error=Errors.OFFSET_OUT_OF_RANGE), "the error OFFSET_OUT_OF_RANGE, which should be none at 12"),
    ],
)
def test_what_a_client_fetches(offset: int, answer: ConsumerFetchResponse, found: str) -> None:
    seen = Answering().answers(asks(offset), answer)
    assert (found in seen[0] and len(seen) == 1) if found else not seen
    assert Answering().answers(asks(offset), answer, current=False) == [one for one in seen if "with UNKNOWN" in one]


def test_each_partition_once() -> None:
    [seen] = Answering().answers(asks(12, READ_UNCOMMITTED, ORDERS_1), gets(*BATCHES))
    assert seen == "broker 0, asked by Fetch about orders-0, orders-1, answers for orders-0"
    row = (ORDERS_0, NO_ERROR, 30, 5, (), None)
    follower = FetchRequest(1, 1, 1, 0, 1, 1000, 1000, (), ())
    assert Answering().answers(follower, FetchResponse(NO_ERROR, 1, (row,), 60)) == []
    [seen] = Answering().answers(follower, FetchResponse(NO_ERROR, 1, (row, row), 60))
    assert seen == "broker 0, asked by Fetch about orders-0, answers for orders-0, orders-0"
    [seen] = Answering().answers(follower, FetchResponse(NO_ERROR, 1, ((*row[:2], 31, *row[3:]),), 60))
    assert "the high watermark 31" in seen
    [seen] = Answering().answers(follower, FetchResponse(NO_ERROR, 1, ((*row[:3], 6, *row[4:]),), 60))
    assert "the log start 6" in seen
    assert Answering().answers(follower, FetchResponse(NO_ERROR, 1, ((*row[:5], (0, 20)),), 60)) == []
    [seen] = Answering().answers(follower, FetchResponse(NO_ERROR, 1, ((*row[:5], (0, 30)),), 60))
    assert "the end 30, which should be 20" in seen


def test_an_error_of_a_session_that_is_none() -> None:
    [seen] = Answering().answers(asks(12), ConsumerFetchResponse(Errors.INVALID_FETCH_SESSION_EPOCH, 0, (), 60))
    assert seen == "broker 0 answers Fetch with the error INVALID_FETCH_SESSION_EPOCH, which should be NONE"


def with_transaction(ends: bool) -> Answering:
    """Batch 3 belongs to a transaction of producer 7, and batch 4 may be its marker, which is committed."""
    run = Answering()
    run.emit(e.TransactionalAppended, 0, *ORDERS_0, 7, 3, 20)
    if ends:
        run.show(MarkerAppends, 0, ORDERS_0, 7, 30, 4)
    run.high_watermark(0, 40, 2, leader=True)
    return run


def test_the_last_stable_offset() -> None:
    asked, told = asks(40, READ_COMMITTED), gets(high_watermark=40, stable=20)
    assert with_transaction(ends=False).answers(asked, told) == []
    [seen] = with_transaction(ends=True).answers(asked, told)
    assert "the last stable offset 20, which should be 40" in seen
    assert with_transaction(ends=True).answers(asked, gets(high_watermark=40, stable=40)) == []
    [seen] = with_transaction(ends=False).answers(asked, gets(high_watermark=40))
    assert "the last stable offset 40, which should be 20" in seen
    assert with_transaction(ends=False).answers(asks_place(LATEST, -1, READ_COMMITTED), place(20, epoch=2)) == []


def test_a_transaction_whose_first_records_are_deleted_may_be_open() -> None:
    """kafka-3.9, seed 16126: its broker remembers it until its marker comes, or its log is loaded again."""
    for stable in (35, 40):
        run = with_transaction(ends=False)
        run.emit(e.LogStartMoved, 0, *ORDERS_0, 35, "size")
        assert run.answers(asks(40, READ_COMMITTED), gets(high_watermark=40, start=35, stable=stable)) == []


def test_the_producers_of_a_log() -> None:
    request = DescribeProducersRequest((ORDERS_0,))

    def told(*producers: ActiveProducer) -> DescribeProducersResponse:
        return DescribeProducersResponse((DescribedProducers(ORDERS_0, NO_ERROR, producers),))

    run = with_transaction(ends=False)
    assert run.answers(request, told(ActiveProducer(7, 0, 3, 9, -1, 20))) == []
    [seen] = run.answers(request, told(ActiveProducer(7, 0, 3, 9)))
    assert "the transaction start -1, which should be 20" in seen
    [seen] = with_transaction(ends=False).answers(request, told())
    assert "the producer -1, which should be 7" in seen
    [seen] = with_transaction(ends=True).answers(request, told(ActiveProducer(7, 0, 3, 9, -1, 20)))
    assert "the transaction start 20, which should be another" in seen


def test_who_is_named_as_leader() -> None:
    row = (ORDERS_0, NOT_LEADER, -1, -1, (), None)

    def told(leader: int, epoch: int) -> list[str]:
        leaders = {ORDERS_0: KnownLeader(leader, epoch, True)}
        return Answering().answers(asks(12), ConsumerFetchResponse(NO_ERROR, 0, (row,), 60, leaders=leaders), 1)

    assert told(0, 2) == []
    assert "the leader 1, which should be 0" in told(1, 2)[0]
    assert "the leader epoch 1, which should be 2" in told(0, 1)[0]


def test_a_producer_gets_what_its_coordinator_has_decided() -> None:
    request = InitProducerIdRequest(transactional_id="writer")

    def told(producer_id: int, epoch: int, error: Errors = NO_ERROR) -> list[str]:
        run = Answering()
        run.show(ProducerInitialized, 0, "writer", -1, -1, 7, 2, "NONE")
        return run.answers(request, InitProducerIdResponse(producer_id, error=error, producer_epoch=epoch))

    assert told(7, 2) == []
    [seen] = told(7, 3)
    assert "the producer id and epoch (7, 3, 'NONE'), which should be (7, 2, 'NONE')" in seen
    assert len(told(7, 2, Errors.NOT_COORDINATOR)) == 1
    assert Answering().answers(InitProducerIdRequest(), InitProducerIdResponse(7)) == []
    assert len(Answering().answers(InitProducerIdRequest(), InitProducerIdResponse(7, producer_epoch=1))) == 1


@pytest.mark.parametrize(
    ("error", "found"),
    [(Errors.POLICY_VIOLATION, ""), (Errors.UNKNOWN_SERVER_ERROR, "with UNKNOWN_SERVER_ERROR, asked under no epoch")],
)
def test_a_deletion_that_is_refused(error: Errors, found: str) -> None:
    request = DeleteRecordsRequest(((ORDERS_0, 9),), 1_000_000)
    seen = Answering().answers(request, DeleteRecordsResponse((DeletedRecords(ORDERS_0, -1, error),)))
    assert (found in seen[0] and len(seen) == 1) if found else not seen
