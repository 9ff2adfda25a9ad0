"""The selectors of Kafka 0.8.0 (kafka-behaviour §5.3 and §14; kafka.controller.PartitionLeaderSelector)."""

import pytest
from attrs import evolve
from hypothesis import given

from controller.state_machines.leader_election_algorithms import (
    FIRST_LIVE_OF_TARGET,
    HEAD_OF_ISR,
    HEAD_OF_STAYING_ISR,
    IN_ORDER_OF_ISR,
    PREFERRED,
    Candidates,
    Choice,
    LeaderElectionAlgorithm,
)
from tests.controller.test_selectors import brokers, candidates

LED_BY_1 = Candidates((1, 2, 3), (1, 3, 2), (2, 3), (1,), (1, 2, 3), leader=1)
TABLE = [
    (HEAD_OF_ISR, Candidates((1, 2, 3), (3, 1, 2), (1, 2, 3)), Choice(3, (3, 1, 2), (1, 2, 3))),
    (HEAD_OF_ISR, Candidates((1, 2, 3), (1,), (2, 3)), Choice(2, (2,), (2, 3), unclean=True)),
    (HEAD_OF_ISR, Candidates((1, 2, 3), (), (3,)), Choice(3, (3,), (3,), unclean=True)),
    (HEAD_OF_ISR, Candidates((1, 2, 3), (1,), ()), None),
    (FIRST_LIVE_OF_TARGET, Candidates((1, 2), (1, 2, 5), (1, 4, 5), target=(3, 4, 5)),
     Choice(4, (1, 2, 5), (3, 4, 5), unclean=True)),
    (FIRST_LIVE_OF_TARGET, Candidates((1, 2), (1, 2, 5), (5,), target=(3, 4, 5)), Choice(5, (1, 2, 5), (3, 4, 5))),
    (FIRST_LIVE_OF_TARGET, Candidates((1, 2), (1, 2), (1, 2), target=(3,)), None),
    (HEAD_OF_STAYING_ISR, LED_BY_1, Choice(3, (3, 2), (1, 2, 3))),
    (HEAD_OF_STAYING_ISR, Candidates((1, 2), (1,), (2,), (1,), leader=1), None),
]  # fmt: skip


@pytest.mark.parametrize(("selector", "given_", "choice"), TABLE)
def test_table(selector: LeaderElectionAlgorithm, given_: Candidates, choice: Choice | None) -> None:
    assert selector.select(given_) == choice


def test_the_preferred_one_is_as_later() -> None:
    assert IN_ORDER_OF_ISR.preferred is PREFERRED


@given(candidates())
def test_offline_always_finds_a_leader_where_a_replica_is_live(c: Candidates) -> None:
    """Clean in the ISR's own order; else the first live replica, which loses data whatever the settings say."""
    choice = HEAD_OF_ISR.select(c)
    in_sync = [broker for broker in c.isr if broker in c.online]
    live = [broker for broker in c.assignment if broker in c.online]
    assert (choice is None) == (not in_sync and not live)
    if choice is not None:
        assert choice.leader == (in_sync or live)[0]
        assert choice.isr == (tuple(in_sync) or (choice.leader,))
        assert choice.unclean == (not in_sync)
        assert choice.recipients == tuple(live)


@given(candidates())
def test_reassigned_asks_only_for_a_live_replica(c: Candidates) -> None:
    choice = FIRST_LIVE_OF_TARGET.select(c)
    live = [broker for broker in c.target if broker in c.online]
    assert (choice is None) == (not live)
    if choice is not None:
        assert (choice.leader, choice.isr, choice.recipients) == (live[0], c.isr, c.target)


@given(candidates(), brokers)
def test_controlled_shutdown_takes_leader_and_leavers_out(c: Candidates, leaders: tuple[int, ...]) -> None:
    c = evolve(c, leader=leaders[0] if leaders else -1)
    choice = HEAD_OF_STAYING_ISR.select(c)
    staying = tuple(broker for broker in c.isr if broker != c.leader and broker not in c.shutting_down)
    assert (choice is None) == (not staying)
    if choice is not None:
        assert (choice.leader, choice.isr) == (staying[0], staying)
