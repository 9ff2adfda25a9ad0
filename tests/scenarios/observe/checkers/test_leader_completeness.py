"""S2: a clean leader has everything that was ever exposed."""

from emulator.protocol import events as e
from emulator.trace.events import Step
from scenarios.observe.checkers.leader_completeness import LeaderCompleteness
from tests.scenarios.observe.checkers.written_history import ORDERS_0, WrittenHistory

NAME = LeaderCompleteness.name


def exposed() -> WrittenHistory:
    """Broker 0 has exposed batch 1, which broker 2 lacks; no producer has received its acknowledgement."""
    run = WrittenHistory(NAME).begin()
    run.everywhere(0, 1, nodes=(0, 1))
    run.high_watermark(0, 10, leader=True)
    return run


def test_a_clean_leader_lacks_what_was_exposed() -> None:
    run = exposed()
    run.state(2, (1, 2), 1)
    election = run.leads(2, 1)
    [violation] = run.violations()
    assert violation.seq == election.seq
    assert violation.state == (
        "orders-0: broker 2, leader of epoch 1, has a log that ends at 0 and lacks what is committed up to offset 10, "
        "batch 1 of epoch 0"
    )


def test_a_leader_with_other_batches_of_the_same_length() -> None:
    run = exposed()
    run.append(2, 0, 9)
    run.state(2, (1, 2), 1)
    run.leads(2, 1)
    assert run.invariants() == [NAME]


def test_a_clean_leader_that_has_it() -> None:
    run = exposed()
    run.append(0, 10, 2, leader=True)
    run.state(1, (1, 2), 1)
    run.leads(1, 1)
    assert run.violations() == []


def test_an_unclean_leader_starts_over() -> None:
    run = exposed()
    run.state(0, (0, 1), 0)
    run.state(2, (2,), 1)
    run.leads(2, 1)
    run.append(2, 0, 5, 1, leader=True)
    run.high_watermark(2, 10, 1, leader=True)
    run.state(2, (2, 1), 1)
    run.state(1, (1,), 2)
    run.leads(1, 2)
    [violation] = run.violations()
    assert "batch 5 of epoch 1" in violation.state


def test_an_unclean_election_that_only_the_controller_reports() -> None:
    run = exposed()
    run.emit(e.LeaderElected, *ORDERS_0, 2, 1, (2,), "offline", 1, True)
    run.leads(2, 1)
    assert run.violations() == []


def test_a_leader_after_an_empty_isr_is_an_unclean_one() -> None:
    """kafka-0.8 takes the last member out, too (KAFKA-1028)."""
    run = exposed()
    run.state(-1, (), 1)
    run.state(2, (2,), 2)
    run.leads(2, 2)
    assert run.violations() == []


def test_what_the_deposed_leader_exposes_after_an_unclean_election_counts_for_nothing() -> None:
    run = exposed()
    run.append(0, 10, 2, leader=True)
    run.append(1, 10, 2)
    run.state(0, (0, 1), 0)
    run.state(2, (2,), 1)
    run.leads(2, 1)
    run.high_watermark(0, 20, leader=True)
    run.state(2, (2, 1), 1)
    run.truncated(1, 0)
    run.state(1, (1,), 2)
    run.leads(1, 2)
    assert run.violations() == []


def test_a_late_adoption_of_an_old_epoch_is_no_election() -> None:
    run = exposed()
    run.state(1, (1,), 2)
    run.leads(1, 2)
    run.leads(2, 1)
    assert run.violations() == []


def test_the_only_member_of_the_isr_comes_back_with_less() -> None:
    """Its machine crashed before it had flushed: no other replica could have kept the record. If it was acknowledged,
    S14 reports it."""
    run = exposed()
    run.state(0, (0,), 0)
    run.emit(e.NodeCrashed, 0, 1, "host")
    run.loaded(0, 0)
    run.state(0, (0,), 1)
    run.leads(0, 1)
    assert run.violations() == []


def test_a_member_of_the_isr_that_a_requested_move_leaves_out_crashed_too() -> None:
    """The move to broker 0 alone, which is in sync, never begins, and both machines crash before they have flushed."""
    run = exposed()
    run.assigned((0, 1))
    run.state(0, (0, 1), 0)
    run.emit(e.MoveStarted, *ORDERS_0, (0,))
    run.emit(e.NodeCrashed, 0, 1, "host")
    run.emit(e.NodeCrashed, 1, 1, "host")
    run.state(-1, (1,), 1)
    run.loaded(1, 0)
    run.state(1, (1,), 2)
    run.leads(1, 2)
    assert run.violations() == []


def test_a_replica_that_was_deleted_may_not_lead() -> None:
    run = exposed()
    run.state(0, (0,), 0)
    run.emit(e.ReplicaStopped, 0, *ORDERS_0, True)
    run.loaded(0, 0)
    run.state(0, (0,), 1)
    run.leads(0, 1)
    assert run.invariants() == [NAME]


def test_a_topic_that_is_being_deleted_need_not_have_its_records() -> None:
    """After a controller failover in between its replicas are created once more, empty."""
    run = exposed()
    run.assigned((0, 1, 2))
    run.emit(Step, "delete.partitions", "after", "orders", -1, -1, 0, 3, "")
    run.emit(e.ReplicaStopped, 0, *ORDERS_0, True)
    run.loaded(0)
    run.leads(0, 1)
    assert run.violations() == []


def test_a_topic_created_again_need_not_have_the_old_records() -> None:
    run = exposed()
    for node in (0, 1, 2):
        run.emit(e.ReplicaStopped, node, *ORDERS_0, True)
    run.deleted()
    run.begin((2, 1, 0))
    assert run.violations() == []
