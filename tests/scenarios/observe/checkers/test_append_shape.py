"""S13: logs grow at their end, epochs do not go back."""

from emulator.protocol import events as e
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
