"""Every bug of the museum is seen by its checker in its case, and the case passes without the bug."""

import re
from pathlib import Path

import pytest

from scenarios.museum.exhibits import exhibit
from scenarios.observe.checkers.checkers import REGISTRY
from scenarios.profiles import PROFILES
from scenarios.profiles.bugs import BUGS

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("ticket", BUGS)
def test_its_checker_sees_it_and_nothing_else_is_wrong(ticket: str) -> None:
    shown = exhibit(ticket).show()
    assert shown.caught, (shown.seen_by, shown.broken.explanation)
    assert shown.clean, shown.fixed.explanation
    assert {*shown.seen_by} == {shown.exhibit.bug.checker, *shown.exhibit.bug.also}


@pytest.mark.parametrize("ticket", BUGS)
def test_the_switch_changes_what_the_profile_of_its_case_does(ticket: str) -> None:
    one = exhibit(ticket)
    fixed = PROFILES[one.scenario.profile].policies
    assert one.scenario.bugs == (ticket,)
    assert fixed.changed(one.bug.policies) != fixed


@pytest.mark.parametrize("ticket", BUGS)
def test_its_checkers_exist(ticket: str) -> None:
    assert {BUGS[ticket].checker, *BUGS[ticket].also}.issubset(REGISTRY)


def test_the_limits_name_the_checkers_that_no_case_would_miss() -> None:
    seen = {name for bug in BUGS.values() for name in (bug.checker, *bug.also)}
    text = (ROOT / "docs" / "limits.md").read_text(encoding="utf-8")
    [sentence] = re.findall(r"No case of the museum \(docs/museum.md\) is seen by (.*?)\.\n", text, re.DOTALL)
    assert set(re.findall("`([a-z0-9_]+)`", sentence)) == set(REGISTRY) - seen
