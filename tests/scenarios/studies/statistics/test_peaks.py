"""Two peaks and far tails: which samples have them, and that median and share are shown, with a test of the share."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]

from scenarios.runs.dataset.arm import Arm
from scenarios.studies.statistics.peaks import LEVEL, split_at
from scenarios.studies.statistics.result import DIFFERENT, Comparison, MetricVerdict
from scenarios.studies.statistics.study_comparison import ComparisonSpec, compare_runs
from tests.scenarios.studies.statistics.made import HOPS, WIKI, study

P99 = "produce_p99_ms"


def stalls(
    shares: tuple[float, float], *, seeds: int = 40, low: tuple[float, float] = (1.0, 1.0), draw: int = 1
) -> Comparison:
    """A p99 of 0 to 2 s, or, in these shares of the seeds, of a little over 29 s. ``low``: factors of the former."""

    def metrics(arm: Arm, seed: int) -> dict[str, float]:
        which = 0 if arm is WIKI else 1
        own = random.Random(f"{draw} {arm.name} {seed}")
        fast = low[which] * (100 + 1_900 * random.Random(f"{draw} {seed}").random())
        return {P99: 29_000 + 500 * own.random() if own.random() < shares[which] else fast}

    return compare_runs(study((WIKI, HOPS), seeds, metrics), asked=ComparisonSpec(metrics=(P99, "zk_writes")))


def test_stalls_are_shown_by_share_and_median_and_not_by_a_mean_that_no_run_has() -> None:
    found = stalls((0.03, 0.5))
    row = found.row(P99)
    cell = row.differences["kafka-6794"]
    assert row.split is not None
    assert 29_000 <= row.split.at < 29_500
    assert (cell.verdict, cell.p) == (MetricVerdict.WORSE, None)
    [said] = [line for line in found.headlines if f"{P99} 29,0" in line]
    share = round(100 * row.split.shares["kafka-6794"])
    assert f"ms or more in {share}% of the runs against " in said
    assert "; medians " in said
    for sample in row.samples.values():
        assert sample.mean is not None
        assert f"{sample.mean:,.0f}" not in found.text
    assert f"{share}% ≥ " in found.text


def test_with_a_run_a_seed_the_test_of_the_shares_is_mcnemars() -> None:
    cell = stalls((0.1, 0.5), seeds=12).row(P99).differences["kafka-6794"].share
    assert cell is not None
    assert cell.p == pytest.approx(stats.binomtest(cell.higher, cell.higher + cell.lower).pvalue)
    assert cell.higher + cell.lower + cell.equal == 12


def test_the_median_of_two_equal_peaks_is_a_value_that_a_run_has() -> None:
    half = [100.0 if seed % 2 else 29_000.0 for seed in range(20)]
    runs = study((WIKI, HOPS), 20, lambda arm, seed: {P99: half[seed] if arm is HOPS else 100.0 + seed})
    assert compare_runs(runs, asked=ComparisonSpec(metrics=(P99,))).row(P99).samples["kafka-6794"].median == 100.0


def test_where_the_shares_are_equal_the_pairs_on_the_same_side_are_compared() -> None:
    found = stalls((0.2, 0.2), low=(1.0, 0.5))
    cell = found.row(P99).differences["kafka-6794"]
    assert cell.share is not None
    assert cell.alike is not None
    assert cell.share.verdict is MetricVerdict.UNKNOWN
    assert (cell.verdict, cell.alike.verdict) == (MetricVerdict.BETTER, MetricVerdict.BETTER)
    assert cell.alike.pairs == cell.share.equal < 40
    assert "where both are below 29,0" in found.headlines[0]


@pytest.mark.parametrize("name", ["normal", "uniform", "exponential", "logistic", "gumbel"])
def test_samples_with_one_peak_and_a_light_tail_are_rarely_split(name: str) -> None:
    draw = np.random.default_rng(5)
    for size in (6, 20, 100):
        split = [split_at([getattr(draw, name)(size=size)], 0.0) is not None for _ in range(400)]
        assert np.mean(split) <= 2 * LEVEL, size


def test_counts_of_rare_events_are_no_two_peaks() -> None:
    draw = np.random.default_rng(6)
    for rate in (0.05, 0.5, 5.0):
        split = [split_at([draw.poisson(rate, 30).astype(float)], 1.0) is not None for _ in range(200)]
        assert np.mean(split) <= LEVEL


def test_levels_that_are_far_apart_but_narrow_have_one_peak_each() -> None:
    near, far = np.linspace(1.0, 1.1, 20), np.linspace(30.0, 30.1, 20)
    assert split_at([near, far], 0.0) is None
    assert split_at([np.concatenate([near, far])], 0.0) == 30.0


@settings(deadline=None, max_examples=50)
@given(st.lists(st.floats(0.0, 2.0), min_size=5, max_size=20), st.lists(st.floats(29.0, 29.5), min_size=5, max_size=20))
def test_two_groups_with_a_gap_of_ten_times_their_width_are_split_between_them(
    low: list[float], high: list[float]
) -> None:
    assert split_at([np.array([*low, *high])], 0.0) == min(high)


@settings(deadline=None, max_examples=10)
@given(st.floats(0.0, 1.0), st.floats(0.0, 1.0), st.integers(0, 1_000))
def test_what_is_shown_of_a_metric_with_two_peaks_is_never_its_mean(one: float, other: float, draw: int) -> None:
    found = stalls((one, other), seeds=16, draw=draw)
    row = found.row(P99)
    cell = row.differences["kafka-6794"]
    if row.split is None:
        assert cell.share is None
        return
    assert cell.share is not None
    assert cell.alike is not None
    assert cell.p_adjusted is None
    if cell.verdict in DIFFERENT:
        assert cell.telling.p_adjusted is not None
        assert cell.telling.p_adjusted < 0.05


def test_equal_shares_are_a_finding_in_few_studies() -> None:
    told = [stalls((0.4, 0.4), seeds=12, draw=draw).row(P99).differences["kafka-6794"].verdict for draw in range(30)]
    assert sum(verdict in DIFFERENT for verdict in told) <= 2
