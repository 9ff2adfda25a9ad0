"""Unusual scenarios: each ends with a verdict that says what happened."""

from __future__ import annotations

import pytest

from scenarios.cli.report import report
from scenarios.errors import BadInput
from scenarios.language import Scenario
from tests.scenarios.runs.building import EXECUTE, TP, play, scenario


def test_a_cluster_to_which_nothing_happens() -> None:
    run = Scenario.loads('title = "nothing"\n[cluster]\nbrokers = 3').run()
    assert run.passed
    lines = list(report(run))
    assert "  " not in lines, "no empty line where there is no expectation"


def test_one_broker_that_comes_back_is_all_there_is() -> None:
    crash = {"at": "3s", "action": "broker.crash", "target": 0, "duration": "2s"}
    run = play(scenario(brokers=1, controller=None, assignment=[(0,)], method=[crash])).run
    assert run.passed
    assert run.metrics["failed_batches"] == 0


@pytest.mark.parametrize("strategy", ["wiki", "kafka-6794"])
def test_a_partition_that_is_moved_to_itself(strategy: str) -> None:
    played = play(scenario(plan={0: (0, 1, 2)}, method=[EXECUTE], strategy=strategy))
    assert played.run.passed
    assert (played.assignment(), played.admin) == ((0, 1, 2), None)
    assert played.run.metrics["moves_finished"] == 0, "there was nothing to move"


def test_two_partitions_move_at_once_and_a_topic_s_name_may_hold_dashes() -> None:
    target = [3, 4, 5]
    names = ("my-topic-1-0", "my-topic-1-1")
    table = scenario(method=[EXECUTE], plan={0: target}, rate=0).to_table()
    table["topics"] = [{"name": "my-topic-1", "assignment": [[0, 1, 2], [1, 2, 3]]}]
    table["plan"]["partitions"] = [{"topic": "my-topic-1", "partition": p, "replicas": target} for p in (0, 1)]
    table["expect"] = [{"within": "1m", "assignment": dict.fromkeys(names, target)}]
    wanted = Scenario.from_table(table)
    run = wanted.run()
    assert run.passed, run.explanation


def test_a_move_to_a_broker_that_is_gone_says_in_which_step_it_waits() -> None:
    crash = {"at": "1s", "action": "broker.crash", "target": 4}
    run = play(scenario(plan={0: (1, 2, 4)}, method=[crash, EXECUTE], horizon="20s")).run
    assert run.reason == "unfinished"
    assert "orders-0: the move is in wiki.4 (wait until RAR is in the ISR), until broker 4 joins" in run.explanation


def test_what_the_horizon_cuts_short_was_found_at_the_horizon() -> None:
    late = {"within": "1h", "assignment": {str(TP): [5]}}
    run = play(scenario(expect=[late], horizon="5s", rate=0)).run
    (found,) = run.expectations
    assert not found.ok
    assert found.t_us is not None
    assert found.t_us < 6_000_000
    assert "at 5." in found.detail


def test_no_brokers_of_a_failed_partition_are_none() -> None:
    assert play(scenario(expect=[{"failed_partitions": {str(TP): []}}])).run.passed


def test_dots_without_quotes_are_explained() -> None:
    text = 'title = "dots"\ncluster.brokers = 3\ncluster.config.min.insync.replicas = 2'
    with pytest.raises(BadInput, match=r'in quotes, such as "min\.insync\.replicas"'):
        Scenario.loads(text)
