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
from scenarios.profiles.tickets import BUGS
from tests.scenarios.cli.conftest import Call

WHOLE: dict[str, Iterable[str]] = {
    "steps": [*PHASES, *STEPS, *ALIASES],
    "actions": all_actions(),
    "strategies": [*SHAPES, *(f"+{name}" for name in PARTS), "+throttle-RATE"],
    "profiles": PROFILES,
    "bugs": BUGS,
    "policies": [place for profile in PROFILES.values() for one in profile.differences for place in one.policies],
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


def test_a_policy_says_what_it_is_and_where_it_differs(call: Call) -> None:
    policies = {entry["name"]: entry for entry in json.loads(call("list", "policies", "--format", "json").out)}
    assert {place for bug in BUGS.values() for place in bug.policies} <= set(policies)
    assert policies["brokers.stop_answers_waiting"]["default"] == "false"
    releases = (
        "kafka-2.4",
        "kafka-2.5",
        "kafka-2.6",
        "kafka-2.7",
        "kafka-2.8",
        "kafka-3.0",
        "kafka-3.3",
        "kafka-3.6",
        "kafka-3.9",
    )
    assert policies["brokers.stop_answers_waiting"]["elsewhere"] == dict.fromkeys(releases, "true")
    assert policies["fetchers.truncation"]["elsewhere"] == {
        "kafka-0.8": "ToHighWatermark", "kafka-1.1": "Kip101", **dict.fromkeys(releases[3:], "OnFetch"),
    }  # fmt: skip
    for place, entry in policies.items():
        PROFILES["kafka-2.3"].policies.changed({place: None})  # or AttributeError: the place is not there
        assert " at 0x" not in entry["default"] + str(entry["elsewhere"])


def test_the_schema_is_the_readers(call: Call) -> None:
    called = call("schema")
    assert called.code == 0
    assert json.loads(called.out) == json.loads(json.dumps(scenario_json_schema()))


@pytest.mark.parametrize("words", [["--help"], ["run", "--help"], ["test", "--help"], ["demo", "-h"]])
def test_help(words: list[str], call: Call) -> None:
    called = call(*words)
    assert (called.code, called.err) == (0, "")
    assert called.out.startswith("usage: understudy")
