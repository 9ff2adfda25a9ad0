"""``list``, ``schema``, ``--version``, ``--help``: every registry is listed completely, as text and as JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable

import pytest

from emulator.protocol.api import apis
from scenarios.cli.commands.listing import KINDS
from scenarios.language import (
    ALIASES,
    INVARIANTS,
    METRICS,
    PHASES,
    PROFILES,
    STEPS,
    all_actions,
    scenario_json_schema,
)
from scenarios.language.chaos import all_kinds
from scenarios.language.schedules import SCHEDULES
from scenarios.language.strategies import PARTS, SHAPES
from scenarios.profiles.bugs import BUGS
from tests.scenarios.cli.conftest import Call

WHOLE: dict[str, Iterable[str]] = {
    "steps": [*PHASES, *STEPS, *ALIASES],
    "actions": all_actions(),
    "strategies": [*SHAPES, *(f"+{name}" for name in PARTS), "+throttle-RATE"],
    "profiles": PROFILES,
    "bugs": BUGS,
    "schedules": SCHEDULES,
    "chaos": all_kinds(),
    "metrics": METRICS,
    "invariants": INVARIANTS,
    "messages": [*apis(), "setData", "session.expired"],
    "behaviours": [],
    "plugins": [],
    "scenarios": ["controller-dies-mid-move", "quick-move"],
    "studies": ["throttles", "releases"],
}


@pytest.mark.parametrize("kind", KINDS)
def test_every_name_is_listed(kind: str, call: Call) -> None:
    text, data = call("list", kind), call("list", kind, "--format", "json")
    assert (text.code, data.code) == (0, 0)
    entries = json.loads(data.out)
    names = [entry["name"] for entry in entries]
    assert set(WHOLE[kind]) <= set(names)
    assert [line.split()[0] for line in text.out.splitlines()] == names
    assert all(entry["help"] for entry in entries)


def test_the_schema_is_the_readers(call: Call) -> None:
    called = call("schema")
    assert called.code == 0
    assert json.loads(called.out) == json.loads(json.dumps(scenario_json_schema()))


@pytest.mark.parametrize("words", [["--help"], ["run", "--help"], ["test", "--help"], ["demo", "-h"]])
def test_help(words: list[str], call: Call) -> None:
    called = call(*words)
    assert (called.code, called.err) == (0, "")
    assert called.out.startswith("usage: understudy")
