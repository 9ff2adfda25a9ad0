"""PartitionLeaderElectionAlgorithmsTest of Kafka 2.4.1: conformance C45 and C47."""

import pytest

from controller.state_machines.leader_election_algorithms import OFFLINE, PREFERRED, Candidates

A = (2, 4)


@pytest.mark.parametrize(
    ("isr", "unclean", "leader", "counted"),
    [((2, 4), False, 4, False), ((2,), False, None, False), ((2,), True, 4, True)],
)
def test_C45_offline(isr: tuple[int, ...], unclean: bool, leader: int | None, counted: bool) -> None:
    choice = OFFLINE.select(Candidates(A, isr, online=(4,), unclean=unclean))
    assert (None if choice is None else choice.leader) == leader
    assert (choice is not None and choice.unclean) == counted


@pytest.mark.parametrize(
    ("isr", "live", "leader"),
    [((2, 4), (2, 4), 2), ((2,), (), None), ((4,), (2, 4), None), ((), (2, 4), None)],
)
def test_C47_preferred(isr: tuple[int, ...], live: tuple[int, ...], leader: int | None) -> None:
    choice = PREFERRED.select(Candidates(A, isr, online=live))
    assert (None if choice is None else choice.leader) == leader
