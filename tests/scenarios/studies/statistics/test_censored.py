"""Times to complete with runs that did not finish: against figures worked out by hand, and what must always hold."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats  # type: ignore[import-untyped]

from scenarios.studies.statistics.censored import Times, common_horizon_s, completions, restricted_mean_s

HAND = Times((1.0, 2.0, 3.0, 5.0), (4.0, 6.0))
"""Kaplan and Meier: 1, 5/6, 4/6, 3/6, and of the two that are left at 5 one finishes: 1/4."""


def test_the_curve_is_the_one_worked_out_by_hand() -> None:
    found = completions({"only": HAND})
    assert found is not None
    curve = found.levels["only"]
    assert curve.times_s == (1.0, 2.0, 3.0, 4.0, 5.0, 6.0)
    assert curve.finished == pytest.approx((1 / 6, 2 / 6, 3 / 6, 3 / 6, 3 / 4, 3 / 4))
    assert (curve.median_s, curve.p, found.horizon_s, found.unfinished) == (3.0, None, 6.0, True)
    assert curve.restricted_mean_s == pytest.approx(1 + 5 / 6 + 4 / 6 + 3 / 6 + 3 / 6 + 1 / 4)
    assert all(low <= at <= high for low, at, high in zip(curve.low, curve.finished, curve.high, strict=True))


def test_without_unfinished_runs_the_restricted_mean_is_the_mean() -> None:
    times = Times((2.0, 4.0, 9.0))
    assert restricted_mean_s(times, common_horizon_s([times])) == pytest.approx(5.0)


def test_levels_are_observed_until_the_first_of_those_that_are_open_ends() -> None:
    ended = Times((1.0, 90.0))
    assert common_horizon_s([ended, Times((1.0,), (60.0,)), Times((1.0,), (70.0,))]) == 60.0
    assert common_horizon_s([ended, Times((1.0,))]) == 90.0


def test_the_test_is_scipys_log_rank() -> None:
    late = Times((7.0, 8.0), (9.0, 9.0, 9.0, 9.0))
    found = completions({"hand": HAND, "late": late})
    assert found is not None
    x = stats.CensoredData(uncensored=HAND.finished_s, right=HAND.unfinished_s)
    y = stats.CensoredData(uncensored=late.finished_s, right=late.unfinished_s)
    assert found.levels["late"].p == pytest.approx(stats.logrank(x, y).pvalue)


def test_no_run_with_a_move_has_no_completion_and_none_finished_no_test() -> None:
    assert completions({"a": Times()}) is None
    found = completions({"a": Times((), (5.0,)), "b": Times((), (5.0,))})
    assert found is not None
    assert (found.levels["b"].p, found.levels["b"].median_s, found.levels["b"].restricted_mean_s) == (None, None, 5.0)


TIMES = st.lists(st.integers(1, 100).map(float), min_size=1, max_size=12)


@settings(deadline=None, max_examples=50)
@given(TIMES, TIMES, st.integers(1, 120))
def test_a_run_that_did_not_finish_only_raises_the_estimate(
    finished: list[float], unfinished: list[float], horizon: int
) -> None:
    """The same run, finished at a time and observed until it."""
    done = restricted_mean_s(Times((*finished, unfinished[0]), tuple(unfinished[1:])), horizon)
    not_done = restricted_mean_s(Times(tuple(finished), tuple(unfinished)), horizon)
    assert not_done >= done - 1e-9
    assert 0 < done <= horizon
