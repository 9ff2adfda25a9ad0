"""Differences paired by seed: intervals, tests, effect sizes and what they are called."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]
from statsmodels.stats.multitest import multipletests

from scenarios.observe.measures.figure import Better
from scenarios.studies.statistics.differences import Pairs, compare_pairs, holm, seeds_needed
from scenarios.studies.statistics.resampling import flipped, intervals
from scenarios.studies.statistics.result import MetricDifference, MetricVerdict

FAST = 999
"""Resamples, where the exact number does not matter."""


def one(baseline: Sequence[float], other: Sequence[float], minimum: float = 0.0, **more: object) -> MetricDifference:
    pairs = Pairs(baseline=baseline, other=other, minimum=minimum, **more)  # type: ignore[arg-type]
    [found] = compare_pairs([pairs], resamples=FAST)
    return found


def drawn(seed: int, seeds: int, level: float, spread: float) -> list[float]:
    draw = random.Random(seed)
    return [draw.gauss(level, spread) for _ in range(seeds)]


# -- against SciPy's own functions for one sample --------------------------------------------------------------------


def test_the_interval_is_that_of_scipys_bootstrap_of_the_mean() -> None:
    values = np.array(drawn(1, 40, 5.0, 2.0))
    low, high = intervals(values[:, np.newaxis], lambda means: means, resamples=FAST)
    rng = np.random.default_rng(20_240_501)
    expected = stats.bootstrap((values,), np.mean, n_resamples=FAST, rng=rng, method="BCa").confidence_interval
    assert (low[0], high[0]) == pytest.approx((expected.low, expected.high))


def test_p_is_that_of_scipys_permutation_test() -> None:
    values = np.array(drawn(2, 12, 0.4, 1.0))
    expected = stats.permutation_test((values,), np.mean, permutation_type="samples", alternative="greater").pvalue
    assert flipped(values[:, np.newaxis])[0] == pytest.approx(expected)


def test_below_what_flips_can_show_p_is_a_bound_that_is_never_too_small() -> None:
    values = np.full((60, 1), 2.0) + np.array(drawn(3, 60, 0.0, 0.1))[:, np.newaxis]
    found = flipped(values, resamples=FAST)[0]
    assert 2.0**-60 <= found < 1e-10


# -- what it is called -----------------------------------------------------------------------------------------------


def test_a_clear_difference_is_better_or_worse_by_the_metrics_direction() -> None:
    low, high = drawn(4, 30, 10.0, 1.0), drawn(5, 30, 20.0, 1.0)
    assert one(high, low, 0.2).verdict is MetricVerdict.BETTER
    assert one(low, high, 0.2).verdict is MetricVerdict.WORSE
    assert one(low, high, 0.2, better=Better.HIGHER).verdict is MetricVerdict.BETTER
    assert one(low, high, 0.2, better=Better.NEITHER).verdict is MetricVerdict.HIGHER
    assert one(high, low, 0.2, better=Better.NEITHER).verdict is MetricVerdict.LOWER


def test_a_millisecond_of_two_seconds_is_no_difference_that_matters() -> None:
    baseline = drawn(6, 50, 2.0, 0.0012)
    found = one(baseline, [value + 0.001 for value in baseline], minimum=0.02)
    assert found.verdict is MetricVerdict.SAME
    assert found.deterministic


def test_too_few_seeds_say_how_many_are_needed_and_those_do() -> None:
    def study(seeds: int) -> MetricDifference:
        return one(drawn(7, seeds, 100.0, 8.0), drawn(8, seeds, 103.0, 8.0), minimum=1.0)

    few = study(12)
    assert few.verdict is MetricVerdict.UNKNOWN
    assert few.seeds_needed is not None
    assert study(few.seeds_needed).verdict is not MetricVerdict.UNKNOWN


@given(
    st.lists(st.tuples(*[st.integers(-1_000, 1_000).map(float)] * 2), min_size=6, max_size=40),
    st.integers(0, 50),
    st.sampled_from([0.0, 5.0, 100.0]),
)
@settings(max_examples=50)
def test_seeds_that_would_settle_it_are_more_than_there_are(
    pairs: list[tuple[float, float]], minimum: int, error: float
) -> None:
    a, b = zip(*pairs, strict=True)
    found = one(a, b, float(minimum), error=error)
    assert found.seeds_needed is None or found.seeds_needed > len(pairs)


def test_no_number_of_seeds_settles_what_all_seeds_are_wrong_by() -> None:
    found = one(drawn(9, 200, 100.0, 8.0), drawn(10, 200, 103.0, 8.0), minimum=1.0, error=2.0)
    assert found.verdict is MetricVerdict.UNKNOWN
    assert found.seeds_needed is None


def test_a_loss_on_one_seed_in_five_is_a_finding_though_the_median_is_0() -> None:
    losses = [40.0 + seed if seed % 5 == 0 else 0.0 for seed in range(100)]
    found = one([0.0] * 100, losses, minimum=1.0)
    assert found.median == 0
    assert found.verdict is MetricVerdict.WORSE
    assert (found.higher, found.lower, found.equal) == (20, 0, 80)
    assert (found.relative, found.relative_interval) == (None, None)


def test_equal_pairs_need_no_test() -> None:
    found = one([1.0, 2.0, 3.0] * 2, [1.0, 2.0, 3.0] * 2)
    assert (found.verdict, found.p, found.deterministic) == (MetricVerdict.SAME, None, False)


def test_one_seed_or_none_says_nothing() -> None:
    assert one([], []).verdict is MetricVerdict.UNKNOWN
    alone = one([1.0], [4.0], minimum=0.1)
    assert (alone.mean, alone.interval, alone.verdict, alone.p_adjusted) == (3.0, None, MetricVerdict.UNKNOWN, 1.0)


@pytest.mark.parametrize("pairs", [2, 3, 4, 5])
def test_fewer_than_six_pairs_have_no_interval_and_no_finding(pairs: int) -> None:
    found = one([100.0 + seed for seed in range(pairs)], [13.0 + seed for seed in range(pairs)], minimum=1.0)
    assert (found.interval, found.relative_interval, found.dominance_interval) == (None, None, None)
    assert (found.verdict, found.lower) == (MetricVerdict.UNKNOWN, pairs)
    assert found.p == pytest.approx(2 / 2**pairs)


def test_ten_equal_differences_are_certain_but_for_the_test() -> None:
    found = one([1.0] * 10, [2.0] * 10, minimum=0.1)
    assert found.interval is not None
    assert (found.interval.low, found.interval.high) == (1.0, 1.0)
    assert found.p == pytest.approx(2 / 2**10)
    assert found.dominance_interval is not None
    assert found.dominance_interval.low == pytest.approx(0.383, abs=0.001)
    assert found.deterministic


def test_pairing_that_works_divides_the_variance() -> None:
    baseline = drawn(9, 40, 100.0, 10.0)
    helped = one(baseline, [value + error for value, error in zip(baseline, drawn(10, 40, 1.0, 1.0), strict=True)])
    assert helped.pairing is not None
    assert helped.pairing > 20
    apart = one(baseline, drawn(11, 40, 100.0, 10.0)).pairing
    assert apart is not None
    assert 0.5 < apart < 2


def test_pairs_need_as_many_of_each() -> None:
    with pytest.raises(ValueError, match="2 values against 1"):
        one([1.0, 2.0], [1.0])


def test_holm_multiplies_the_smallest_by_all_and_never_falls() -> None:
    assert holm([0.01, 0.04, None, 0.03]) == pytest.approx([0.03, 0.06, None, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([None]) == [None]
    assert holm([]) == []


@given(st.lists(st.floats(0, 1), min_size=1, max_size=40))
def test_holm_is_that_of_statsmodels(ps: list[float]) -> None:
    assert holm(ps) == multipletests(ps, method="holm")[1].tolist()


# -- studies whose truth is known ------------------------------------------------------------------------------------


def table(draw: np.random.Generator, metrics: int, seeds: int, spread: float, effect: float = 0.0) -> list[Pairs]:
    """A strategy and itself, or itself made slower by ``effect``; every draw is independent of the others."""
    cells = []
    for _ in range(metrics):
        baseline = 100 * np.exp(spread * draw.normal(size=seeds))
        other = 100 * (1 + effect) * np.exp(spread * draw.normal(size=seeds))
        minimum = 0.01 * max(float(baseline.mean()), float(other.mean()))
        cells.append(Pairs(baseline=list(baseline), other=list(other), minimum=minimum))
    return cells


def findings(cells: Sequence[Pairs]) -> int:
    known = compare_pairs(cells, resamples=FAST)
    return sum(found.verdict not in (MetricVerdict.SAME, MetricVerdict.UNKNOWN) for found in known)


def test_a_strategy_against_itself_is_no_finding_in_100_of_100_studies() -> None:
    draw = np.random.default_rng(1)
    assert [findings(table(draw, metrics=10, seeds=20, spread=0.02)) for _ in range(100)] == [0] * 100


def test_where_noise_is_far_larger_than_the_minimum_at_most_5_of_100_studies_have_a_finding() -> None:
    draw = np.random.default_rng(2)
    assert sum(findings(table(draw, metrics=10, seeds=20, spread=0.5)) > 0 for _ in range(100)) <= 5


def test_an_effect_of_known_size_is_found_with_the_promised_number_of_seeds() -> None:
    draw = np.random.default_rng(3)
    spread = 0.03
    seeds = seeds_needed(draw.normal(0, spread * 2**0.5, 4_000), 0.01, tests=4)
    assert seeds is not None
    assert 150 < seeds < 300
    found = sum(findings(table(draw, metrics=4, seeds=seeds, spread=spread, effect=0.02)) for _ in range(25))
    assert found >= 0.75 * 100


# -- properties ------------------------------------------------------------------------------------------------------

VALUES = st.lists(
    st.tuples(*[st.integers(-1_000, 1_000).map(float)] * 2), min_size=6, max_size=15
)  # of whole numbers, so that sums are exact


@settings(deadline=None, max_examples=25)
@given(VALUES, st.integers(0, 50))
def test_exchanging_the_two_turns_everything_round(pairs: list[tuple[float, float]], minimum: int) -> None:
    a, b = zip(*pairs, strict=True)
    there, back = one(a, b, minimum), one(b, a, minimum)
    opposite = {MetricVerdict.BETTER: MetricVerdict.WORSE, MetricVerdict.WORSE: MetricVerdict.BETTER}
    assert back.verdict is opposite.get(there.verdict, there.verdict)
    assert there.mean is not None
    assert there.interval is not None
    assert back.interval is not None
    assert (back.mean, back.p, back.higher, back.lower) == (-there.mean, there.p, there.lower, there.higher)
    assert (back.interval.low, back.interval.high) == pytest.approx((-there.interval.high, -there.interval.low))


@settings(deadline=None, max_examples=25)
@given(VALUES, st.integers(0, 50), st.sampled_from([2.0**-10, 0.5, 4.0, 2.0**20]))
def test_the_unit_does_not_matter(pairs: list[tuple[float, float]], minimum: int, unit: float) -> None:
    a, b = zip(*pairs, strict=True)
    plain = one(a, b, minimum)
    scaled = one([unit * value for value in a], [unit * value for value in b], unit * minimum)
    names = ("relative", "relative_interval", "dominance", "p", "verdict", "pairing", "higher", "seeds_needed")
    assert [getattr(scaled, name) for name in names] == [getattr(plain, name) for name in names]


@settings(deadline=None, max_examples=25)
@given(VALUES)
def test_intervals_contain_the_estimate(pairs: list[tuple[float, float]]) -> None:
    a, b = zip(*pairs, strict=True)
    found = one(a, b)
    assert found.interval is not None
    assert found.mean is not None
    assert found.interval.low <= found.mean <= found.interval.high
    if found.relative_interval is not None and found.relative is not None:
        assert found.relative_interval.low <= found.relative <= found.relative_interval.high
    assert found.dominance_interval is not None
    assert found.dominance is not None
    assert found.dominance_interval.low <= found.dominance <= found.dominance_interval.high


# -- what sampled runs have in common --------------------------------------------------------------------------------


def test_an_error_that_all_seeds_share_widens_the_interval_and_hides_a_small_difference() -> None:
    baseline = [100.0 + seed % 3 for seed in range(30)]
    other = [each + 2.0 + seed % 2 for seed, each in enumerate(baseline)]
    plain, wide = one(baseline, other, minimum=1.0), one(baseline, other, minimum=1.0, error=1.5)
    assert plain.verdict is MetricVerdict.WORSE
    assert wide.verdict is MetricVerdict.UNKNOWN
    assert plain.interval is not None
    assert wide.interval is not None
    assert wide.relative_interval is not None
    half = np.hypot(plain.mean - plain.interval.low, 1.96 * 1.5)  # type: ignore[operator]
    assert plain.mean - wide.interval.low == pytest.approx(half, rel=1e-3)  # type: ignore[operator]
    assert wide.relative_interval.low == pytest.approx(wide.interval.low / np.mean(baseline), rel=1e-3)


def test_a_large_difference_stays_a_finding_beside_such_an_error() -> None:
    baseline = [100.0 + seed % 3 for seed in range(30)]
    found = one(baseline, [each + 20.0 for each in baseline], minimum=1.0, error=1.5)
    assert found.verdict is MetricVerdict.WORSE
    assert not found.deterministic, "seeds that are alike do not say how far such a finding carries"
