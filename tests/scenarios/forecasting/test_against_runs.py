"""The arithmetic of a forecast, held to exact runs of drawn moves."""

from __future__ import annotations

import pytest
from attrs import evolve

from benchmarks.forecast.cases import Case, drawn
from emulator.protocol.types import TopicPartition
from scenarios.forecasting.arithmetic import Outlook, forecast
from scenarios.testing.state_reading import ClusterState
from tests.scenarios.runs.building import play

NEAR = 0.12
"""The share of the measured time by which an estimate may be off; ``python -m benchmarks.forecast`` measures more of
them, and those nearer to never ending."""


def outlook_of(case: Case) -> Outlook:
    scenario = case.scenario
    [outlook] = forecast(scenario, scenario.plans[0]).outlooks
    return outlook


@pytest.mark.parametrize(
    ("kind", "number"),
    [
        ("one partition", 0), ("several", 0), ("cards", 3), ("in parts", 3), ("other protocols", 4),
        ("uneven keys", 4),
    ],
)  # fmt: skip
def test_a_run_is_near_the_estimate_and_above_the_bound(kind: str, number: int) -> None:
    check_estimate(kind, number)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "number"), [("one partition", 6), ("several", 2), ("cards", 0), ("other protocols", 0)]
)
def test_another_run_of_its_kind_is_near_it_too(kind: str, number: int) -> None:
    check_estimate(kind, number)


def check_estimate(kind: str, number: int) -> None:
    case = list(drawn(kind, number + 1))[number]
    outlook, played = outlook_of(case), play(case.scenario)
    took_s = played.run.metrics["time_to_complete_s"]
    assert isinstance(took_s, float)
    assert outlook.estimate_s is not None
    assert outlook.at_least_s <= took_s
    assert outlook.estimate_s == pytest.approx(took_s, rel=NEAR)


@pytest.mark.parametrize("number", [0, 1])
def test_what_never_ends_falls_further_behind(number: int) -> None:
    case = list(drawn("never ends", number + 1))[number]
    outlook = outlook_of(case)
    assert outlook.never_ends
    assert outlook.ended == 0
    gaps = [gap_of(case, horizon_s) for horizon_s in (60, 90)]
    assert gaps[0] < gaps[1]


def gap_of(case: Case, horizon_s: int) -> int:
    """The records that all new replicas together lack, so long after the start."""
    scenario = evolve(case.scenario, horizon_us=horizon_s * 1_000_000)
    played = play(scenario)
    assert played.run.metrics["moves_finished"] == 0
    state = ClusterState(played.stage.cluster, {"orders": None})
    now = scenario.assignments()

    def end(broker: int, name: str) -> int:
        log = state.log(broker, TopicPartition.parse(name))
        assert log is not None
        return log.end_offset

    return sum(
        end(now[name][0], name) - end(broker, name)
        for name, target in scenario.plans[0].targets().items()
        for broker in target
        if broker not in now[name]
    )
