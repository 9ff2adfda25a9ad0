"""Every event and every part of the data plane's state says what leaps do about it."""

from importlib import import_module

import pytest

from scenarios.runs.dataset.events import KINDS
from scenarios.runs.leaping.leaper import EVENTS as ENDING
from tests.scenarios.runs.leaping.treatment import BRINGS, ENDS, EVENTS, STATE
from tests.scenarios.runs.leaping.untouched import OUTSIDE_EVENTS

SAYS = "is new: say in tests/scenarios/runs/leaping what a leap does about it (docs/extend/contributing.md)"


def test_every_event_is_declared_once() -> None:
    declared = [name for names in EVENTS.values() for name in names] + list(OUTSIDE_EVENTS)
    assert len(declared) == len(set(declared))
    assert {name: SAYS for name in KINDS if name not in declared} == {}
    assert [name for name in declared if name not in KINDS] == []


def test_the_leaper_watches_what_ends_a_leap() -> None:
    assert {kind.__name__ for kind in ENDING} - {"SettingsTaken"} == set(EVENTS[ENDS])
    assert not {kind.__name__ for kind in ENDING} & set(EVENTS[BRINGS])


@pytest.mark.parametrize("name", STATE)
def test_every_attribute_is_declared(name: str) -> None:
    module, _, of = name.rpartition(".")
    kind = getattr(import_module(module), of)
    attributes = [each.name for each in getattr(kind, "__attrs_attrs__", ())] or list(kind.__slots__)
    assert {each: SAYS for each in attributes if each not in STATE[name]} == {}
    assert [each for each in STATE[name] if each not in attributes] == []
