"""Forecasts of imported clusters that are not at rest: throttles of some replicas, a dead broker, moves half done,
racks, topics without traffic. What is said is held against a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from scenarios.forecasting.arithmetic import Forecast, forecast
from scenarios.language import Scenario
from scenarios.runs import run_scenario
from tests.scenarios.importing.test_plans_and_disks import broker, printed
from tests.scenarios.importing.texts import described, scenario_of

SIZE, RATE = 20_000_000, 500_000
BOTH = (("orders-0", SIZE), ("orders-1", SIZE))
DISKS = printed(broker(1, *BOTH), broker(2, *BOTH), broker(3))
REST = ("Leader: 1\tReplicas: 1,2\tIsr: 1,2",) * 2
PLAN = (
    '{"partitions": [{"topic": "orders", "partition": 0, "replicas": [1, 3]}, '
    '{"topic": "orders", "partition": 1, "replicas": [1, 3]}]}'
)


def imported(folder: Path, throttle: str | None = "500kB/s", **texts: str) -> Scenario:
    scenario, _ = scenario_of(
        folder, **{"topics": described("orders", *REST), "log_dirs": DISKS, "reassignment": PLAN, **texts}
    )
    return scenario if throttle is None else scenario.with_overrides({"strategy.throttle": throttle})


def said(scenario: Scenario) -> Forecast:
    assert scenario.plan is not None
    return forecast(scenario, scenario.plan)


def estimate(scenario: Scenario) -> float:
    (outlook,) = said(scenario).outlooks
    assert outlook.estimate_s is not None
    return outlook.estimate_s


def test_a_throttle_of_some_replicas_is_named_as_left_out_and_only_the_run_has_it(tmp_path: Path) -> None:
    """One of two leaders is on the list: its copy takes as long as its rate says, and the other none."""
    rates = "".join(f"Configs for brokers '{id}' are leader.replication.throttled.rate={RATE}\n" for id in (1, 2, 3))
    listed = described("orders", *REST, configs="leader.replication.throttled.replicas=0:1")
    (tmp_path / "rest").mkdir()
    _, text = scenario_of(tmp_path / "rest", topics=listed, log_dirs=DISKS, configs=rates)
    entries = "".join(f'{{ topic = "orders", partition = {number}, replicas = [1, 3] }}, ' for number in (0, 1))
    standing = Scenario.loads(
        text.replace('horizon = "1m"', 'horizon = "10m"')
        + f'\n[plan]\nversion = 1\npartitions = [{entries}]\n[[method]]\nat = "10s"\naction = "reassign.execute"\n'
    )
    assert said(standing).left_out == ("the lists of throttled replicas",)
    assert not said(imported(tmp_path)).left_out
    took_s = run_scenario(standing).metrics["time_to_complete_s"]
    assert took_s is not None
    assert SIZE / RATE - 12 < took_s < SIZE / RATE + 1  # a window of 11 s passes at once


def test_a_dead_broker_as_the_note_says_it_is_in_estimate_and_run(tmp_path: Path) -> None:
    topics = described("orders", "Leader: 1\tReplicas: 2,1\tIsr: 1", "Leader: 1\tReplicas: 1,2\tIsr: 1")
    _, text = scenario_of(
        tmp_path, topics=topics, log_dirs=printed(broker(1, *BOTH), broker(3)), reassignment=PLAN
    )  # fmt: skip
    assert 'at = "1s", action = "broker.crash", target = 2' in text
    dead = Scenario.loads(f'{text}\n[[method]]\nat = "1s"\naction = "broker.crash"\ntarget = 2\n').with_overrides(
        {"strategy.throttle": "500kB/s"}
    )
    assert [one.broker for one in said(dead).outages] == [2]
    run = run_scenario(dead)
    assert run.passed, run.violations
    assert run.metrics["time_to_complete_s"] == pytest.approx(estimate(dead), rel=0.1)


def test_a_move_half_done_is_forecast_whole_and_runs_so(tmp_path: Path) -> None:
    moving = "Leader: 1\tReplicas: 1,3,2\tIsr: 1,2\tAdding Replicas: 3\tRemoving Replicas: 2"
    half = printed(broker(1, *BOTH), broker(2, *BOTH), broker(3, ("orders-0", SIZE // 2)))
    scenario = imported(tmp_path, topics=described("orders", moving, REST[1]), log_dirs=half)
    assert said(scenario).copied == 2 * SIZE
    assert run_scenario(scenario).metrics["time_to_complete_s"] == pytest.approx(estimate(scenario), rel=0.1)


def test_racks_change_nothing_and_a_topic_without_traffic_is_written_nothing(tmp_path: Path) -> None:
    racks = "".join(
        f"All configs for broker {id} are:\n  broker.rack=r{id} sensitive=false "
        f"synonyms={{STATIC_BROKER_CONFIG:broker.rack=r{id}}}\n"
        for id in (1, 2, 3)
    )
    topics = described("orders", *REST) + described("quiet", "Leader: 2\tReplicas: 2,1\tIsr: 2,1")
    its = [
        imported(tmp_path, topics=topics, rates="topic,bytes_per_s\norders,20000\nquiet,0\n", **texts)
        for texts in ({}, {"configs": racks})
    ]
    assert its[1].cluster.rack_names == ("r1", "r2", "r3")
    assert said(its[0]).to_json() == said(its[1]).to_json()
    written = {one.broker: one.written for one in said(its[0]).brokers}
    assert written[1] == pytest.approx(20_000, rel=0.02)
    assert written[2] == 0
