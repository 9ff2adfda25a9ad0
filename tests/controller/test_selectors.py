"""The four leader selectors (kafka-behaviour §5.3)."""

import pytest
from attrs import define
from hypothesis import given
from hypothesis import strategies as st

from controller.state_machines.leader_election_algorithms import (
    CONTROLLED_SHUTDOWN,
    CONTROLLED_SHUTDOWN_AMONG_LIVE,
    OFFLINE,
    PREFERRED,
    REASSIGNED,
    UNCLEAN,
    Candidates,
    Choice,
    LeaderElectionAlgorithm,
)
from emulator.protocol.assignments import among

TABLE = [
    (OFFLINE, Candidates((1, 2, 3), (1, 2, 3), (2, 3)), Choice(2, (2, 3), (2, 3))),
    (OFFLINE, Candidates((1, 2, 3), (3, 1), (2, 3)), Choice(3, (3,), (2, 3))),
    (OFFLINE, Candidates((1, 2, 3), (1,), (2, 3)), None),
    (OFFLINE, Candidates((1, 2, 3), (1,), (2, 3), unclean=True), Choice(2, (2,), (2, 3), unclean=True)),
    (OFFLINE, Candidates((1, 2, 3), (1,), (), unclean=True), None),
    (UNCLEAN, Candidates((1, 2, 3), (1,), (2, 3)), Choice(2, (2,), (2, 3), unclean=True)),
    (UNCLEAN, Candidates((1, 2, 3), (3, 1), (2, 3)), Choice(3, (3,), (2, 3))),
    (REASSIGNED, Candidates((4, 5), (1, 2, 4, 5), (1, 4, 5), target=(4, 5)), Choice(4, (1, 2, 4, 5), (4, 5))),
    (REASSIGNED, Candidates((4, 5), (1, 5), (1, 5), target=(4, 5)), Choice(5, (1, 5), (4, 5))),
    (REASSIGNED, Candidates((4, 5), (1, 5), (1, 4), target=(4, 5)), None),
    (PREFERRED, Candidates((1, 2), (2, 1), (1, 2)), Choice(1, (2, 1), (1, 2))),
    (PREFERRED, Candidates((1, 2), (2,), (1, 2)), None),
    (PREFERRED, Candidates((1, 2), (1, 2), (2,)), None),
    (CONTROLLED_SHUTDOWN, Candidates((1, 2, 3), (1, 2), (2, 3), (1,), (1, 2, 3)), Choice(2, (2,), (1, 2, 3))),
    (CONTROLLED_SHUTDOWN, Candidates((1, 2, 3), (1,), (2, 3), (1,)), None),
    (CONTROLLED_SHUTDOWN_AMONG_LIVE, Candidates((1, 2, 3), (1, 2), (2, 3), (1,)), Choice(2, (2,), (2, 3))),
    (CONTROLLED_SHUTDOWN_AMONG_LIVE, Candidates((1, 2, 3), (1,), (2, 3), (1,)), None),
]


@pytest.mark.parametrize(("selector", "candidates", "choice"), TABLE)
def test_table(selector: LeaderElectionAlgorithm, candidates: Candidates, choice: Choice | None) -> None:
    assert selector.select(candidates) == choice


SELECTORS = [OFFLINE, UNCLEAN, REASSIGNED, PREFERRED, CONTROLLED_SHUTDOWN, CONTROLLED_SHUTDOWN_AMONG_LIVE]
brokers = st.lists(st.integers(0, 6), unique=True).map(tuple)


@st.composite
def candidates(draw: st.DrawFn) -> Candidates:
    stopping = draw(brokers)
    online = tuple(broker for broker in draw(brokers) if broker not in stopping)
    assigned = draw(brokers.filter(bool))
    offline_dirs = draw(brokers)
    stopping_well = tuple(broker for broker in stopping if broker not in offline_dirs)
    return Candidates(
        assigned, draw(brokers), online, stopping, among(assigned, online + stopping_well), draw(brokers),
        draw(st.booleans()),
    )  # fmt: skip


@given(st.sampled_from(SELECTORS), candidates())
def test_a_leader_is_live_and_in_its_isr(selector: LeaderElectionAlgorithm, c: Candidates) -> None:
    choice = selector.select(c)
    if choice is not None:
        assert choice.leader in c.online
        assert choice.leader in choice.isr
        assert choice.leader in (c.target if selector is REASSIGNED else c.assignment)
        assert choice.leader in choice.recipients


@given(st.sampled_from(SELECTORS), candidates())
def test_only_an_unclean_election_goes_outside_the_isr(selector: LeaderElectionAlgorithm, c: Candidates) -> None:
    choice = selector.select(c)
    if choice is not None:
        assert choice.unclean == (choice.leader not in c.isr)
        assert not choice.unclean or selector is UNCLEAN or (c.unclean and selector is OFFLINE)


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


@define
class Row:
    """A row of the table in kafka-behaviour §5.3, with sets where the order does not matter.

    Attributes:
        ranks: the replicas that may lead, best first; the first that is in ``among`` does.
        among: who qualifies.
        isr, told: the new ISR and the recipients, if somebody is picked.
    """

    ranks: tuple[int, ...]
    among: set[int]
    isr: set[int]
    told: set[int]


def row_of(selector: LeaderElectionAlgorithm, c: Candidates) -> Row:
    a, i, live, going, target = map(set, (c.assignment, c.isr, c.online, c.shutting_down, c.target))
    if selector is REASSIGNED:
        return Row(c.target, live & i, i, target)
    if selector is PREFERRED:
        return Row(c.assignment[:1], live & i, i, a)
    if selector is CONTROLLED_SHUTDOWN:
        return Row(c.assignment, (live | going) & i - going, i - going, set(c.reachable))
    if selector is CONTROLLED_SHUTDOWN_AMONG_LIVE:
        return Row(c.assignment, live & i - going, i - going, a & live)
    return Row(c.assignment, live & i, i & live, a & live)


@given(st.sampled_from(SELECTORS), candidates())
def test_every_choice_is_the_tables(selector: LeaderElectionAlgorithm, c: Candidates) -> None:
    row, choice = row_of(selector, c), selector.select(c)
    ranked = sorted(row.among & set(row.ranks), key=row.ranks.index)
    live = [replica for replica in c.assignment if replica in c.online]
    if ranked:
        assert choice is not None
        assert choice.leader == ranked[0]
        assert (set(choice.isr), set(choice.recipients), choice.unclean) == (row.isr, row.told, False)
        assert [replica for replica in c.isr if replica in choice.isr] == list(choice.isr)
    elif live and (selector is UNCLEAN or (selector is OFFLINE and c.unclean)):
        assert choice == Choice(live[0], (live[0],), tuple(live), unclean=True)
    else:
        assert choice is None
