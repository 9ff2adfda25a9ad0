"""Effects whose sign differs over the axes that ``by`` leaves out: no mean over them is shown; one of one sign is."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scenarios.runs.dataset.arm import Arm, named
from scenarios.studies.statistics.result import DIFFERENT, Comparison, MetricVerdict
from scenarios.studies.statistics.run_figures import RunFigures
from scenarios.studies.statistics.study_comparison import ComparisonSpec, compare_runs
from tests.scenarios.studies.statistics.made import study

METRIC = "under_min_isr_s"
RATES = ("8MB/s", "20MB/s", "40MB/s")
LOADS = ("1000", "2000")


def grid(factors: dict[tuple[str, str], float], *, seeds: int, noise: float, draw: int) -> list[RunFigures]:
    """Two strategies, of which the second takes ``factors`` times as long, by throttle and load."""
    arms = named(
        Arm(strategy, "kafka-2.3", [("strategy.throttle", rate), ("load", load)])
        for strategy in ("wiki", "kafka-6794") for rate, load in factors
    )  # fmt: skip

    def metrics(arm: Arm, seed: int) -> dict[str, float]:
        at = arm.value_of("strategy.throttle"), arm.value_of("load")
        base = 10.0 * (1 + RATES.index(at[0])) * (1 + LOADS.index(at[1]))
        factor = factors[at] if arm.strategy != "wiki" else 1.0
        error = random.Random(f"{draw} {arm.name} {seed}").gauss(0.0, noise)
        return {METRIC: base * factor * (1 + error)}

    return study(arms, seeds, metrics)


def by_strategy(runs: list[RunFigures], *where: tuple[str, str]) -> Comparison:
    return compare_runs(runs, asked=ComparisonSpec(by="strategy", metrics=(METRIC, "zk_writes"), where=where))


def verdict(found: Comparison) -> MetricVerdict:
    return found.row(METRIC).differences["kafka-6794"].verdict


def of_rates(*factors: float) -> dict[tuple[str, str], float]:
    return {(rate, LOADS[0]): factor for rate, factor in zip(RATES, factors, strict=False)}


def test_worse_by_7_percent_at_8_and_far_better_at_20_has_no_pooled_answer() -> None:
    runs = grid(of_rates(1.068, 0.2), seeds=20, noise=0.01, draw=1)
    found = by_strategy(runs)
    assert found.headlines[0].startswith(
        "kafka-6794 against wiki in under_min_isr_s depends on strategy.throttle: better at 20MB/s -80%"
    )
    assert "; worse at 8MB/s +6.5%" in found.headlines[0]
    assert verdict(found) is MetricVerdict.DEPENDS
    assert not any(" is better than " in line or "best" in line for line in found.headlines)
    [row] = [line for line in found.text.splitlines() if line.startswith(METRIC) and "depends" in line]
    assert "%" not in row, "the mean over both is not shown"


def test_nothing_is_best_where_an_objective_depends() -> None:
    runs = grid(of_rates(1.068, 0.2), seeds=20, noise=0.01, draw=1)
    both = ComparisonSpec(by="strategy", metrics=(METRIC, "extra_replica_s"))
    assert compare_runs(runs, asked=both).front is None
    alike = grid(of_rates(0.9, 0.2), seeds=20, noise=0.01, draw=1)
    assert compare_runs(alike, asked=both).front is not None


def test_signs_that_differ_only_where_two_axes_meet_are_found() -> None:
    """Over either axis alone the strategies are equal."""
    factors = {("8MB/s", "1000"): 1.2, ("8MB/s", "2000"): 0.9, ("20MB/s", "1000"): 0.9, ("20MB/s", "2000"): 1.05}
    cell = by_strategy(grid(factors, seeds=12, noise=0.005, draw=2)).row(METRIC).differences["kafka-6794"]
    assert cell.verdict is MetricVerdict.DEPENDS
    assert cell.strata[0].axes == ("strategy.throttle", "load")
    assert len(cell.strata) == 4


@settings(deadline=None, max_examples=6)
@given(st.lists(st.sampled_from([0.4, 0.9, 0.97, 1.0, 1.03, 1.1, 1.6]), min_size=2, max_size=3), st.integers(6, 12),
       st.sampled_from([0.01, 0.05]), st.integers(0, 1_000))  # fmt: skip
def test_no_mean_is_shown_over_strata_that_are_findings_both_ways(
    factors: list[float], seeds: int, noise: float, draw: int
) -> None:
    runs = grid(of_rates(*factors), seeds=seeds, noise=noise, draw=draw)
    alone = [verdict(by_strategy(runs, ("strategy.throttle", rate))) for rate in RATES[: len(factors)]]
    found = by_strategy(runs)
    if MetricVerdict.BETTER in alone and MetricVerdict.WORSE in alone:
        assert verdict(found) in (MetricVerdict.DEPENDS, MetricVerdict.UNKNOWN)
        assert not any("-6794 is " in line for line in found.headlines)
    if verdict(found) is MetricVerdict.DEPENDS:
        own = {one.difference.verdict for one in found.row(METRIC).differences["kafka-6794"].strata}
        assert {MetricVerdict.BETTER, MetricVerdict.WORSE} <= own


@pytest.mark.parametrize("factor", [0.8, 1.25])
def test_the_mean_over_effects_of_one_sign_is_shown(factor: float) -> None:
    """In all of four studies, also where noise hides the effect in single strata."""
    for draw in range(4):
        cell = by_strategy(grid(of_rates(factor, factor, factor), seeds=12, noise=0.15, draw=draw)).row(METRIC)
        assert cell.differences["kafka-6794"].verdict in DIFFERENT


def test_equal_strategies_do_not_depend_on_anything() -> None:
    told = [verdict(by_strategy(grid(of_rates(1.0, 1.0, 1.0), seeds=12, noise=0.2, draw=draw))) for draw in range(8)]
    assert MetricVerdict.DEPENDS not in told
