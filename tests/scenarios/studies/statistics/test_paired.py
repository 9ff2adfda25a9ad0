"""Differences by seed, their intervals, and what Holm makes of many p values."""

from __future__ import annotations

import random

import pytest

from scenarios.studies.statistics.paired import holm, median_interval, paired_difference


def test_a_constant_difference_is_certain() -> None:
    found = paired_difference([1.0, 2.0, 3.0, 9.0, 4.0, 7.0], [3.0, 4.0, 5.0, 11.0, 6.0, 9.0])
    assert (found.pairs, found.median, found.low, found.high) == (6, 2.0, 2.0, 2.0)
    assert found.p == pytest.approx(2 / 2**6)  # the exact signed-rank test with every sign alike


def test_the_interval_holds_the_median_and_is_the_same_each_time() -> None:
    draw = random.Random(7)
    a = [draw.gauss(10, 1) for _ in range(20)]
    b = [value + draw.gauss(2, 1) for value in a]
    found = paired_difference(a, b)
    assert found.low is not None
    assert found.high is not None
    assert found.median is not None
    assert 0 < found.low <= found.median <= found.high
    assert found.method == "BCa"
    assert found.p is not None
    assert found.p < 0.001
    assert found == paired_difference(a, b)


def test_pairing_sees_what_the_spread_over_seeds_would_hide() -> None:
    a = [float(10 * n) for n in range(12)]
    found = paired_difference(a, [value + 1 + 0.01 * n for n, value in enumerate(a)])
    assert found.p is not None
    assert found.p < 0.01


def test_no_difference_is_not_significant() -> None:
    found = paired_difference([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    assert (found.median, found.low, found.high, found.p) == (0.0, 0.0, 0.0, 1.0)


def test_too_few_pairs_have_no_interval() -> None:
    assert paired_difference([], []).median is None
    one = paired_difference([1.0], [4.0])
    assert (one.median, one.low, one.high) == (3.0, None, None)


def test_pairs_need_as_many_of_each() -> None:
    with pytest.raises(ValueError, match="2 values against 1"):
        paired_difference([1.0, 2.0], [1.0])


def test_median_interval_of_nothing() -> None:
    assert median_interval([]) == (None, None, None)


def test_holm_multiplies_the_smallest_by_all_and_never_falls() -> None:
    assert holm([0.01, 0.04, None, 0.03]) == pytest.approx([0.03, 0.06, None, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0]
    assert holm([None]) == [None]
