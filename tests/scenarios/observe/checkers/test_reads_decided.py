"""J: histories in which a reader of committed records gets what is not decided, or does not learn what was aborted."""

import pytest

from emulator.protocol import events as e
from emulator.protocol.shown_coordination import MarkerAppends
from scenarios.observe.checkers.reads_decided import ReadsDecided
from tests.scenarios.observe.checkers.written_history import ORDERS_0, WrittenHistory

READER, ANNE, BATCH = -1_000_000, 7, 5
SENT = f"client {READER} is sent the batch at 20 of orders-0, of producer 7, by broker 0"


def story(committed: bool | None, *aborted: tuple[int, int]) -> list[str]:
    """A batch at offset 20 that is read. ``committed``: None: its transaction is open."""
    run = WrittenHistory(ReadsDecided.name).begin()
    run.emit(e.TransactionalAppended, 0, *ORDERS_0, ANNE, BATCH, 20)
    if committed is not None:
        run.emit(e.TransactionMarked, 0, *ORDERS_0, ANNE, 0, 1, committed)
    producers, firsts = tuple(each[0] for each in aborted), tuple(each[1] for each in aborted)
    run.emit(e.CommittedFetched, READER, *ORDERS_0, 0, (BATCH,), 40, producers, firsts)
    return [violation.state for violation in run.violations()]


@pytest.mark.parametrize(("committed", "aborted"), [(True, ()), (False, ((ANNE, 20),)), (False, ((9, 3), (ANNE, 10)))])
def test_what_is_decided_may_be_read(committed: bool, aborted: tuple[tuple[int, int], ...]) -> None:
    assert story(committed, *aborted) == []


@pytest.mark.parametrize("aborted", [(), ((9, 20),), ((ANNE, 30),)])
def test_a_reader_learns_what_was_aborted(aborted: tuple[tuple[int, int], ...]) -> None:
    assert story(False, *aborted) == [f"{SENT}: its transaction was aborted, and the answer does not say so"]


def test_a_reader_gets_nothing_of_an_open_transaction() -> None:
    assert story(None) == [f"{SENT}: its transaction is open"]


@pytest.mark.parametrize(("stable", "count"), [(30, 0), (29, 1)])
def test_an_answer_ends_at_the_last_stable_offset(stable: int, count: int) -> None:
    run = WrittenHistory(ReadsDecided.name).begin()
    run.emit(e.Fetched, READER, *ORDERS_0, 20, 30, (BATCH,), 0, 0, 40)
    run.emit(e.CommittedFetched, READER, *ORDERS_0, 0, (BATCH,), stable, (), ())
    beyond = f"client {READER} is sent records of orders-0 up to 30 by broker 0, whose last stable offset is 29"
    assert [violation.state for violation in run.violations()] == [beyond] * count


@pytest.mark.parametrize(("high_watermark", "count"), [(31, 0), (30, 1)])
def test_a_marker_counts_once_it_is_replicated(high_watermark: int, count: int) -> None:
    """Of two leaders that have appended the marker the one with the lower offset may be read."""
    run = WrittenHistory(ReadsDecided.name).begin()
    run.emit(e.TransactionalAppended, 0, *ORDERS_0, ANNE, BATCH, 20)
    for offset in (33, 30):
        run.emit(e.TransactionMarked, 0, *ORDERS_0, ANNE, 0, 1, True)
        run.show(MarkerAppends, 0, ORDERS_0, ANNE, offset, 1)
    run.emit(e.Fetched, READER, *ORDERS_0, 20, 30, (BATCH,), 0, 0, high_watermark)
    run.emit(e.CommittedFetched, READER, *ORDERS_0, 0, (BATCH,), 30, (), ())
    early = f"{SENT}: its transaction has a marker that is not replicated yet"
    assert [violation.state for violation in run.violations()] == [early] * count


@pytest.mark.parametrize(("before", "count"), [(31, 0), (30, 1)])
def test_a_marker_was_replicated_before_the_high_watermark_went_back(before: int, count: int) -> None:
    """kafka-1.1, seed 24005: the broker followed another one in between, and took over a lower one."""
    run = WrittenHistory(ReadsDecided.name).begin()
    run.emit(e.TransactionalAppended, 0, *ORDERS_0, ANNE, BATCH, 20)
    run.emit(e.TransactionMarked, 0, *ORDERS_0, ANNE, 0, 1, True)
    run.show(MarkerAppends, 0, ORDERS_0, ANNE, 30, 1)
    for offset in (before, 30):
        run.high_watermark(0, offset, leader=True)
    run.emit(e.Fetched, READER, *ORDERS_0, 20, 30, (BATCH,), 0, 0, 30)
    run.emit(e.CommittedFetched, READER, *ORDERS_0, 0, (BATCH,), 30, (), ())
    assert len(run.violations()) == count


@pytest.mark.parametrize(("cut_at", "count"), [(31, 1), (30, 0)])
def test_a_transaction_whose_marker_is_damaged_is_open_again(cut_at: int, count: int) -> None:
    """kafka-2.3, seed 14: the last replica in sync loses a marker with a batch that is spoilt, and a later transaction
    of the producer is committed with the batch of the one that was aborted."""
    run = WrittenHistory(ReadsDecided.name).begin()
    run.emit(e.TransactionalAppended, 0, *ORDERS_0, ANNE, BATCH, 20)
    run.emit(e.TransactionMarked, 0, *ORDERS_0, ANNE, 0, 1, False)
    run.show(MarkerAppends, 0, ORDERS_0, ANNE, 30, 1)
    run.emit(e.LogRecovered, 0, *ORDERS_0, cut_at, 1, "corrupt")
    run.emit(e.CommittedFetched, READER, *ORDERS_0, 0, (BATCH,), 40, (), ())
    assert len(run.violations()) == count


@pytest.mark.parametrize(
    ("kind", "leads", "log_end", "count"),
    [("host", 1, 30, 0), ("host", 1, 31, 1), ("host", 2, 30, 1), ("process", 1, 30, 1)],
    ids=["lost", "kept", "another", "process"],
)
def test_so_is_one_whose_marker_went_with_the_machine_of_a_leader(
    kind: str, leads: int, log_end: int, count: int
) -> None:
    """kafka-3.0, seed 626 with transactions: the next transaction of the producer is aborted with its batch."""
    run = WrittenHistory(ReadsDecided.name).begin()
    run.emit(e.TransactionalAppended, 0, *ORDERS_0, ANNE, BATCH, 20)
    run.emit(e.TransactionMarked, 0, *ORDERS_0, ANNE, 0, 1, True)
    run.show(MarkerAppends, 0, ORDERS_0, ANNE, 30, 1)
    run.emit(e.NodeCrashed, 1, 1, kind)
    run.emit(e.BecameLeader, leads, *ORDERS_0, 2, log_end, 20, (leads,), (0, 1, 2), (), ())
    run.emit(e.CommittedFetched, READER, *ORDERS_0, leads, (BATCH,), 40, (ANNE,), (20,))
    assert len(run.violations()) == count


def test_a_reader_does_not_leave_out_what_was_committed() -> None:
    said = f"{SENT}: its transaction was committed, and the answer says that it was aborted"
    assert story(True, (ANNE, 20)) == [said]
    assert story(True, (ANNE, 5)) == [], "an earlier transaction of the same producer"


@pytest.mark.parametrize(("unclean", "count"), [(False, 1), (True, 0)])
def test_a_batch_that_comes_back_with_an_unclean_leader_has_its_own_marker(unclean: bool, count: int) -> None:
    """kafka-2.3, seed 16007: broker 0 has the batch with a marker at 30; broker 1, which leads meanwhile, has appended
    it again, and its marker at 40."""
    run = WrittenHistory(ReadsDecided.name).begin((0, 1))
    for node, marker in ((0, 30), (1, 40)):
        run.emit(e.TransactionalAppended, node, *ORDERS_0, ANNE, BATCH, 20)
        run.emit(e.TransactionMarked, node, *ORDERS_0, ANNE, 0, 1, True)
        run.show(MarkerAppends, node, ORDERS_0, ANNE, marker, marker)
    if unclean:
        run.state(1, (1,), 1)
        run.state(0, (0,), 2)
    run.emit(e.Fetched, READER, *ORDERS_0, 20, 31, (BATCH,), 0, 0, 31)
    run.emit(e.CommittedFetched, READER, *ORDERS_0, 0, (BATCH,), 31, (), ())
    assert len(run.violations()) == count
