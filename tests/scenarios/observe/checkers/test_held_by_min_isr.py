"""S21: nothing is committed while the ISR is below min.insync.replicas."""

import pytest

from emulator.protocol import events as e
from scenarios.observe.checkers.held_by_min_isr import HeldByMinIsr
from scenarios.observe.history.settings_history import MIN_ISR, StartSettings
from tests.scenarios.observe.checkers.written_history import ORDERS_0, WrittenHistory

NAME = HeldByMinIsr.name


def begun(isr: tuple[int, ...], *, holds: bool = True) -> WrittenHistory:
    """min.insync.replicas is 2, broker 0 leads with ``isr``, and all three replicas have two batches."""
    run = WrittenHistory(NAME, start=StartSettings({MIN_ISR: 2}, holds_high_watermark=holds)).begin()
    changed(run, *isr)
    run.everywhere(0, 1)
    run.everywhere(10, 2)
    return run


def changed(run: WrittenHistory, *isr: int) -> None:
    run.emit(e.IsrChanged, 0, *ORDERS_0, 0, "shrink", isr, 1)


def test_a_leader_commits_alone() -> None:
    run = begun((0,))
    moved = run.high_watermark(0, 10, leader=True)
    [violation] = run.violations()
    assert violation.seq == moved.seq
    assert violation.state == (
        "orders-0: leader 0 has committed up to offset 10 with an ISR of 1 where 2 are asked for, since 0.005 s"
    )


def test_before_3_7_it_goes_on() -> None:
    run = begun((0,), holds=False)
    run.high_watermark(0, 10, leader=True)
    assert run.violations() == []


def test_enough_are_in_sync() -> None:
    run = begun((0, 1))
    run.high_watermark(0, 10, leader=True)
    assert run.violations() == []
    changed(run, 0)
    run.high_watermark(0, 20, leader=True)
    assert run.invariants() == [NAME]


def test_a_follower_learns_what_it_learns() -> None:
    run = begun((0, 1))
    run.high_watermark(0, 10, leader=True)
    changed(run, 0)
    run.high_watermark(1, 10)
    assert run.violations() == []


def test_with_the_next_member_it_goes_on() -> None:
    run = begun((0,))
    changed(run, 0, 1)
    run.high_watermark(0, 20, leader=True)
    assert run.violations() == []


@pytest.mark.parametrize(("told", "count"), [((0, 1), 0), ((0, 1, 2), 1)], ids=["dropped", "kept"])
def test_the_replicas_are_those_that_the_leader_has_received(told: tuple[int, ...], count: int) -> None:
    """kafka-3.9, seed 586: a move drops a replica for the leader (step B3) before it does in ZooKeeper (B6)."""
    start = StartSettings({MIN_ISR: 3}, holds_high_watermark=True, caps_min_isr=True)
    run = WrittenHistory(NAME, start=start).begin()
    run.everywhere(0, 1)
    changed(run, 0, 1)
    run.emit(e.BecameLeader, 0, *ORDERS_0, 1, 10, 0, (0, 1), told, (), ())
    run.high_watermark(0, 10, leader=True)
    assert len(run.violations()) == count
