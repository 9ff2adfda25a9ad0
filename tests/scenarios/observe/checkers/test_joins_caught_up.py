"""I2: a replica that joins the ISR has caught up."""

from emulator.protocol import events as e
from scenarios.observe.checkers.joins_caught_up import JoinsCaughtUp
from tests.scenarios.observe.checkers.written_history import ORDERS_0, WrittenHistory

NAME = JoinsCaughtUp.name


def story() -> WrittenHistory:
    """Broker 0 leads epoch 1, which began at offset 20; broker 2 is outside the ISR and has the first batch."""
    run = WrittenHistory(NAME).begin()
    run.everywhere(0, 1)
    run.everywhere(10, 2, nodes=(0, 1))
    run.state(0, (0, 1), 1)
    run.leads(0, 1, 10, 20)
    return run


def test_below_the_high_watermark() -> None:
    run = story()
    run.high_watermark(0, 20, 1, leader=True)
    joined = run.state(0, (0, 1, 2), 1)
    [violation] = run.violations()
    assert violation.seq == joined.seq
    assert violation.state == (
        "orders-0: broker 0, leader of epoch 1, which began at 20, with the high watermark 20, takes broker 2 into the "
        "ISR, whose log ends at 10"
    )


def test_at_the_high_watermark_but_before_the_start_of_the_epoch() -> None:
    run = story()
    run.high_watermark(0, 10, 1, leader=True)
    run.state(0, (0, 1, 2), 1)
    assert run.invariants() == [NAME]


def test_caught_up() -> None:
    run = story()
    run.high_watermark(0, 20, 1, leader=True)
    run.append(0, 20, 3, 1, leader=True)
    run.append(2, 10, 2)
    run.state(0, (0, 1, 2), 1)
    assert run.violations() == []


def test_what_a_controller_writes_is_no_joining() -> None:
    run = story()
    run.state(1, (1, 2), 2)
    assert run.violations() == []


def test_at_the_end_of_a_leader_within_a_batch_that_the_replica_has_deleted() -> None:
    run = WrittenHistory(NAME).begin()
    run.everywhere(0, 1, nodes=(1, 2))
    run.emit(e.LogStartMoved, 2, *ORDERS_0, 10, "time")
    run.state(0, (0,), 1)
    run.leads(0, 1, 5, 5)
    run.truncated(2, 5)
    run.state(0, (0, 2), 1)
    assert run.violations() == []
