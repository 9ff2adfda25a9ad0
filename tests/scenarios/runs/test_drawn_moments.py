"""Moments that the seed draws, and triggers at any step, message or write."""

from itertools import pairwise
from typing import Any

import pytest

from emulator.protocol.events import Drawn, Fault
from scenarios.errors import BadInput
from scenarios.language import Scenario
from tests.scenarios.runs.building import EXECUTE, Played, Table, play, scenario


def wanted(*method: Table, **more: Any) -> Scenario:
    standard: Table = {"brokers": 5, "controller": 4, "rate": 0, "size": "0B", "horizon": "2m"}
    return scenario(**{**standard, **more}, method=method)


def run(*method: Table, **more: Any) -> Played:
    return play(wanted(*method, **more))


PAUSE: Table = {"at": "5s..20s", "action": "broker.pause", "target": 1, "duration": "500ms..2s"}


def times_ms(played: Played) -> list[int]:
    return [fault.t_us // 1000 for fault in played.of(Fault)]


def test_a_time_of_a_range_is_drawn_by_the_seed_and_said_at_the_start() -> None:
    found = set()
    for seed in range(6):
        played = run(PAUSE, {"after": "1s..3s", "action": "broker.pause", "target": 2, "duration": "1s"}, seed=seed)
        paused, *later = times_ms(played)
        assert 5_000 <= paused <= 20_000
        assert [(event.place, event.option) for event in played.of(Drawn)] == [
            ("method[0]", "duration"), ("method[0]", "at"), ("method[1]", "after"),
        ]  # fmt: skip
        at = next(value for place, key, value in played.run.drawn if key == "at")
        assert at in (f"{paused}ms", f"{paused // 1000}s")
        assert 500 <= min(later) - paused <= 3_000
        found.add(paused)
    assert len(found) == 6
    assert run(PAUSE, seed=3).run.digest == run(PAUSE, seed=3).run.digest


def test_an_entry_more_moves_no_other_moment() -> None:
    other: Table = {"at": "1s..4s", "action": "link.cut", "target": 3, "duration": "1s"}
    assert times_ms(run(PAUSE))[0] == times_ms(run(other, PAUSE))[2]


def test_each_turn_draws_its_own_pause() -> None:
    played = run({"at": "5s", "action": "broker.pause", "target": 1, "duration": "10ms", "repeat": 6, "next": "1s..5s"})
    begins = times_ms(played)[::2]
    gaps = {later - earlier for earlier, later in pairwise(begins)}
    assert len(gaps) == 5
    assert all(1_000 <= gap <= 5_000 for gap in gaps)


def triggered(when: Table, *more: Table, **keys: Any) -> Played:
    entry: Table = {"when": when, "action": "broker.pause", "target": 1, "duration": "100ms"}
    return run(entry, *more, **keys)


def caused_by(played: Played) -> Any:
    """The event that caused the pause."""
    cause = played.of(Fault, lambda fault: fault.action == "broker.pause")[0].cause
    return next((event for event in played.events if getattr(event, "seq", -1) == cause), None)


def test_an_occurrence_of_a_range_is_drawn() -> None:
    when: Table = {"step": "any failover", "occurrence": "1..8"}
    stop: Table = {"at": "2s", "action": "controller.resign"}
    steps = {(event := caused_by(triggered(when, stop, seed=seed, controller=None))).step for seed in range(8)}
    assert len(steps) > 2
    assert all(step.startswith("failover.") for step in steps), event


@pytest.mark.parametrize("strategy", ["wiki", "kip-455", "kafka-6794"])
def test_any_step_of_a_move_is_one_of_the_running_protocol(strategy: str) -> None:
    when: Table = {"step": "any move", "edge": "before", "occurrence": 3}
    played = triggered(when, EXECUTE, plan={0: [0, 1, 3]}, strategy=strategy)
    assert caused_by(played).step.startswith(f"{strategy}.")
    assert played.run.passed, played.run.explanation


def test_any_step_of_a_phase() -> None:
    played = triggered({"step": "any move.stop"}, EXECUTE, plan={0: [0, 1, 3]})
    assert caused_by(played).step in ("wiki.8", "wiki.9", "wiki.10", "wiki.11")


@pytest.mark.parametrize(
    "when",
    [
        {"message": "any", "to": 1, "since": "2s", "occurrence": 5},
        {"message": "any control", "since": "2s"},
        {"message": "any control", "since": "2s", "response": True},
        {"message": "any control", "since": "2s", "edge": "answered", "partition": "orders-0"},
        {"message": "any data", "since": "2s", "occurrence": "1..20"},
        {"zk": "any", "since": "2s"},
        {"zk": "any", "since": "2s", "path": "/brokers/topics/*/partitions/*/state", "edge": "answered"},
    ],
)
def test_any_message_and_any_write(when: Table) -> None:
    stop: Table = {"at": "3s", "action": "broker.stop", "target": 0}
    played = triggered(when, stop, rate=20)
    assert [fault.action for fault in played.of(Fault)].count("broker.pause") == 1
    assert min(fault.t_us for fault in played.of(Fault, lambda fault: fault.action == "broker.pause")) >= 2_000_000


def test_any_message_can_be_lost() -> None:
    lose: Table = {"when": {"message": "any control", "since": "2s", "occurrence": "1..3"}, "action": "message.cut"}
    played = run(lose, {"at": "3s", "action": "broker.stop", "target": 0})
    assert "LeaderAndIsr" in played.of(Fault)[1].detail or "UpdateMetadata" in played.of(Fault)[1].detail
    assert not played.run.violations


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"at": "20s..5s"}, "method[0].at: '20s..5s' begins at its end or after it; write the lower end first"),
        ({"at": "5s.."}, 'both ends of a range, such as "1s..5s"'),
        ({"at": "5..9s"}, "has no unit"),
        ({"at": "5s..9h"}, "after the horizon"),
        ({"when": {"step": "any failver"}}, "did you mean 'any failover'?"),
        ({"when": {"step": "any kip-455"}}, "has no step 'any kip-455'"),
        ({"when": {"step": "any move"}}, "no move is started"),
        ({"when": {"message": "any contrl"}}, "did you mean 'any control'?"),
        ({"when": {"zk": "an"}}, "did you mean 'any'?"),
        ({"when": {"step": "failover.F1", "occurrence": "0..3"}}, "an integer from 1"),
        ({"when": {"step": "failover.F1", "occurrence": "a..3"}}, "the text 'a' does not fit"),
        ({"when": {"message": "any", "since": {"step": "failover.F1", "occurrence": "1..3"}}}, "write a number"),
    ],
)
def test_ranges_and_names_that_are_refused(entry: Table, said: str) -> None:
    with pytest.raises(BadInput) as refused:
        run({**entry, "action": "broker.pause", "target": 1})
    assert said in str(refused.value)


def test_what_is_expected_is_one_step() -> None:
    with pytest.raises(BadInput, match="name one, or a phase"):
        wanted(PAUSE, expect=[{"step": "any failover"}])


def test_a_rollback_draws_no_time() -> None:
    with pytest.raises(BadInput, match="is not drawn"):
        wanted(rollbacks=[{"after": "1s..2s", "action": "heal"}])


def test_ranges_are_written_as_they_were_read() -> None:
    read = wanted(
        {**PAUSE, "optional": True}, {"when": {"step": "any failover", "occurrence": "2..9"}, "action": "heal"}
    )
    assert Scenario.from_table(read.to_table()) == read
