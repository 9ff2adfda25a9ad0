"""S10, S11 and what Jepsen looks for: histories in which a consumer gets records that it must not get."""

from typing import Any

import pytest

from emulator.protocol import events as e
from emulator.protocol.shown import PositionRefused, ProduceRefused
from scenarios.observe.checkers.no_batch_twice import NoBatchTwice
from scenarios.observe.checkers.polls_go_on import PollsGoOn
from scenarios.observe.checkers.reads_committed import ReadsCommitted
from scenarios.observe.checkers.reads_consistent import ReadsConsistent
from tests.scenarios.observe.checkers.written_history import COUNT, ORDERS_0, WrittenHistory

READER = -1_000_000
PRODUCER = 1 << 32


def story(name: str, *ids: int) -> WrittenHistory:
    """Batches everywhere, all of them committed."""
    run = WrittenHistory(name).begin()
    for place, id in enumerate(ids):
        run.everywhere(place * COUNT, id)
    run.high_watermark(0, len(ids) * COUNT, leader=True)
    return run


def read(run: WrittenHistory, offset: int, *ids: int, end: int | None = None, told: int = 1000, epoch: int = 0) -> Any:
    end = offset + len(ids) * COUNT if end is None else end
    return run.emit(e.Consumed, READER, *ORDERS_0, offset, end, ids, 0, epoch, told)


def begins(run: WrittenHistory, offset: int) -> None:
    run.emit(e.PositionReset, READER, *ORDERS_0, -1, offset, "start")


# -- S10 ---------------------------------------------------------------------------------------------------------------


def test_what_is_committed_may_be_read() -> None:
    run = story(ReadsCommitted.name, 1, 2)
    read(run, 0, 1, 2)
    assert run.violations() == []


@pytest.mark.parametrize(("told", "committed"), [(30, 20), (20, 30)])
def test_above_the_high_watermark(told: int, committed: int) -> None:
    """The high watermark that the consumer received, or the highest that any leader has had."""
    run = story(ReadsCommitted.name, 1, 2, 3)
    if committed == 20:
        run = story(ReadsCommitted.name, 1, 2)
        run.everywhere(20, 3)
    wrong = read(run, 0, 1, 2, 3, told=told)
    [violation] = run.violations()
    assert violation.seq == wrong.seq
    assert violation.state == (
        f"client {READER} is given orders-0 up to offset 30 by broker 0; it received the high watermark {told}, and "
        f"the highest of any leader is {committed}"
    )


def test_what_was_exposed_before_an_unclean_election_was_exposed() -> None:
    run = story(ReadsCommitted.name, 1, 2)
    run.state(1, (1,), 1)
    run.truncated(1, COUNT)
    run.emit(e.LeaderElected, *ORDERS_0, 2, 2, (2,), "offline", 1, True)
    run.truncated(2, 0, 2)
    run.leads(2, 2)
    read(run, 0, 1, 2)
    assert run.violations() == []


def test_a_real_client_fetches_no_more_either() -> None:
    run = story(ReadsCommitted.name, 1, 2)
    run.emit(e.Fetched, READER, *ORDERS_0, 0, 20, (1, 2), 0, 0, 20)
    wrong = run.emit(e.Fetched, READER, *ORDERS_0, 0, 30, (1, 2, 3), 0, 0, 20)
    assert [violation.seq for violation in run.violations()] == [wrong.seq]


def test_a_real_client_fetches_what_is_committed() -> None:
    run = story(ReadsConsistent.name, 1, 2)
    run.emit(e.Fetched, READER, *ORDERS_0, 0, 20, (1, 2), 0, 0, 20)
    wrong = run.emit(e.Fetched, READER, *ORDERS_0, 10, 20, (3,), 0, 0, 20)
    assert [violation.seq for violation in run.violations()] == [wrong.seq]


# -- S11 ---------------------------------------------------------------------------------------------------------------


def test_what_is_committed_is_what_is_read() -> None:
    run = story(ReadsConsistent.name, 1, 2)
    read(run, 0, 1, 2)
    read(run, 5, 1, 2, end=15)
    read(run, COUNT, 2)
    assert run.violations() == []


def test_another_batch() -> None:
    run = story(ReadsConsistent.name, 1, 2)
    wrong = read(run, 0, 1, 7)
    [violation] = run.violations()
    assert violation.seq == wrong.seq
    assert violation.state == (
        f"client {READER} has read batch 7 of orders-0 from broker 0 (epoch 0) at offset 10, where batch 2 of epoch 0 "
        "is committed"
    )


def test_what_was_read_too_early_and_came_otherwise() -> None:
    run = story(ReadsConsistent.name, 1)
    run.append(0, COUNT, 2, leader=True)
    early = read(run, COUNT, 2)
    run.state(1, (1, 2), 1)
    run.leads(1, 1, COUNT, COUNT)
    run.append(1, COUNT, 3, 1, leader=True)
    run.append(2, COUNT, 3, 1)
    run.high_watermark(1, 2 * COUNT, 1, leader=True)
    [violation] = run.violations()
    assert violation.seq == early.seq


def test_what_a_leader_before_an_unclean_election_gave_is_no_violation() -> None:
    run = story(ReadsConsistent.name, 1, 2)
    run.emit(e.LeaderElected, *ORDERS_0, 2, 2, (2,), "offline", 1, True)
    run.truncated(2, COUNT, 2, COUNT)
    run.leads(2, 2, COUNT, COUNT)
    run.append(2, COUNT, 3, 2, leader=True)
    run.high_watermark(2, 2 * COUNT, 2, leader=True)
    read(run, 0, 1, 2, epoch=1)
    assert run.violations() == []


def test_what_the_leader_after_it_gives_is() -> None:
    run = story(ReadsConsistent.name, 1, 2)
    run.emit(e.LeaderElected, *ORDERS_0, 2, 2, (2,), "offline", 1, True)
    run.truncated(2, COUNT, 2, COUNT)
    run.leads(2, 2, COUNT, COUNT)
    run.append(2, COUNT, 3, 2, leader=True)
    run.high_watermark(2, 2 * COUNT, 2, leader=True)
    read(run, 0, 1, 2, epoch=2)
    assert run.invariants() == [ReadsConsistent.name]


# -- polls -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("offset", [10, 30, 0])
def test_a_poll_that_repeats_or_skips(offset: int) -> None:
    run = WrittenHistory(PollsGoOn.name)
    begins(run, 0)
    read(run, 0, 1, 2)
    wrong = read(run, offset, 3)
    [violation] = run.violations()
    assert violation.seq == wrong.seq
    assert violation.state == f"client {READER} is given orders-0 from offset {offset} on, and was at 20"


def test_polls_go_on_or_where_the_position_was_reset_to() -> None:
    run = WrittenHistory(PollsGoOn.name)
    begins(run, 0)
    read(run, 0, 1)
    run.emit(e.PositionReset, READER, *ORDERS_0, 10, 5, "truncated")
    read(run, 5, 7, end=15)
    read(run, 15, 7, 8, end=25)
    assert run.violations() == []


def refused(run: WrittenHistory, offset: int, leader: int = 0, epoch: int = 0) -> Any:
    return run.show(PositionRefused, READER, *ORDERS_0, leader, epoch, offset)


@pytest.mark.parametrize("offset", [0, 10, 20])
def test_a_position_that_the_leader_has_is_given_up(offset: int) -> None:
    run = story(PollsGoOn.name, 1, 2)
    refused(run, offset)
    [violation] = run.violations()
    assert violation.state == (
        f"client {READER} gives up its position {offset} in orders-0 (out of range), and the log of leader 0 goes from "
        "0 to 20"
    )


@pytest.mark.parametrize("why", ["beyond the end", "retention", "an old leader", "an unclean election"])
def test_a_position_may_be_given_up(why: str) -> None:
    run = story(PollsGoOn.name, 1, 2)
    if why == "beyond the end":
        refused(run, 30)
    elif why == "retention":
        run.emit(e.LogStartMoved, 0, *ORDERS_0, 20, "time")
        refused(run, 10)
    elif why == "an old leader":
        run.state(1, (1, 2), 1)
        run.leads(1, 1, 20, 20)
        refused(run, 20)
    else:
        run.emit(e.LeaderElected, *ORDERS_0, 2, 2, (2,), "offline", 1, True)
        run.truncated(2, COUNT, 2, COUNT)
        run.leads(2, 2, COUNT, COUNT)
        refused(run, COUNT, 2, 2)
    assert run.violations() == []


@pytest.mark.parametrize(("last", "violations"), [(2, 1), (3, 0)])
def test_a_position_after_a_batch_that_was_lost_may_be_given_up(last: int, violations: int) -> None:
    """kafka-2.4, seed 201: what a release loses by itself is found by others; the reader notices that it is gone."""
    run = story(PollsGoOn.name, 1, 2)
    begins(run, 0)
    read(run, 0, 1, last)
    refused(run, 20)
    assert len(run.violations()) == violations


def test_records_that_were_read_and_are_there_are_said_to_be_gone() -> None:
    run = story(PollsGoOn.name, 1, 2)
    begins(run, 0)
    run.emit(e.PositionReset, READER, *ORDERS_0, 20, 10, "truncated")
    [violation] = run.violations()
    assert "gives up its position 20 in orders-0 (truncated)" in violation.state


# -- batches -----------------------------------------------------------------------------------------------------------


def identified(*ids: int) -> WrittenHistory:
    run = WrittenHistory(NoBatchTwice.name).begin()
    run.emit(e.ProducerIdentified, -10, 0, 1, PRODUCER - 1)
    for place, id in enumerate(ids):
        run.everywhere(place * COUNT, id)
        run.high_watermark(0, (place + 1) * COUNT, leader=True)
    return run


def fails(run: WrittenHistory, id: int, error: str) -> None:
    run.emit(e.Produced, -10, *ORDERS_0, id, -1, error, -1, -1, -1, 5000, 2, "failed")


@pytest.mark.parametrize("why", ["", "too old", "another error", "an earlier failure", "another id", "a follower"])
def test_a_batch_that_is_there_and_refused_for_its_number(why: str) -> None:
    run = identified(*range(1, 9))
    if why in ("an earlier failure", "another id"):
        fails(run, 12, "REQUEST_TIMED_OUT")
    if why == "another id":  # what has the old one is given up by the producer itself
        run.emit(e.ProducerIdentified, -10, 1, 1, PRODUCER - 1)
    error = "UNKNOWN_PRODUCER_ID" if why == "another error" else "OUT_OF_ORDER_SEQUENCE_NUMBER"
    node = 1 if why == "a follower" else 0
    run.show(ProduceRefused, node, *ORDERS_0, -1, error, 3 if why == "too old" else 5)
    expected = "orders-0: batch 5 is refused for its number, and leader 0 has it"
    assert [violation.state for violation in run.violations()] == ([] if why else [expected])


@pytest.mark.parametrize(("ids", "what"), [((1, 2, 2), "again"), ((1, 2, 1), "after batch 2")])
def test_a_batch_that_is_committed_twice(ids: tuple[int, ...], what: str) -> None:
    [violation] = identified(*ids).violations()
    place = "at offset 20 in epoch 0; before it its producer has batches 1 to 2, up to offset 20"
    assert violation.state == f"orders-0: batch {ids[-1]} is committed {what}, {place}"


def test_gaps_and_producers_without_idempotence() -> None:
    other = 2 * PRODUCER
    assert identified(1, other, 3, other, 4).violations() == []


def test_an_unclean_election_starts_over() -> None:
    run = identified(1, 2, 3)
    run.emit(e.LeaderElected, *ORDERS_0, 2, 2, (2,), "offline", 1, True)
    run.truncated(2, COUNT, 2, COUNT)
    run.leads(2, 2, COUNT, COUNT)
    run.append(2, COUNT, 2, 2, leader=True)
    run.high_watermark(2, 2 * COUNT, 2, leader=True)
    assert run.violations() == []
    run = identified(1, 2, 3)
    run.emit(e.LeaderElected, *ORDERS_0, 2, 2, (2,), "offline", 1, True)
    run.truncated(2, COUNT, 2, COUNT)
    run.leads(2, 2, COUNT, COUNT)
    for base, id in ((10, 2), (20, 2)):
        run.append(2, base, id, 2, leader=True)
        run.high_watermark(2, base + COUNT, 2, leader=True)
    assert run.invariants() == [NoBatchTwice.name]
