"""The runs of a forecast: what is run, and what is made of it."""

from __future__ import annotations

import json

import pytest
from attrs import evolve

from scenarios.forecasting.arithmetic import Forecast, forecast
from scenarios.forecasting.trials import Mean, TriedArm, mean_of, trials
from scenarios.forecasting.variants import Death, variant
from scenarios.language import Scenario
from scenarios.language.triggers import At
from scenarios.runs.batch import ThisProcess
from scenarios.studies.report.forecast_page import forecast_page
from tests.scenarios.forecasting.test_arithmetic import MB, move


@pytest.fixture(scope="module")
def small() -> Scenario:
    config = {"min.insync.replicas": 2}
    cluster = {"brokers": 6, "config": config, "network": {"egress": "200MB/s", "ingress": "200MB/s"}}
    return move(partitions=3, size="60MB", rate=300, cluster=cluster)


@pytest.fixture(scope="module")
def found(small: Scenario) -> Forecast:
    return forecast(small, small.plans[0], [20 * MB], ["wiki", "wiki+serial"])


@pytest.fixture(scope="module")
def tried(small: Scenario, found: Forecast) -> tuple[TriedArm, ...]:
    return trials(small, small.plans[0], found, [0, 1], ThisProcess())


def test_each_outlook_is_run_without_a_fault_and_with_one(found: Forecast, tried: tuple[TriedArm, ...]) -> None:
    expected = [(one.strategy, one.throttle, crashed) for one in found.outlooks for crashed in (None, 0)]
    assert [(one.strategy, one.throttle, one.crashed) for one in tried] == expected
    assert all(one.ended == 2 for one in tried)
    assert all([sample.seed for sample in one.samples] == [0, 1] for one in tried)


def test_the_runs_take_about_as_long_as_estimated(found: Forecast, tried: tuple[TriedArm, ...]) -> None:
    for outlook, trial in zip(found.outlooks, [one for one in tried if one.crashed is None], strict=True):
        mean = trial.mean(lambda sample: sample.time_s)
        assert mean is not None
        assert mean.value == pytest.approx(outlook.estimate_s, rel=0.2, abs=3)


def test_the_broker_dies_in_the_middle_of_the_moves_whatever_was_estimated(
    found: Forecast, tried: tuple[TriedArm, ...], small: Scenario
) -> None:
    """The first window of a throttle passes at once, so that a small move ends long before the estimate."""
    late = evolve(found, outlooks=tuple(evolve(one, estimate_s=1000.0) for one in found.outlooks))
    assert trials(small, small.plans[0], late, [0, 1], ThisProcess())[1].samples == tried[1].samples


def test_the_broker_that_dies_leaves_partitions_at_min_isr(tried: tuple[TriedArm, ...]) -> None:
    without, crashed = tried[0], tried[1]
    assert all(sample.at_min_isr_s == 0 for sample in without.samples)
    assert all(sample.at_min_isr_s > 0 for sample in crashed.samples)


def test_peaks_are_by_broker_and_below_the_card(tried: tuple[TriedArm, ...]) -> None:
    peaks = tried[0].peaks
    assert list(peaks) == [0, 1, 2, 3, 4, 5]
    assert all(peaks[broker][0] > 20 * MB for broker in (0, 1, 2)), "the throttle's first window passes at once"
    assert all(rate < 1.05 * 200 * MB for pair in peaks.values() for rate in pair)


def test_an_interval_of_one_run_is_none() -> None:
    assert mean_of([4.0]) == Mean(4.0, None, None)


def test_an_interval_is_student_s() -> None:
    """Of 1, 2, 3: 2 ± 4.303 · 1 / √3."""
    found = mean_of([1.0, 2.0, 3.0])
    assert (found.value, found.low, found.high) == pytest.approx((2.0, -0.4841, 4.4841), abs=1e-3)


def test_a_mean_of_runs_of_which_one_did_not_end_is_none(tried: tuple[TriedArm, ...]) -> None:
    values = iter([1.0, None])
    assert tried[0].mean(lambda _: next(values)) is None


def test_a_variant_has_its_own_throttle_fault_and_time(small: Scenario) -> None:
    made = variant(small, small.plans[0], "wiki+throttle-20MB", 100.0, Death(2))
    assert made.strategy.limit is not None
    assert made.strategy.limit.rate == 20 * MB
    assert [(entry.name, entry.trigger.time_us) for entry in made.method] == [  # type: ignore[union-attr]
        ("reassign.execute", 30_000_000),
        ("broker.crash", 80_000_000),
    ]
    assert made.horizon_us == 830_000_000


def test_a_request_at_a_drawn_time_begins_at_the_end_of_its_range(small: Scenario) -> None:
    drawn = small.with_overrides({"method": [{"at": "2s..5s", "action": "reassign.execute"}]})
    found = variant(drawn, drawn.plans[0], "wiki", 100.0, Death(0))
    assert found.method[-1].trigger == At(55_000_000)


def test_the_page_has_the_tables_and_what_its_script_draws(found: Forecast, tried: tuple[TriedArm, ...]) -> None:
    page = forecast_page(found, tried, "understudy forecast FILE", "1").render()
    assert "wiki+serial, throttle 20 MB/s" in page
    data = json.loads(page.split('id="data">')[1].split("</script>")[0])
    assert [one["name"] for one in data["outlooks"]] == [f"{one.strategy}, throttle 20 MB/s" for one in found.outlooks]
    assert all(one["low_s"] <= one["mean_s"] <= one["high_s"] for one in data["outlooks"])
    assert {one["broker"] for one in data["peaks"]} == {"0", "1", "2", "3", "4", "5"}
