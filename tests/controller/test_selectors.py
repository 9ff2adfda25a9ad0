"""The four leader selectors (kafka-behaviour, 5.3)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.states.selectors import (
    CONTROLLED_SHUTDOWN,
    OFFLINE,
    PREFERRED,
    REASSIGNED,
    Candidates,
    Choice,
    Selector,
)

TABLE = [
    (OFFLINE, Candidates((1, 2, 3), (1, 2, 3), (2, 3)), Choice(2, (2, 3), (2, 3))),
    (OFFLINE, Candidates((1, 2, 3), (3, 1), (2, 3)), Choice(3, (3,), (2, 3))),
    (OFFLINE, Candidates((1, 2, 3), (1,), (2, 3)), None),
    (OFFLINE, Candidates((1, 2, 3), (1,), (2, 3), unclean=True), Choice(2, (2,), (2, 3), unclean=True)),
    (OFFLINE, Candidates((1, 2, 3), (1,), (), unclean=True), None),
    (REASSIGNED, Candidates((4, 5), (1, 2, 4, 5), (1, 4, 5), target=(4, 5)), Choice(4, (1, 2, 4, 5), (4, 5))),
    (REASSIGNED, Candidates((4, 5), (1, 5), (1, 5), target=(4, 5)), Choice(5, (1, 5), (4, 5))),
    (REASSIGNED, Candidates((4, 5), (1, 5), (1, 4), target=(4, 5)), None),
    (PREFERRED, Candidates((1, 2), (2, 1), (1, 2)), Choice(1, (2, 1), (1, 2))),
    (PREFERRED, Candidates((1, 2), (2,), (1, 2)), None),
    (PREFERRED, Candidates((1, 2), (1, 2), (2,)), None),
    (CONTROLLED_SHUTDOWN, Candidates((1, 2, 3), (1, 2), (2, 3), (1,)), Choice(2, (2,), (1, 2, 3))),
    (CONTROLLED_SHUTDOWN, Candidates((1, 2, 3), (1,), (2, 3), (1,)), None),
]


@pytest.mark.parametrize(("selector", "candidates", "choice"), TABLE)
def test_table(selector: Selector, candidates: Candidates, choice: Choice | None) -> None:
    assert selector.select(candidates) == choice


SELECTORS = [OFFLINE, REASSIGNED, PREFERRED, CONTROLLED_SHUTDOWN]
brokers = st.lists(st.integers(0, 6), unique=True).map(tuple)


@st.composite
def candidates(draw: st.DrawFn) -> Candidates:
    stopping = draw(brokers)
    online = tuple(broker for broker in draw(brokers) if broker not in stopping)
    assigned = draw(brokers.filter(bool))
    return Candidates(assigned, draw(brokers), online, stopping, draw(brokers), draw(st.booleans()))


@given(st.sampled_from(SELECTORS), candidates())
def test_a_leader_is_live_and_in_its_isr(selector: Selector, c: Candidates) -> None:
    choice = selector.select(c)
    if choice is not None:
        assert choice.leader in c.online
        assert choice.leader in choice.isr
        assert choice.leader in (c.target if selector is REASSIGNED else c.assignment)
        assert choice.leader in choice.recipients


@given(st.sampled_from(SELECTORS), candidates())
def test_only_an_unclean_election_goes_outside_the_isr(selector: Selector, c: Candidates) -> None:
    choice = selector.select(c)
    if choice is not None:
        assert choice.unclean == (choice.leader not in c.isr)
        assert not choice.unclean or (c.unclean and selector is OFFLINE)


@given(candidates())
def test_offline_finds_a_clean_leader_where_there_is_one(c: Candidates) -> None:
    clean = [replica for replica in c.assignment if replica in c.online and replica in c.isr]
    choice = OFFLINE.select(c)
    if clean:
        assert choice is not None
        assert choice.leader == clean[0]
        assert not choice.unclean


@given(candidates())
def test_reassigned_and_preferred_leave_the_isr_alone(c: Candidates) -> None:
    for selector in (REASSIGNED, PREFERRED):
        choice = selector.select(c)
        assert choice is None or choice.isr == c.isr
