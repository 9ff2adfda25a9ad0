"""Entries that wait, and entries with several turns, in a run."""

from itertools import pairwise
from typing import Any

from emulator.protocol.events import Fault, MoveFinished
from emulator.trace.events import ZkSession
from tests.scenarios.runs.building import Played, Table, play, scenario

ROUND_ROBIN = [[0, 1, 2], [1, 2, 3], [2, 3, 4], [3, 4, 0], [4, 0, 1]]


def story(*method: Table, **more: Any) -> Played:
    """Five partitions, round robin on five brokers, of which 4 is controller."""
    return play(scenario(brokers=5, controller=4, assignment=ROUND_ROBIN, method=method, **more))


def acted(played: Played, action: str) -> list[tuple[float, str]]:
    return [(event.t_us / 1e6, event.target) for event in played.of(Fault, lambda event: event.action == action)]


def test_a_rolling_restart_is_one_entry() -> None:
    """Each broker is stopped when the one before it is back and in every ISR."""
    restart: Table = {
        "at": "3s", "action": "broker.controlled_shutdown", "for_each": "brokers", "duration": "5s", "next": "isr full",
    }  # fmt: skip
    played = story(restart, config={"min.insync.replicas": 2})
    assert played.run.passed, played.run.explanation
    stopped = acted(played, "broker.controlled_shutdown")
    assert [target for _, target in stopped] == ["0", "1", "2", "3", "4"]
    assert all(later - earlier > 5 for (earlier, _), (later, _) in pairwise(stopped))
    assert (played.run.metrics["under_min_isr_s"], played.run.metrics["offline_s"]) == (0, 0)


def test_isr_full_waits_for_the_session_of_a_broker_that_was_killed() -> None:
    """Broker 2 is back after a second, and still in the ISR: its registration waits until its old session expires."""
    kill: Table = {"at": "3s", "action": "broker.crash", "for_each": [2, 0], "duration": "1s", "next": "isr full"}
    played = story(kill)
    [(first, _), (second, _)] = acted(played, "broker.crash")
    [expired, _] = played.of(ZkSession, lambda event: event.state == "expired")
    assert first < expired.t_us / 1e6 < second


def test_isr_full_does_not_wait_for_replicas_that_a_move_adds() -> None:
    """The copy takes ten seconds and more; the brokers are restarted during it."""
    played = story(
        {"at": "3s", "action": "reassign.execute"},
        {"after": "1s", "action": "broker.stop", "for_each": [1, 2], "duration": "2s", "next": "isr full"},
        plan={0: [0, 1, 4]}, size="10MiB", strategy="wiki", cluster={"network": {"ingress": "1MiB/s"}},
    )  # fmt: skip
    assert played.run.passed, played.run.explanation
    [done] = played.of(MoveFinished)
    assert [t < done.t_us / 1e6 for t, _ in acted(played, "broker.stop")] == [True, True]


def test_moves_done() -> None:
    """The second plan follows the first one, and the broker that it empties is stopped when that is over."""
    played = story(
        {"at": "3s", "action": "reassign.execute"},
        {"until": "moves done", "action": "reassign.execute", "plan": {"decommission": 4}},
        {"until": "moves done", "action": "broker.stop", "target": 4},
        plan={0: [3, 4, 0]}, size="1MiB", cluster={"network": {"ingress": "2MiB/s"}},
    )  # fmt: skip
    assert played.run.passed, played.run.explanation
    ended = [event.t_us / 1e6 for event in played.of(MoveFinished)]
    [(_, _), (second, _)] = acted(played, "reassign.execute")
    [(stopped, _)] = acted(played, "broker.stop")
    assert ended[0] < second < ended[1]
    assert ended[-1] < stopped < ended[-1] + 0.3


def test_settled_waits_for_what_a_crash_sets_off() -> None:
    played = story(
        {"at": "3s", "action": "broker.crash", "target": 2, "duration": "30s"},
        {"until": "settled", "action": "broker.stop", "target": 0},
    )
    [(stopped, _)] = acted(played, "broker.stop")
    assert stopped >= 33 + 2, "after its duration, and once nothing but routine is under way for two seconds"


def test_a_link_flaps() -> None:
    played = story({"at": "3s", "action": "link.cut", "target": 1, "repeat": 3, "duration": "1s", "next": "5s"})
    assert [t for t, _ in acted(played, "link.cut")] == [3.0, 8.0, 13.0]
    assert [t for t, _ in acted(played, "link.heal")] == [4.0, 9.0, 14.0]


def test_a_turn_that_never_comes_is_named() -> None:
    stop: Table = {"at": "3s", "action": "broker.stop", "for_each": [0, 1], "next": "isr full"}
    played = story(stop, horizon="20s")
    assert played.run.reason == "not exercised"
    assert "method[0] (turn 2 of 2) broker.stop" in played.run.explanation
