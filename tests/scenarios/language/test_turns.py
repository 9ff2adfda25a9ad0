"""Entries that are done several times, and entries that wait for the cluster."""

from typing import Any

import pytest

from scenarios.errors import BadInput
from scenarios.language import After, At, MethodEntry, NextSpec, Scenario, Target, Until, scenario_json_schema
from tests.scenarios.language.json_schema import violations

STOP = {"at": "1s", "action": "broker.stop", "duration": "2s"}


def scenario(*method: dict[str, Any]) -> Scenario:
    return Scenario.from_table(
        {"title": "turns", "cluster": {"brokers": 4}, "topics": [{"name": "a"}], "method": list(method)}
    )


def turns(entry: dict[str, Any]) -> list[tuple[object, Target | None]]:
    [read] = scenario(entry).method
    return [(turn.trigger, turn.target) for turn in read.turns(range(4))]


def on(broker: int) -> Target:
    return Target(brokers=[broker])


@pytest.mark.parametrize(
    ("written", "trigger"),
    [
        ("10s", After(10_000_000)),
        ("isr full", Until("isr full")),
        ({"until": "settled", "after": "5s"}, Until("settled", 5_000_000)),
        ({"after": "5s"}, After(5_000_000)),
    ],
)
def test_for_each(written: object, trigger: object) -> None:
    found = turns({**STOP, "for_each": [2, 0], "next": written})
    assert found == [(At(1_000_000), on(2)), (trigger, on(0))]


def test_for_each_of_all_brokers() -> None:
    found = turns({**STOP, "for_each": "brokers", "next": "1s"})
    assert [target for _, target in found] == [on(0), on(1), on(2), on(3)]


def test_an_entry_that_is_made_in_python() -> None:
    entry = MethodEntry(action="broker.stop", trigger=At(0), for_each=[2, 0], next=NextSpec())
    assert [(turn.trigger, turn.target) for turn in entry.turns(range(4))] == [(At(0), on(2)), (After(0), on(0))]


def test_repeat() -> None:
    found = turns({**STOP, "target": 3, "repeat": 3, "next": "5s"})
    assert found == [(At(1_000_000), on(3)), (After(5_000_000), on(3)), (After(5_000_000), on(3))]


@pytest.mark.parametrize(
    "entry",
    [
        {**STOP, "for_each": "brokers", "next": "isr full"},
        {**STOP, "for_each": [1, 0], "next": {"until": "moves done", "after": "1s"}},
        {**STOP, "target": [0], "repeat": 2, "next": "1s"},
        {"until": "settled", "action": "broker.stop", "target": [0]},
        {"after": "5s", "until": "isr full", "action": "election.preferred"},
        {"until": "isr full", "action": "election.preferred", "repeat": 2, "next": "settled"},
    ],
)
def test_they_are_written_as_they_are_read(entry: dict[str, Any]) -> None:
    found = scenario({"at": "1s", "action": "reassign.execute", "plan": {"to": [1, 2, 3]}}, entry)
    assert Scenario.loads(found.to_toml()) == found
    assert found.to_table()["method"][1] == entry
    schema = scenario_json_schema()
    assert violations(found.to_table(), schema, schema) == []


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({**STOP, "for_each": [0, 1]}, 'nothing says when the next one comes; add next = "isr full"'),
        ({**STOP, "for_each": [0, 9], "next": "1s"}, "method[0].for_each: broker 9 does not exist"),
        ({**STOP, "for_each": "broker", "next": "1s"}, 'write broker ids such as [0, 1, 2], or "brokers"'),
        ({**STOP, "for_each": [0, 1], "target": 2, "next": "1s"}, "for_each names the brokers; leave the target out"),
        ({**STOP, "for_each": [0], "repeat": 2, "next": "1s"}, "are two ways to act several times; keep one"),
        ({**STOP, "target": 0, "next": "1s"}, "method[0].next: there is one turn only"),
        ({**STOP, "target": 0, "repeat": 1, "next": "1s"}, "write an integer from 2"),
        ({**STOP, "target": 0, "repeat": 2, "next": "isr ful"}, "unknown wait 'isr ful'; did you mean 'isr full'?"),
        ({**STOP, "target": 0, "repeat": 2, "next": {}}, "it says nothing"),
        ({**STOP, "target": 0, "until": "settled"}, "two triggers, 'at' and 'until'; keep one"),
        ({"until": "setled", "action": "broker.stop", "target": 0}, "did you mean 'settled'?"),
        ({"until": "moves done", "action": "broker.stop", "target": 0}, "until: no move is started"),
        ({"at": "1s", "action": "election.preferred", "for_each": [0], "next": "1s"}, "acts on no particular broker"),
    ],
)
def test_what_is_refused(entry: dict[str, Any], said: str) -> None:
    with pytest.raises(BadInput) as refused:
        scenario(entry)
    assert said in str(refused.value)


def test_an_expectation_can_wait_for_a_turn() -> None:
    table = scenario({**STOP, "for_each": [0, 1], "next": "5s"}).to_table()

    def expecting(after: str) -> Scenario:
        return Scenario.from_table({**table, "expect": [{"after": after, "within": "9s", "isr": {"a-0": [0, 1, 2]}}]})

    assert expecting("broker.start#2").expect[0].after == "broker.start#2"
    with pytest.raises(BadInput, match="is performed 2 times"):
        expecting("broker.start#3")


@pytest.mark.parametrize("extra", [{"until": "settled"}, {"repeat": 2}, {"for_each": [0]}, {"next": "1s"}])
def test_a_rollback_has_one_turn_and_waits_for_nothing(extra: dict[str, object]) -> None:
    table = {**scenario().to_table(), "rollbacks": [{"action": "broker.start", "target": 0, **extra}]}
    with pytest.raises(BadInput, match=r"rollbacks\[0\]." + next(iter(extra))):
        Scenario.from_table(table)


def test_an_entry_without_turns_is_its_only_one() -> None:
    entry = MethodEntry(action="controller.crash", trigger=At(0))
    assert entry.turns(range(4)) == (entry,)
