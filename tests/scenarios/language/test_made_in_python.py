"""Blocks made by Python code are checked as those of a file: the same kinds ask, of every key of every class."""

from __future__ import annotations

import sys
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenarios.errors import BadInput
from scenarios.faults.actions.links import LinkCut
from scenarios.language import At, DelaySpec, MethodEntry, Scenario, Target, Tolerance
from scenarios.language.actions import Action, all_actions
from scenarios.language.chaos import all_kinds
from scenarios.language.clients import all_behaviours
from scenarios.language.entries import METHOD_ENTRY
from scenarios.language.schema.kinds import AnyValue, Boolean, OneOf
from scenarios.language.schema.table_reader import Block, Checked, Key, keys_of
from scenarios.language.schema.toml_text import parse_document, write_toml
from tests.scenarios.language.builders import built as small_scenario
from tests.scenarios.language.values_of_kinds import ODD, fitting

ACTIONS = list(all_actions().values())
delay, tolerance, at_time = (cast(Any, cls) for cls in (DelaySpec, Tolerance, At))  # for values of other types
BLOCKS = [*ACTIONS, *all_kinds().values(), *all_behaviours().values()]


def _blocks() -> list[type[Any]]:
    """Every class with keys, but those that only stand below others."""
    waiting: list[type[Any]] = [Checked]
    found: dict[type[Any], None] = dict.fromkeys(BLOCKS)
    while waiting:
        for cls in waiting.pop().__subclasses__():
            waiting.append(cls)
            # attrs leaves the class without slots that it replaced among the subclasses until garbage is collected.
            in_use = getattr(sys.modules[cls.__module__], cls.__name__, None) is cls
            if in_use and cls.__module__.startswith("scenarios.") and hasattr(cls, "__attrs_attrs__") and keys_of(cls):
                found[cls] = None
    found = {cls: None for cls in found if not issubclass(cls, Action) or cls in ACTIONS}
    return sorted(found, key=lambda cls: (cls.__module__, cls.__name__))


FIELDS = [(cls, one) for cls in _blocks() for one in keys_of(cls)]


def make(cls: type[Any], one: Key, value: Any, more: dict[str, Any] | None = None) -> Any:
    """An instance with ``value`` for one key, and with what it must have besides."""
    needed = {other.argument: fitting_of(other)[0] for other in keys_of(cls) if other.required}
    return cls(**{**needed, **(more or {}), one.argument: value})


def fitting_of(one: Key) -> list[Any]:
    if isinstance(one.kind, OneOf):
        return [LinkCut()] if Action in one.kind.classes else [At(5)]
    return fitting(one.kind)


def in_a_file(made: Action) -> Action:
    """The action as a file that holds it reads back."""
    entry = MethodEntry(action=made, trigger=At(5), target=Target(brokers=(0,)) if made.takes_target else None)
    text = write_toml({"method": [METHOD_ENTRY.dump(entry)]})
    document: Any = parse_document(text, "written.toml")
    return METHOD_ENTRY.read(document["method"][0]).action


def reads_back(made: Any) -> bool:
    if isinstance(made, Action):
        return in_a_file(made) == made
    if isinstance(made, Scenario | MethodEntry) or any(isinstance(one.kind, OneOf) for one in keys_of(type(made))):
        return True  # what is in them is a class of its own here
    return bool(Block(type(made)).read(Block(type(made)).dump(made)) == made)


def refused_or_reads_back(cls: type[Any], one: Key, value: Any) -> None:
    try:
        made = make(cls, one, value)
    except BadInput as error:
        for found in error.all:
            assert "; " in found.what, f"{found}: a message says what would be right"
        return
    assert reads_back(made), f"{cls.__name__}({one.argument}={value!r}) is written as something else"


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(FIELDS), st.sampled_from(ODD))
def test_any_value_is_refused_or_reads_back(field: tuple[type[Any], Key], value: Any) -> None:
    refused_or_reads_back(*field, value)


@pytest.mark.parametrize("cls", _blocks(), ids=lambda cls: cls.__name__)
def test_each_key_refuses_what_is_no_value(cls: type[Any]) -> None:
    for one in keys_of(cls):
        if isinstance(one.kind, AnyValue):
            continue
        with pytest.raises(BadInput, match=r"a value of the type object.*; .+|is neither") as caught:
            make(cls, one, object())
        assert f".{one.argument}" in caught.value.where, "it says which argument of which class"


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_each_action_reads_back_from_the_file_it_is_written_to(data: st.DataObject) -> None:
    cls = data.draw(st.sampled_from(ACTIONS))
    keys = [one for one in keys_of(cls) if fitting(one.kind)]
    chosen = data.draw(st.lists(st.sampled_from(keys), unique_by=lambda one: one.name)) if keys else []
    stated = [*(one for one in keys if one.required), *(one for one in chosen if not one.required)]
    made = cls(**{one.argument: data.draw(st.sampled_from(fitting(one.kind))) for one in stated})
    assert in_a_file(made) == made


def test_every_key_of_an_action_has_values_to_try() -> None:
    lacking = [f"{cls.__name__}.{one.argument}" for cls in ACTIONS for one in keys_of(cls) if not fitting(one.kind)]
    assert lacking == []


def test_the_property_fails_without_the_check(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Checked, "__attrs_post_init__", lambda self: None)
    (peer,) = [one for one in keys_of(LinkCut) if one.name == "peer"]
    with pytest.raises((AssertionError, BadInput)):
        refused_or_reads_back(LinkCut, peer, "nonsense")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: LinkCut(peer="nonsense"), "LinkCut.peer: unknown end of a link 'nonsense'; known: zookeeper, brokers"),
        (lambda: LinkCut(direction="out"), "LinkCut.direction: unknown direction 'out'; known: both, to, from"),
        (
            lambda: delay(latency_us="10ms"),
            "DelaySpec.latency_us: the text '10ms' does not fit; write micro",
        ),
        (lambda: MethodEntry(action="link.delay"), "link.delay needs 'delay' (how much slower); write LinkDelay(delay"),
        (lambda: MethodEntry(action="link.cut", trigger=At(0)), "the key 'target' is missing; add it"),
        (lambda: tolerance(0, "5"), "Tolerance.high: the text '5' does not fit; write a number, [low, high]"),
        (lambda: at_time("soon"), "At.time_us: the text 'soon' does not fit; write microseconds as an integer from 0"),
        (
            lambda: MethodEntry(action="controller.resign", target=Target(brokers=(1,))),
            "target: controller.resign takes no target; leave it out",
        ),
    ],
)
def test_what_is_said(make: Any, message: str) -> None:
    with pytest.raises(BadInput) as caught:
        make()
    assert str(caught.value).startswith(message)


def test_an_entry_without_a_time_is_none_of_the_method() -> None:
    scenario = small_scenario()
    with pytest.raises(BadInput, match=r"Scenario.method\[0\]: nothing says when; add at"):
        Scenario(title="t", cluster=scenario.cluster, method=[MethodEntry(action="heal")])
    with pytest.raises(BadInput, match=r"Scenario.rollbacks\[0\].at: rollbacks run when the method is over"):
        Scenario(title="t", cluster=scenario.cluster, rollbacks=[MethodEntry(action="heal", trigger=At(1))])


def test_lists_become_tuples_and_truth_is_no_number() -> None:
    assert LinkCut(peer=[2, 1]) == LinkCut(peer=Target(brokers=(2, 1)))
    with pytest.raises(BadInput, match="true does not fit; write microseconds"):
        At(Boolean().read(True))
