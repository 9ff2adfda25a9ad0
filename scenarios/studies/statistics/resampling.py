"""Resampling of seeds, for many metrics at once: BCa intervals and tests by flipping signs, both SciPy's.

What is resampled is the seed, the same for all metrics, since a seed's figures belong together. A statistic is a
function of means over seeds, and the means of a resample are one row of a matrix product: how often each seed was
drawn, times the values. So SciPy draws the seeds once, and the cost of a further metric is that of its column.

Every call draws from a generator of its own with a fixed seed: the same values always give the same numbers.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
from scipy import stats  # type: ignore[import-untyped]

from scenarios.studies.statistics.result import CONFIDENCE

Array = npt.NDArray[np.float64]

RESAMPLES = 9_999
"""SciPy's default, and as many flips of signs: with up to 13 seeds all that there are, so that the test is exact."""
_FEWER = 1_999
"""The fewest resamples that BCa needs (Efron and Tibshirani, 1993, chapter 14), for tables too large for more."""
_LARGE = 500
"""Seeds, or columns, from which a table is."""
_SEED = 20_240_501
_ROUNDING = 1e-12
"""A statistic that differs by no larger share between resamples is the same in all of them."""
_BATCH_BYTES = 64 * 1024 * 1024


def resamples_for(values: Array) -> int:
    """How many resamples, or flips, are drawn for values with a row for each seed."""
    return RESAMPLES if max(values.shape) < _LARGE else _FEWER


def intervals(
    values: Array, statistic: Callable[[Array], Array], *, resamples: int | None = None
) -> tuple[Array, Array]:
    """The 95 % BCa intervals of statistics of means.

    Args:
        values: a row for each seed, a column for each value of it.
        statistic: from means (one or more rows of as many columns as ``values``) to as many rows of statistics.

    Returns: the lower and the upper ends. They enclose the statistic of ``values`` itself: where BCa, which corrects
        for skewness, would not, the interval is widened to it. An end is NaN where the bootstrap gives none.
    """
    seeds = len(values)
    resamples = resamples or resamples_for(values)

    def of_drawn(drawn: npt.NDArray[np.int64], axis: int = -1) -> Array:
        rows = drawn.reshape(-1, drawn.shape[axis])
        offsets = seeds * np.arange(len(rows), dtype=np.int64)[:, np.newaxis]
        times = np.bincount((rows + offsets).ravel(), minlength=seeds * len(rows)).reshape(len(rows), seeds)
        found = statistic(times.astype(np.float64) @ values / rows.shape[1])
        return np.moveaxis(found.reshape(*drawn.shape[:-1], found.shape[-1]), -1, 0)

    with warnings.catch_warnings(), np.errstate(divide="ignore", invalid="ignore"):
        warnings.simplefilter("ignore")  # a column without any spread warns and gives NaN
        drawn = stats.bootstrap(
            (np.arange(seeds),),
            of_drawn,
            n_resamples=resamples,
            batch=max(1, _BATCH_BYTES // (16 * seeds)),
            confidence_level=CONFIDENCE,
            method="BCa",
            vectorized=True,
            rng=np.random.default_rng(_SEED),
        )
        estimate = statistic(values.mean(axis=0, keepdims=True))[0]
        low, high = drawn.confidence_interval
        certain = np.ptp(drawn.bootstrap_distribution, axis=-1) <= _ROUNDING * np.abs(estimate)
        low, high = np.where(certain, estimate, low), np.where(certain, estimate, high)
        return np.minimum(low, estimate), np.maximum(high, estimate)


def flipped(values: Array, *, resamples: int | None = None) -> Array:
    """For each column the p of the hypothesis that its mean is 0 or less: of all ways to flip the signs of its values,
    the share with a mean as large as the one found (Fisher, 1935). It is exact where the values are symmetric about 0,
    as the differences of two equal arms are.

    Flips are drawn where there are too many to try all, which gives no p below 1 in as many. Where none of them has a
    mean as large, p can be below that, by Hoeffding's (1963) bound for a sum of values whose signs are random,
    exp(-(sum)^2 / 2 (sum of squares)), which is never smaller than the p of all flips.
    """
    seeds, columns = values.shape
    resamples = RESAMPLES if 2**seeds <= RESAMPLES else resamples or resamples_for(values)
    found = np.empty(columns)
    width = max(1, _BATCH_BYTES // (8 * resamples))
    for first in range(0, columns, width):
        block = values[:, first : first + width]

        def mean(signs: Array, axis: int = -1, block: Array = block) -> Array:
            means: Array = signs @ block / seeds
            return means

        found[first : first + width] = stats.permutation_test(
            (np.ones(seeds),),
            mean,
            permutation_type="samples",
            n_resamples=resamples,
            batch=max(1, _BATCH_BYTES // (16 * seeds)),
            vectorized=True,
            alternative="greater",
            rng=np.random.default_rng(_SEED),
        ).pvalue
    if 2**seeds <= resamples:
        return found
    total, squares = values.sum(axis=0), np.square(values).sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        bound = np.where(total > 0, np.exp(-np.square(total) / (2 * squares)), 1.0)
    finest = 1 / (resamples + 1)
    p: Array = np.where(found <= finest * (1 + _ROUNDING), np.minimum(found, bound), found)
    return p
