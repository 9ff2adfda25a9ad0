"""Every bug of the museum is seen by its checker in its case, and the case passes without the bug; guards likewise."""

from pathlib import Path

import pytest

from scenarios.museum.exhibits import exhibit, exhibits, names
from scenarios.museum.guards import GUARDS
from scenarios.observe.checkers.checkers import REGISTRY
from scenarios.observe.invariants import own_names
from scenarios.profiles import PROFILES
from scenarios.profiles.tickets import BUGS
from tests.docs.pages import text_of

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("name", names())
def test_its_checker_sees_it_and_nothing_else_is_wrong(name: str) -> None:
    shown = exhibit(name).show()
    assert shown.caught, (shown.seen_by, shown.broken.explanation)
    assert shown.clean, shown.fixed.explanation
    assert {*shown.seen_by} == {shown.exhibit.entry.checker, *shown.exhibit.entry.also}


@pytest.mark.parametrize("ticket", BUGS)
def test_the_switch_changes_what_the_profile_of_its_case_does(ticket: str) -> None:
    one = exhibit(ticket)
    fixed = PROFILES[one.scenario.profile].policies
    assert one.scenario.bugs == (ticket,)
    assert fixed.changed(BUGS[ticket].policies) != fixed


@pytest.mark.parametrize("ticket", BUGS)
def test_its_checkers_exist(ticket: str) -> None:
    assert {BUGS[ticket].checker, *BUGS[ticket].also}.issubset(REGISTRY)


def test_each_checker_would_be_missed() -> None:
    """An entry that is about it fails when it is taken away: it is not caught any more. A new checker needs the case of
    a bug that Kafka had, or else a guard of its name (scenarios/museum/guards)."""
    assert {one.entry.checker for one in exhibits()} == set(own_names())


def test_a_guard_is_for_a_checker_that_no_bug_is_about() -> None:
    assert not {bug.checker for bug in BUGS.values()} & set(GUARDS)
    text = text_of("limits.md")
    assert f"Of the {len(own_names())} checkers {len(GUARDS)} have no bug of Kafka" in text


def test_a_guard_is_back_when_its_case_is_over() -> None:
    places = [(taken.owner, taken.function) for guard in GUARDS.values() for taken in guard.taken_out]
    before = [vars(owner)[function] for owner, function in places]
    for guard in GUARDS.values():
        with guard.missing():
            assert all(vars(taken.owner)[taken.function] not in before for taken in guard.taken_out)
    assert [vars(owner)[function] for owner, function in places] == before
