"""S4: the leader is in the ISR, which is not empty."""

import pytest

from scenarios.observe.checkers.leader_in_isr import LeaderInIsr
from tests.scenarios.observe.checkers.written_history import WrittenHistory


@pytest.mark.parametrize(
    ("leader", "isr", "found"),
    [
        (2, (0, 1), "orders-0, epoch 1: broker 2 leads and the ISR is [0, 1]"),
        (0, (), "orders-0, epoch 1: the ISR is empty"),
        (-1, (), "orders-0, epoch 1: the ISR is empty"),
    ],
)
def test_a_state_that_should_not_be(leader: int, isr: tuple[int, ...], found: str) -> None:
    run = WrittenHistory(LeaderInIsr.name)
    written = run.state(leader, isr, 1)
    [violation] = run.violations()
    assert (violation.seq, violation.state) == (written.seq, found)


@pytest.mark.parametrize(("leader", "isr"), [(0, (0, 1)), (1, (1,)), (-1, (1,))])
def test_a_state_as_it_should_be(leader: int, isr: tuple[int, ...]) -> None:
    run = WrittenHistory(LeaderInIsr.name)
    run.state(leader, isr, 1)
    run.deleted()
    assert run.violations() == []
