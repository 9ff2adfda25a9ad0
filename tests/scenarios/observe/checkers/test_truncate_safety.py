"""S12: an in-sync replica does not cut off what is committed."""

from scenarios.observe.checkers.truncate_safety import TruncateSafety
from scenarios.observe.history.settings_history import StartSettings
from tests.scenarios.observe.checkers.written_history import WrittenHistory

NAME = TruncateSafety.name


def exposed() -> WrittenHistory:
    run = WrittenHistory(NAME).begin()
    run.everywhere(0, 1)
    run.high_watermark(0, 10, leader=True)
    return run


def test_a_member_of_the_isr_cuts_off_what_is_committed() -> None:
    run = exposed()
    cut = run.truncated(2, 0)
    [violation] = run.violations()
    assert violation.seq == cut.seq
    assert violation.state == (
        "orders-0: broker 2, in the ISR [0, 1, 2], truncates to 0 in epoch 1; committed up to offset 10, "
        "batch 1 of epoch 0"
    )


def test_truncation_to_the_high_watermark_of_a_follower_that_has_yet_to_learn_it() -> None:
    """Before KIP-101: the follower knew an older high watermark than the leader that exposed the batch."""
    run = exposed()
    run.append(1, 10, 2)
    run.state(1, (1, 2), 1)
    run.truncated(1, 0)
    assert run.invariants() == [NAME]


def test_what_is_not_committed_may_go() -> None:
    run = exposed()
    run.append(2, 10, 2)
    run.truncated(2, 10)
    assert run.violations() == []


def test_outside_the_isr_anything_may_go() -> None:
    run = exposed()
    run.state(0, (0, 1), 0)
    run.truncated(2, 0)
    assert run.violations() == []


def test_after_an_unclean_election_all_replicas_truncate_to_its_leader() -> None:
    run = exposed()
    run.state(3, (3,), 1)
    run.loaded(3)
    run.truncated(3, 0)
    run.leads(3, 1)
    run.state(3, (3, 1), 1)
    run.truncated(1, 0)
    assert run.violations() == []


def test_a_leader_truncates() -> None:
    run = exposed()
    run.append(1, 10, 2)
    run.leads(1, 1)
    run.truncated(1, 10)
    [violation] = run.violations()
    assert violation.state == "orders-0: broker 1 leads in epoch 1 and truncates to 10"


def beside_its_leader(by_epochs: bool = True) -> WrittenHistory:
    """Broker 2 has left the ISR of leader 1, and has the first two of its three batches."""
    run = WrittenHistory(NAME, start=StartSettings(truncates_by_epochs=by_epochs)).begin()
    run.everywhere(0, 1)
    run.state(1, (0, 1), 1)
    run.leads(1, 1)
    run.follows(2, 1, 1)
    run.append(1, 10, 2, 1, leader=True)
    run.append(2, 10, 2, 1)
    run.append(1, 20, 3, 1, leader=True)
    return run


def test_a_follower_outside_the_isr_cuts_off_what_its_leader_has() -> None:
    run = beside_its_leader()
    run.truncated(2, 10)
    [violation] = run.violations()
    assert violation.state == (
        "orders-0: broker 2 truncates to 10 in epoch 1, and leader 1 has batch 2, which was there"
    )
    old = beside_its_leader(by_epochs=False)
    old.truncated(2, 10)
    assert old.violations() == []


def test_a_follower_cuts_off_what_its_leader_has_not() -> None:
    run = beside_its_leader()
    run.append(2, 20, 4, 1)
    run.truncated(2, 20)
    assert run.violations() == []
    run.truncated(2, 10, epoch=0)
    assert run.violations() == []
