"""KAFKA-6794's calculation of one hop (readings §2)."""

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.reassignment.kafka_6794 import Hop, above_target, literal, plan_hop
from scenarios.language import hops

Replicas = tuple[int, ...]
Surplus = Callable[[int, int], int]
replicas = st.lists(st.integers(0, 8), min_size=1, max_size=6, unique=True).map(tuple)

TABLE = [
    ((0, 1, 2), (3, 4, 5), 0, Hop((3,), (), (0, 1, 2, 3), last=False)),
    ((0, 1, 2, 3), (3, 4, 5), 0, Hop((4,), (1,), (0, 2, 3, 4), last=False)),
    ((0, 2, 3, 4), (3, 4, 5), 0, Hop((5,), (2,), (0, 3, 4, 5), last=False)),
    ((0, 3, 4, 5), (3, 4, 5), 0, Hop((), (0,), (3, 4, 5), last=True)),
    ((0, 1, 2), (1,), 0, Hop((), (2, 0), (1,), last=True)),
    ((0, 1, 2), (2, 1, 0), 0, Hop((), (), (2, 1, 0), last=True)),
    ((0, 1), (0, 1, 2), 0, Hop((2,), (), (0, 1, 2), last=False)),
    ((0, 1, 2, 3), (4, 0), 1, Hop((4,), (2, 3), (0, 1, 4), last=False)),
]


@pytest.mark.parametrize(("current", "final", "leader", "hop"), TABLE)
def test_table(current: tuple[int, ...], final: tuple[int, ...], leader: int, hop: Hop) -> None:
    assert plan_hop(current, final, leader) == hop


widths = st.one_of(st.none(), st.integers(1, 4))


def path(current: Replicas, final: Replicas, leader: int, width: int | None, surplus: Surplus) -> list[Hop]:
    """All hops; where the leader is dropped, the first of the new list leads."""
    plan: list[Hop] = []
    while not plan or not plan[-1].last:
        plan.append(plan_hop(current, final, leader, width=width, surplus=surplus))
        current = plan[-1].target
        leader = leader if leader in current else current[0]
    return plan


def assignments(*arguments: Any) -> list[Replicas]:
    return [hop.target for hop in path(*arguments)]


def test_the_tickets_example_and_its_relatives() -> None:
    """(0,1,2) -> (3,4,5): one by one as the ticket has it, by two, all at once, and with the literal sign of n."""
    old, new = (0, 1, 2), (3, 4, 5)
    assert assignments(old, new, 0, 1, above_target) == [(0, 1, 2, 3), (0, 2, 3, 4), (0, 3, 4, 5), new]
    assert assignments(old, new, 0, 2, above_target) == [(0, 1, 2, 3, 4), (0, 3, 4, 5), new]
    assert assignments(old, new, 0, None, above_target) == [(0, 1, 2, 3, 4, 5), new]
    assert assignments(old, new, 0, 1, literal) == [(0, 1, 2, 3), (0, 1, 2, 3, 4), (0, 1, 2, 3, 4, 5), new]


def test_the_literal_sign_drops_while_the_number_of_replicas_grows() -> None:
    """(0,1) -> (2,3,4): each new replica costs an old one, the leader included; the ticket's reading drops nobody."""
    assert assignments((0, 1), (2, 3, 4), 0, 1, literal) == [(0, 2), (2, 3), (2, 3, 4), (2, 3, 4)]
    assert assignments((0, 1), (2, 3, 4), 0, 1, above_target) == [(0, 1, 2), (0, 1, 2, 3), (0, 2, 3, 4), (2, 3, 4)]


@given(replicas, replicas, widths, st.data())
def test_the_bounds_of_the_family(current: Replicas, final: Replicas, width: int | None, data: st.DataObject) -> None:
    """I R11, with the leader's rule as readings §9 has it: at most ``width`` join in a hop, CR never grows by more than
    that above the larger list, never shrinks below the smaller one, and the leader goes only with all that may go."""
    leader = data.draw(st.sampled_from(current))
    added = len([replica for replica in final if replica not in current])
    smaller, larger = sorted((len(current), len(final)))
    before = current
    plan = path(current, final, leader, width, above_target)
    for hop in plan:
        assert len(hop.new) <= (width or added)
        assert hop.last == (not hop.new)
        assert smaller <= len(hop.target) <= larger + (width or added)
        assert not set(hop.dropped) & set(final)
        if leader in hop.dropped:
            assert set(hop.dropped) == set(before) - set(final)
        assert set(hop.target) == set(before) - set(hop.dropped) | set(hop.new)
        before, leader = hop.target, leader if leader in hop.target else hop.target[0]
    assert plan[-1].target == final
    assert len(plan) == hops(current, final, width)


@given(replicas, replicas)
def test_as_wide_as_all_is_all_at_once(current: Replicas, final: Replicas) -> None:
    """Two hops, or one if nobody joins. Where the list gets shorter, the first drops at once what is above target."""
    plan = path(current, final, current[0], None, above_target)
    new = [replica for replica in final if replica not in current]
    assert [hop.new for hop in plan] == ([tuple(new), ()] if new else [()])
    if len(current) <= len(final):
        assert set(plan[0].target) == set(current) | set(final) or not new


@given(replicas, replicas, st.data())
def test_grow_then_shrink(current: Replicas, final: Replicas, data: st.DataObject) -> None:
    """Same last hop. No replica leaves before it unless the list gets longer; then at most one leaves with each that
    joins (the leader's rule does not hold here: readings §9)."""
    leader = data.draw(st.sampled_from(current))
    plan = path(current, final, leader, 1, literal)
    size = len(current)
    for hop in plan[:-1]:
        assert len(hop.dropped) <= max(0, len(final) - size)
        size = len(hop.target)
    assert plan[-1].last
    assert plan[-1].target == final
    assert len(plan) == hops(current, final)
