"""Rates and quantiles as Kafka's metrics library (Yammer 2.2) computes them from counts and durations."""

from __future__ import annotations

import math
from collections.abc import Sequence

TICK_US = 5_000_000
_ALPHA = 1 - math.exp(-5 / 60)
Counted = tuple[int, int, int]
"""A count: since, until, and the number of events in between, which count as spread evenly."""


def one_minute_rate(spans: Sequence[Counted], registered_us: int, at_us: int) -> float:
    """Events per second as Yammer's exponentially weighted moving average.

    Ticks are every five seconds from the registration on. At each tick the mean of the last five seconds enters with
    the weight 1 - e^(-5/60); at the first tick it is the rate.
    """
    rate, position = 0.0, 0
    for number, tick_us in enumerate(range(registered_us + TICK_US, at_us + 1, TICK_US)):
        while position < len(spans) and spans[position][1] <= tick_us - TICK_US:
            position += 1
        instant = _between(spans, position, tick_us - TICK_US, tick_us) / 5
        rate = instant if number == 0 else rate + _ALPHA * (instant - rate)
    return rate


def _between(spans: Sequence[Counted], position: int, from_us: int, to_us: int) -> float:
    total = 0.0
    while position < len(spans) and spans[position][0] <= to_us:
        since, until, count = spans[position]
        overlap = min(until, to_us) - max(since, from_us)
        total += count * overlap / (until - since) if until > since else count * (from_us < until <= to_us)
        position += 1
    return total


def mean_rate(count: int, registered_us: int, at_us: int) -> float:
    """Events per second since the registration."""
    return count * 1e6 / (at_us - registered_us) if at_us > registered_us else 0.0


def quantile(durations: Sequence[float], q: float) -> float:
    """The quantile of ``durations``, which ascend, as Yammer's snapshot interpolates it; 0 if there are none."""
    if not durations:
        return 0.0
    place = q * (len(durations) + 1)
    if place < 1:
        return durations[0]
    if place >= len(durations):
        return durations[-1]
    lower, upper = durations[int(place) - 1], durations[int(place)]
    return lower + (place - math.floor(place)) * (upper - lower)
