"""Exact weighted percentiles, defined as Spark defines ``percentile(column, array, frequency)``.

A value with frequency n is n times in the sorted list; the percentile q lies at place ``(N - 1) · q``, between two
neighbours by linear interpolation. The arithmetic is that of Spark's ``Percentile``, operation by operation, so that a
figure computed during the run is bit for bit the one that Spark computes from the tables.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from itertools import accumulate

from scenarios.observe.measures.figure import QUANTILES


def weighted_percentiles(weights: Mapping[int, int], quantiles: Sequence[float]) -> list[float | None]:
    """The percentiles of the values in ``weights`` (value -> how often), each None when nothing has weight."""
    values = sorted(value for value, weight in weights.items() if weight > 0)
    if not values:
        return [None] * len(quantiles)
    ends = list(accumulate(weights[value] for value in values))
    return [_at(values, ends, (ends[-1] - 1) * q) for q in quantiles]


def lag_figures(stem: str, held_us: Mapping[int, int]) -> dict[str, int | float | None]:
    """The figures that ``percentiles(stem)`` declares, of a lag that had each value for the given number of
    microseconds."""
    p50, p95, p99 = weighted_percentiles(held_us, QUANTILES)
    return {f"{stem}_p50": p50, f"{stem}_p95": p95, f"{stem}_p99": p99, f"{stem}_max": max(held_us, default=None)}


def _at(values: Sequence[int], ends: Sequence[int], place: float) -> float:
    lower, upper = math.floor(place), math.ceil(place)
    low = values[bisect_left(ends, lower + 1)]
    high = values[bisect_left(ends, upper + 1)]
    if low == high:
        return float(low)
    return low + (high - low) * (place - lower)
