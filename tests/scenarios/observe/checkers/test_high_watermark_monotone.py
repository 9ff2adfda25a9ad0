"""S8: a high watermark does not go back within one broker and leader epoch."""

from emulator.protocol import events as e
from scenarios.observe.checkers.high_watermark_monotone import HighWatermarkMonotone
from tests.scenarios.observe.checkers.written_history import ORDERS_0, WrittenHistory

NAME = HighWatermarkMonotone.name


def test_a_leader_goes_back() -> None:
    run = WrittenHistory(NAME).begin()
    run.high_watermark(0, 30, leader=True)
    back = run.high_watermark(0, 20, leader=True)
    [violation] = run.violations()
    assert violation.seq == back.seq
    assert violation.state == "broker 0, orders-0, epoch 0: from 30 back to 20 as leader"


def test_a_leader_says_that_it_moves_and_stays() -> None:
    run = WrittenHistory(NAME).begin()
    run.high_watermark(0, 30, leader=True)
    run.high_watermark(0, 30, leader=True)
    [violation] = run.violations()
    assert violation.state == "broker 0, orders-0, epoch 0: moved to 30, where it was"


def test_a_follower_may_be_sent_what_it_has() -> None:
    run = WrittenHistory(NAME).begin()
    run.high_watermark(1, 30)
    run.high_watermark(1, 30)
    assert run.violations() == []


def test_a_leader_goes_back_by_truncation() -> None:
    run = WrittenHistory(NAME).begin()
    run.high_watermark(0, 30, leader=True)
    run.truncated(0, 10, high_watermark=10)
    assert run.invariants() == [NAME]


def test_a_leader_goes_below_the_high_watermark_that_it_took_over_with() -> None:
    run = WrittenHistory(NAME)
    run.loaded(0, 30, 30)
    run.leads(0, 1, high_watermark=30)
    run.high_watermark(0, 20, 1, leader=True)
    assert run.invariants() == [NAME]


def test_taking_up_a_role_sets_it_back() -> None:
    for take in ("leads", "follows"):
        run = WrittenHistory(NAME)
        run.loaded(0, 30, 30)
        if take == "leads":
            run.leads(0, 1, high_watermark=20)
        else:
            run.follows(0, 1, 1, high_watermark=20)
        assert run.invariants() == [NAME]


def test_a_follower_goes_back_without_truncation() -> None:
    run = WrittenHistory(NAME).begin()
    run.follows(1, 0, 0)
    run.high_watermark(1, 30)
    run.high_watermark(1, 20)
    [violation] = run.violations()
    assert violation.state.endswith("as follower")


def test_a_follower_goes_back_by_truncation() -> None:
    run = WrittenHistory(NAME).begin()
    run.follows(1, 0, 0)
    run.high_watermark(1, 30)
    run.follows(1, 2, 1, high_watermark=30)
    run.truncated(1, 20, high_watermark=20)
    run.high_watermark(1, 20, 1)
    run.high_watermark(1, 30, 1)
    assert run.violations() == []


def test_a_new_leader_may_know_less_than_its_followers() -> None:
    run = WrittenHistory(NAME).begin()
    run.follows(1, 0, 0)
    run.high_watermark(1, 30)
    run.leads(2, 1, high_watermark=20)
    run.follows(1, 2, 1, high_watermark=30)
    run.high_watermark(1, 20, 1)
    assert run.violations() == []


def test_but_then_it_grows() -> None:
    run = WrittenHistory(NAME).begin()
    run.leads(2, 1, high_watermark=20)
    run.follows(1, 2, 1, high_watermark=0)
    run.high_watermark(1, 20, 1)
    run.high_watermark(1, 10, 1)
    assert run.invariants() == [NAME]


def test_a_restart_begins_with_the_checkpoint() -> None:
    run = WrittenHistory(NAME).begin()
    run.high_watermark(0, 30, leader=True)
    run.emit(e.NodeCrashed, 0, 1, "process")
    run.loaded(0, 30, 10)
    run.leads(0, 0, high_watermark=10)
    run.high_watermark(0, 20, leader=True)
    assert run.violations() == []


def test_a_leader_that_restarts_in_its_epoch_takes_its_followers_back() -> None:
    run = WrittenHistory(NAME).begin()
    run.follows(1, 0, 0)
    run.high_watermark(1, 30)
    run.loaded(0, 30, 10)
    run.leads(0, 0, high_watermark=10)
    run.high_watermark(1, 10)
    assert run.violations() == []


def test_a_deleted_replica_starts_over() -> None:
    run = WrittenHistory(NAME).begin()
    run.follows(1, 0, 0)
    run.high_watermark(1, 30)
    run.emit(e.ReplicaStopped, 1, *ORDERS_0, True)
    run.loaded(1)
    run.follows(1, 0, 1)
    run.high_watermark(1, 10, 1)
    assert run.violations() == []


def test_a_stopped_replica_that_is_kept_does_not() -> None:
    run = WrittenHistory(NAME).begin()
    run.follows(1, 0, 0)
    run.high_watermark(1, 30)
    run.emit(e.ReplicaStopped, 1, *ORDERS_0, False)
    run.high_watermark(1, 10)
    assert run.invariants() == [NAME]


def test_what_a_leader_has_sent_before_it_restarted_may_arrive_after_that() -> None:
    run = WrittenHistory(NAME).begin()
    run.everywhere(0, 1)
    run.everywhere(10, 2)
    run.high_watermark(0, 20, leader=True)
    run.high_watermark(1, 10)
    run.loaded(0, 20, 0)
    run.leads(0, 0, 0, 20)
    run.high_watermark(1, 20)
    run.high_watermark(1, 0)
    assert run.violations() == []
    run.high_watermark(1, 20)
    fell = run.high_watermark(1, 10)
    assert [violation.seq for violation in run.violations()] == [fell.seq]
