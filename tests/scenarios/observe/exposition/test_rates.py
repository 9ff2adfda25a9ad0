"""The rates and quantiles that Yammer's library computes from counts and durations."""

import math

import pytest

from scenarios.observe.exposition.rates import mean_rate, one_minute_rate, quantile

SECOND = 1_000_000


def test_the_first_tick_counts_whole_and_later_ones_by_their_weight() -> None:
    spans = [(0, 5 * SECOND, 50), (5 * SECOND, 10 * SECOND, 100)]
    alpha = 1 - math.exp(-5 / 60)
    assert one_minute_rate(spans, 0, 4 * SECOND) == 0
    assert one_minute_rate(spans, 0, 5 * SECOND) == 10
    assert one_minute_rate(spans, 0, 10 * SECOND) == pytest.approx(10 + alpha * 10)
    assert one_minute_rate(spans, 0, 15 * SECOND) == pytest.approx((10 + alpha * 10) * (1 - alpha))


def test_a_steady_rate_is_that_rate_however_rarely_it_was_written() -> None:
    each_second = [(t * SECOND, (t + 1) * SECOND, 2) for t in range(120)]
    each_minute = [(0, 60 * SECOND, 120), (60 * SECOND, 120 * SECOND, 120)]
    for spans in (each_second, each_minute):
        assert one_minute_rate(spans, 0, 120 * SECOND) == pytest.approx(2)


def test_ticks_begin_with_the_registration() -> None:
    spans = [(3 * SECOND, 4 * SECOND, 10)]
    assert one_minute_rate(spans, 3 * SECOND, 7 * SECOND) == 0
    assert one_minute_rate(spans, 3 * SECOND, 8 * SECOND) == 2


def test_what_was_counted_in_one_instant() -> None:
    assert one_minute_rate([(SECOND, SECOND, 5)], 0, 5 * SECOND) == 1


def test_mean_rate() -> None:
    assert mean_rate(10, SECOND, 6 * SECOND) == 2
    assert mean_rate(10, SECOND, SECOND) == 0


def test_quantiles_are_interpolated() -> None:
    assert quantile([], 0.5) == 0
    assert quantile([7.0], 0.99) == 7
    assert quantile([1.0, 2.0, 3.0], 0.5) == 2
    assert quantile([1.0, 2.0], 0.5) == 1.5
    assert quantile([1.0, 2.0, 3.0], 0.999) == 3
