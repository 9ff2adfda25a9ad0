"""J: histories in which a reader of committed records gets what is not decided, or does not learn what was aborted."""

import pytest

from emulator.protocol import events as e
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
