"""S13: logs grow at their end, epochs do not go back, and end where the next one begins."""

import pytest

from emulator.protocol import events as e
from emulator.protocol.offsets_for_leader_epoch import UNDEFINED_OFFSET, EpochEndFound
from scenarios.observe.checkers.append_shape import AppendShape
from tests.scenarios.observe.checkers.written_history import ORDERS_0, WrittenHistory


def test_a_hole() -> None:
    run = WrittenHistory(AppendShape.name).begin()
    run.append(0, 0, 1, leader=True)
    late = run.append(0, 20, 2, leader=True)
    [violation] = run.violations()
    assert violation.seq == late.seq
    assert violation.state == "broker 0, orders-0: batch 2 goes to offset 20 of a log that ends at 10"


def test_a_batch_appended_twice() -> None:
    run = WrittenHistory(AppendShape.name).begin()
    run.append(1, 0, 1)
    run.append(1, 0, 1)
    assert run.invariants() == [AppendShape.name]


def test_an_older_epoch_after_a_newer_one() -> None:
    run = WrittenHistory(AppendShape.name).begin()
    run.append(0, 0, 1, 2, leader=True)
    old = run.append(0, 10, 2, 1, leader=True)
    run.append(1, 0, 1, 2)
    run.append(1, 10, 2, 1)
    [violation] = run.violations()
    assert violation.seq == old.seq
    assert violation.state == "broker 0, orders-0: batch 2 of epoch 1 follows a batch of epoch 2"


def test_a_log_as_it_should_grow() -> None:
    run = WrittenHistory(AppendShape.name).begin()
    run.everywhere(0, 1, 0)
    run.append(0, 10, 2, 0, leader=True)
    run.truncated(0, 10)
    run.everywhere(10, 3, 1, (1, 2, 0))
    run.everywhere(20, 4, 1, (1, 2, 0))
    assert run.violations() == []


def test_an_emptied_log_goes_on_within_a_batch_that_retention_has_deleted() -> None:
    run = WrittenHistory(AppendShape.name).begin()
    run.everywhere(0, 1)
    run.emit(e.LogStartMoved, 1, *ORDERS_0, 10, "time")
    run.truncated(1, 5)
    run.append(1, 5, 2, 1)
    assert run.violations() == []


@pytest.mark.parametrize(("start", "broken"), [(19, True), (20, False)])
def test_an_older_epoch_in_a_log_that_retention_has_emptied(start: int, broken: bool) -> None:
    """After an unclean election of a leader with older batches (kafka-2.3, seed 40367). The epochs that the log does
    not have any more say nothing about where others end either."""
    run = WrittenHistory(AppendShape.name).begin()
    run.append(1, 0, 1, 0)
    run.append(1, 10, 2, 2)
    run.emit(e.LogStartMoved, 1, *ORDERS_0, start, "leader")
    run.append(1, 20, 3, 0)
    if not broken:
        run.show(EpochEndFound, 1, ORDERS_0, 0, 30, 30)
    assert run.invariants() == [AppendShape.name] * broken


def three_epochs() -> WrittenHistory:
    """Batches of the epochs 1, 1, 4 and 6."""
    run = WrittenHistory(AppendShape.name).begin()
    for number, epoch in enumerate((1, 1, 4, 6)):
        run.append(0, 10 * number, number + 1, epoch, leader=True)
    return run


@pytest.mark.parametrize(("epoch", "end"), [(0, 0), (1, 20), (3, 20), (4, 30), (5, 30), (6, 40), (7, 40)])
def test_where_an_epoch_ends(epoch: int, end: int) -> None:
    run = three_epochs()
    run.show(EpochEndFound, 0, ORDERS_0, epoch, end, 40)
    assert run.violations() == []
    run.show(EpochEndFound, 0, ORDERS_0, epoch, end + 10, 40)
    [violation] = run.violations()
    assert violation.state == (
        f"broker 0, orders-0: leader epoch {epoch} is found to end at {end + 10}, and ends at {end}"
    )


def test_an_epoch_that_is_not_found() -> None:
    run = three_epochs()
    for epoch in (0, 5, 7):
        run.show(EpochEndFound, 0, ORDERS_0, epoch, UNDEFINED_OFFSET, 40)
    assert run.violations() == []
    run.show(EpochEndFound, 0, ORDERS_0, 6, UNDEFINED_OFFSET, 40)
    [violation] = run.violations()
    assert violation.state == "broker 0, orders-0: leader epoch 6 is not found, and is that of the last batch"


def test_epochs_before_the_start_of_a_log_end_there() -> None:
    run = three_epochs()
    run.emit(e.LogStartMoved, 0, *ORDERS_0, 25, "time")
    run.show(EpochEndFound, 0, ORDERS_0, 1, 25, 40)
    assert run.violations() == []


def test_an_epoch_of_which_all_batches_are_deleted_need_not_be_known() -> None:
    """A release before KIP-279 says so of an epoch below those that it knows (LeaderEpochFileCache, 1.1)."""
    run = three_epochs()
    run.emit(e.LogStartMoved, 0, *ORDERS_0, 40, "time")
    run.show(EpochEndFound, 0, ORDERS_0, 6, UNDEFINED_OFFSET, 40)
    assert run.violations() == []


def test_a_log_that_is_recovered_without_epoch_0() -> None:
    """KAFKA-10432 (2.7)."""
    run = WrittenHistory(AppendShape.name).begin()
    run.append(0, 0, 1, 0, leader=True)
    run.show(EpochEndFound, 0, ORDERS_0, 0, UNDEFINED_OFFSET, 10)
    assert run.violations() == []


@pytest.mark.parametrize(("epoch", "end", "broken"), [(1, 10, False), (4, 30, False), (4, 20, True)])
def test_where_an_epoch_ends_that_was_deleted_and_came_back(epoch: int, end: int, broken: bool) -> None:
    """A broker crashes before it has deleted what is before its log's start; the end of epoch 1 is forgotten."""
    run = WrittenHistory(AppendShape.name).begin()
    for number, of_batch in enumerate((1, 4, 4, 6)):
        run.append(0, 10 * number, number + 1, of_batch, leader=True)
    run.emit(e.LogStartMoved, 0, *ORDERS_0, 30, "leader")
    run.loaded(0, 40, 40)
    run.show(EpochEndFound, 0, ORDERS_0, epoch, end, 40)
    assert bool(run.violations()) is broken
