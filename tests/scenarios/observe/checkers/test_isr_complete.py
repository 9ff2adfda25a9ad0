"""S3, S5, S6: in-sync replicas have what is committed."""

from emulator.protocol import events as e
from scenarios.observe.checkers.isr_complete import IsrComplete
from tests.scenarios.observe.checkers.written_history import ORDERS_0, WrittenHistory

NAME = IsrComplete.name


def history() -> WrittenHistory:
    run = WrittenHistory(NAME).begin()
    run.assigned((0, 1, 2))
    return run


def test_a_high_watermark_that_did_not_wait_for_a_member() -> None:
    run = history()
    run.everywhere(0, 1, nodes=(0, 1))
    moved = run.high_watermark(0, 10, leader=True)
    [violation] = run.violations()
    assert violation.seq == moved.seq
    assert violation.state == (
        "orders-0, ISR [0, 1, 2]: the log of broker 2 ends at 0 and lacks what is committed up to offset 10, "
        "batch 1 of epoch 0, as broker 0 moves its high watermark"
    )


def test_a_replica_joins_the_isr_too_early() -> None:
    run = history()
    run.state(0, (0, 1), 0)
    run.everywhere(0, 1, nodes=(0, 1))
    run.high_watermark(0, 10, leader=True)
    joined = run.state(0, (0, 1, 2), 0)
    [violation] = run.violations()
    assert violation.seq == joined.seq


def test_a_member_comes_back_with_less() -> None:
    run = history()
    run.everywhere(0, 1)
    run.high_watermark(0, 10, leader=True)
    run.emit(e.NodeCrashed, 2, 1, "host")
    run.loaded(2, 0)
    assert run.invariants() == [NAME]


def test_members_that_have_everything() -> None:
    run = history()
    run.everywhere(0, 1)
    run.high_watermark(0, 10, leader=True)
    run.state(0, (0, 1), 0)
    run.everywhere(10, 2, nodes=(0, 1))
    run.high_watermark(0, 20, leader=True)
    run.append(2, 10, 2)
    run.state(0, (0, 1, 2), 0)
    run.loaded(1, 20)
    assert run.violations() == []


def test_between_an_unclean_election_and_its_leader_nothing_is_asked() -> None:
    run = history()
    run.everywhere(0, 1, nodes=(0, 1))
    run.state(0, (0, 1), 0)
    run.high_watermark(0, 10, leader=True)
    run.state(2, (2,), 1)
    run.leads(2, 1)
    run.append(2, 0, 5, 1, leader=True)
    run.high_watermark(2, 10, 1, leader=True)
    assert run.violations() == []


def test_a_member_outside_the_assignment_is_not_waited_for() -> None:
    """kafka-6794, steps 5 to 10: the assignment is rewritten before the ISR."""
    run = history()
    run.assigned((0, 1))
    run.everywhere(0, 1, nodes=(0, 1))
    run.high_watermark(0, 10, leader=True)
    assert run.violations() == []


def test_a_member_that_the_move_leaves_behind_is_not_waited_for_once_the_target_is_in_sync() -> None:
    run = history()
    run.emit(e.MoveStarted, *ORDERS_0, (0, 1))
    run.everywhere(0, 1, nodes=(0, 1))
    run.high_watermark(0, 10, leader=True)
    assert run.violations() == []


def test_until_the_target_is_in_sync_the_old_replicas_are_waited_for() -> None:
    run = history()
    run.assigned((0, 1, 2, 3))
    run.emit(e.MoveStarted, *ORDERS_0, (0, 3))
    run.everywhere(0, 1, nodes=(0, 1))
    run.high_watermark(0, 10, leader=True)
    assert run.invariants() == [NAME]


def test_when_the_move_is_over_all_count_again() -> None:
    run = history()
    run.emit(e.MoveStarted, *ORDERS_0, (0, 1))
    run.emit(e.MoveFinished, *ORDERS_0)
    run.everywhere(0, 1, nodes=(0, 1))
    run.high_watermark(0, 10, leader=True)
    assert run.invariants() == [NAME]
