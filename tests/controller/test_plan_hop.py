"""KAFKA-6794's calculation of one hop (readings, 2)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.reassignment.kafka_6794 import Hop, plan_hop

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


@given(replicas, replicas, st.data())
def test_hops_end_at_the_target(current: tuple[int, ...], final: tuple[int, ...], data: st.DataObject) -> None:
    """One hop for each new replica and one to end with; the leader stays as long as another can go."""
    leader = data.draw(st.sampled_from(current))
    while True:
        hop = plan_hop(current, final, leader)
        assert len(hop.new) <= 1
        assert hop.last == (not hop.new)
        if leader in hop.dropped:
            assert sorted(hop.dropped) == sorted(replica for replica in current if replica not in final)
            leader = hop.target[0]
        if hop.last:
            assert hop.target == final
            return
        assert len(hop.target) >= min(len(current), len(final))
        current = hop.target


@given(replicas, replicas)
def test_the_number_of_hops(current: tuple[int, ...], final: tuple[int, ...]) -> None:
    expected, hops = 1 + len([replica for replica in final if replica not in current]), 0
    hop = None
    while hop is None or not hop.last:
        hop = plan_hop(current, final, current[0])
        current, hops = hop.target, hops + 1
    assert hops == expected
