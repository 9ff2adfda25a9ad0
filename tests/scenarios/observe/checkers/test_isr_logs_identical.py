"""S15: at rest, in-sync replicas have the same log."""

from emulator.protocol import events as e
from scenarios.observe.checkers.isr_logs_identical import IsrLogsIdentical
from tests.scenarios.observe.checkers.written_history import ORDERS_0, WrittenHistory

NAME = IsrLogsIdentical.name


def story(*followers: int) -> WrittenHistory:
    """Broker 0 leads, ``followers`` fetch from it; batch 1 is everywhere."""
    run = WrittenHistory(NAME).begin()
    for node in followers:
        run.emit(e.FetchPosition, node, *ORDERS_0, 0, 0, 0)
    run.everywhere(0, 1)
    return run


def test_a_follower_that_is_behind() -> None:
    run = story(1, 2)
    run.append(0, 10, 2, leader=True)
    last = run.append(1, 10, 2)
    run.rest()
    [violation] = run.violations()
    assert violation.seq == last.seq
    assert violation.state == (
        "orders-0: broker 2, in sync, has a log that ends at 10 and is not that of the leader, broker 0, "
        "which ends at 20"
    )


def test_a_follower_with_another_batch() -> None:
    run = story(1)
    run.append(0, 10, 2, leader=True)
    run.append(1, 10, 3)
    run.rest()
    assert run.invariants() == [NAME]


def test_logs_that_are_the_same() -> None:
    run = story(1, 2)
    run.everywhere(10, 2)
    run.rest()
    assert run.violations() == []


def test_without_rest_nothing_is_asked() -> None:
    run = story(1, 2)
    run.append(0, 10, 2, leader=True)
    assert run.violations() == []


def test_those_that_do_not_fetch_or_are_not_in_sync_are_left_out() -> None:
    run = story(1, 2)
    run.append(0, 10, 2, leader=True)
    run.emit(e.FetchPosition, 1, *ORDERS_0, 0, 0, -1)
    run.state(0, (0, 1), 0)
    run.rest()
    assert run.violations() == []


def test_a_crash_ends_what_was_fetched() -> None:
    run = story(1)
    run.append(0, 10, 2, leader=True)
    run.emit(e.NodeCrashed, 1, 1, "crash")
    run.rest()
    assert run.violations() == []


def test_a_partition_without_leader_is_left_out() -> None:
    run = story(1, 2)
    run.append(0, 10, 2, leader=True)
    run.state(-1, (0,), 1)
    run.rest()
    assert run.violations() == []
