"""An action that finds nothing to do has not been exercised, and the verdict says so."""

from typing import Any

import pytest

from scenarios.language import Scenario
from scenarios.runs import run_scenario


def run(*method: dict[str, Any], **more: Any) -> tuple[str, str]:
    """The reason and the explanation's first lines of a run with this method."""
    finished = run_scenario(
        Scenario.from_table(
            {
                "schema": "scenario/1",
                "title": "nothing to do",
                "horizon": "20s",
                "cluster": {"brokers": 4},
                "topics": [{"name": "orders", "assignment": [[0, 1, 2], [1, 2, 0]]}],
                "method": list(method),
                **more,
            }
        )
    )
    return finished.reason, finished.explanation


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"action": "broker.start", "target": 3}, "broker.start: broker 3 is not down"),
        ({"action": "broker.resume", "target": 3}, "broker.resume: broker 3 is not paused"),
        ({"action": "link.cut", "target": 3, "peer": 3}, "has no link to itself"),
        ({"action": "gate.release", "gate": {"step": "failover.F1"}}, "no gate.hold names failover.F1"),
    ],
)
def test_an_action_without_effect_is_not_exercised(entry: dict[str, Any], said: str) -> None:
    reason, explanation = run({"at": "1s", **entry})
    assert reason == "not exercised"
    assert said in " ".join(explanation.split())


def test_a_link_to_itself_is_refused_once_and_not_again_when_the_duration_ends() -> None:
    _, explanation = run({"at": "1s", "action": "link.cut", "target": 3, "peer": 3, "duration": "2s"})
    assert explanation.count("has no link to itself") == 1


def test_a_crash_of_what_is_down_is_not_exercised() -> None:
    crash = {"action": "broker.crash", "target": 3}
    reason, explanation = run({"at": "1s", **crash}, {"at": "2s", **crash})
    assert reason == "not exercised"
    assert "broker 3 is not up or paused" in explanation


def test_the_end_of_a_duration_may_find_its_work_done() -> None:
    reason, _ = run(
        {"at": "1s", "action": "broker.crash", "target": 3, "duration": "8s"},
        {"at": "3s", "action": "broker.start", "target": 3},
    )
    assert reason == ""


def test_release_lets_only_those_go_that_its_filters_name() -> None:
    plan = {
        "version": 1,
        "partitions": [{"topic": "orders", "partition": p, "replicas": r} for p, r in ((0, [0, 1, 3]), (1, [1, 2, 3]))],
    }
    gates = [{"step": "move.start", "edge": "before", "partition": f"orders-{p}"} for p in (0, 1)]
    hold = [{"at": "1s", "action": "gate.hold", "gate": gate} for gate in gates]
    release = {"at": "5s", "action": "gate.release", "gate": gates[0]}
    move = {"at": "2s", "action": "reassign.execute"}
    reason, explanation = run(*hold, move, release, plan=plan)
    assert reason == "unfinished", explanation
    other = {"at": "6s", "action": "gate.release", "gate": gates[1]}
    assert run(*hold, move, release, other, plan=plan)[0] == ""


def test_a_load_on_a_topic_that_the_method_creates() -> None:
    reason, explanation = run(
        {"at": "1s", "action": "topic.create", "topic": {"name": "late", "assignment": [[1, 2]]}},
        workloads=[{"topic": "late", "producerRate": 10, "start": "3s"}],
        expect=[{"metric": "acked_batches", "tolerance": [1, 1000]}],
    )
    assert reason == "", explanation


def test_nothing_is_left_to_do_once_a_fetch_that_waits_for_a_handler_is_answered_too() -> None:
    """What is appended while a fetch is on its way, or in the queue, has not reached the follower."""
    one_at_a_time = {"topic": "t0", "producerRate": 20, "config": {"batch.size": 1}}
    finished = run_scenario(
        Scenario.from_table(
            {
                "schema": "scenario/1",
                "title": "a record at a time, and handlers that take time",
                "profile": "kafka-2.4",
                "cluster": {
                    "brokers": 2,
                    "network": {"latency": "20ms"},
                    "service": {"Produce": "100us", "Fetch": "200us"},
                },
                "topics": [{"name": "t0", "assignment": [[0, 1]]}],
                "workloads": [one_at_a_time],
                "consumers": [{"topic": "t0"}],
            }
        )
    )
    assert finished.passed, finished.explanation
