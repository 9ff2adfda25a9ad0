"""Entries that need not act, triggers that are disarmed, and targets that are drawn when the action fires."""

from typing import Any

import pytest
from attrs import evolve

from emulator.protocol.events import Fault
from tests.scenarios.runs.building import Played, Table, play, scenario

NEVER = {"message": "StopReplica", "occurrence": 99}


def run(*method: Table, **more: Any) -> Played:
    standard: Table = {"brokers": 4, "controller": 3, "rate": 20, "size": "0B", "horizon": "60s"}
    return play(scenario(**{**standard, **more}, method=method))


def faults(played: Played) -> list[tuple[str, str]]:
    return [(fault.action, fault.target) for fault in played.of(Fault)]


@pytest.mark.parametrize(
    "entry",
    [
        {"when": NEVER, "action": "broker.crash", "target": 0},
        {"at": "1s", "action": "broker.start", "target": 3},
        {"at": "1s", "action": "broker.crash", "target": {"mode": "all", "state": "down"}, "duration": "1s"},
        {"at": "1s", "action": "broker.fail_start_replica", "target": 1, "partition": "orders-0"},
    ],
    ids=["never fires", "cannot be done", "finds no broker", "never takes effect"],
)
def test_an_optional_entry_may_do_nothing(entry: Table) -> None:
    assert run(entry).run.reason == "not exercised"
    assert run({**entry, "optional": True}).run.verdict == "passed"


def test_a_run_does_not_wait_for_an_optional_trigger_nor_for_what_follows_it() -> None:
    played = run(
        {"when": NEVER, "action": "broker.crash", "target": 0, "optional": True},
        {"after": "1s", "action": "broker.start", "target": 0},
        {"at": "2s", "action": "broker.pause", "target": 1, "duration": "1s"},
        rate=0,
    )  # fmt: skip
    assert played.run.verdict == "passed"
    assert played.run.virtual_s < 20, "nothing keeps it until the horizon"
    assert faults(played) == [("broker.pause", "1"), ("broker.resume", "1")]


def test_an_optional_entry_acts_where_it_can_and_what_follows_is_waited_for() -> None:
    played = run(
        {"at": "1s", "action": "broker.stop", "target": 0},
        {"when": {"zk": "session.closed"}, "action": "broker.pause", "target": 1, "optional": True},
        {"after": "9s", "action": "broker.resume", "target": 1},
        rate=0,
    )  # fmt: skip
    assert [action for action, _ in faults(played)] == ["broker.stop", "broker.pause", "broker.resume"]


def test_a_trigger_that_has_not_fired_when_healing_begins_does_not_fire() -> None:
    method = (
        {"when": {"zk": "session.closed"}, "action": "broker.crash", "target": 1, "optional": True},
        {"when": {"message": "UpdateMetadata", "since": "1s"}, "action": "broker.crash", "target": 2, "optional": True},
        {"when": {"step": "broker-failure.2"}, "action": "broker.crash", "target": 2},
        {"at": "1s", "action": "broker.stop", "target": 0, "duration": "2s"},
    )
    assert len(faults(run(*method))) == 5
    disarmed = run({"at": "500ms", "action": "heal"}, *method)
    assert faults(disarmed) == [("heal", "0,1,2,3"), ("broker.stop", "0"), ("broker.start", "0")]
    assert disarmed.run.reason == "not exercised"
    assert "broker-failure.2" not in disarmed.run.explanation
    assert disarmed.stage.method.not_exercised() == ["method[3] broker.crash"]


def test_what_follows_an_optional_entry_does_not_act_after_healing() -> None:
    method = (
        {"at": "1s", "action": "broker.pause", "target": 1, "duration": "500ms", "optional": True},
        {"after": "3s", "action": "broker.crash", "target": 2, "optional": True},
        {"after": "1s", "action": "broker.crash", "target": 0, "optional": True},
    )
    assert [action for action, _ in faults(run(*method))][-1] == "broker.crash"
    healed = run(*method, {"at": "2s", "action": "heal"})
    assert [action for action, _ in faults(healed)] == ["broker.pause", "broker.resume", "heal"]
    assert healed.run.verdict == "passed"
    assert healed.run.virtual_s < 20, "nothing keeps it until the horizon"


def test_any_is_drawn_by_the_seed_when_the_action_fires() -> None:
    pause = {"at": "1s", "action": "broker.pause", "target": "any follower(orders-0)", "duration": "1s"}
    drawn = [faults(play(scenario(brokers=4, rate=0, controller=3, method=[pause], seed=seed))) for seed in range(8)]
    assert {brokers for first, _ in drawn for brokers in (first[1],)} == {"1", "2"}
    assert all(first[1] == second[1] for first, second in drawn), "the end of the duration acts on the same broker"


def test_an_entry_more_changes_no_other_draw() -> None:
    cut = {"at": "1s", "action": "link.cut", "target": "any", "peer": "any leader", "duration": "2s", "optional": True}
    two = {"at": "4s", "action": "broker.pause", "target": "any", "duration": "1s"}
    for seed in range(5):
        alone = faults(play(scenario(brokers=6, controller=5, rate=0, method=[two], seed=seed)))
        both = faults(play(scenario(brokers=6, controller=5, rate=0, method=[cut, two], seed=seed)))
        assert both[-2:] == alone
        assert len(both) == 4 or both[0][0] == "broker.pause"


def test_the_same_seed_draws_the_same_in_every_run() -> None:
    wanted = scenario(
        brokers=5, controller=4, size="0B", seed=3,
        method=[{"at": "1s", "action": "broker.crash", "target": "any broker", "duration": "8s"}],
    )  # fmt: skip
    assert play(wanted).run.digest == play(evolve(wanted)).run.digest
