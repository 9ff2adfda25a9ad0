"""Two strategies run on the same seeds: how large the difference is, and how certain.

The estimate is the median of the differences seed by seed, with the 95 % interval of the BCa bootstrap
(Efron, 1987); the test is Wilcoxon's signed-rank test, two-sided; the p values of one table are adjusted after Holm.
The bootstrap draws from a fixed seed of its own, so that the same data set always prints the same table.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence

import numpy as np
from attrs import frozen
from scipy import stats  # type: ignore[import-untyped]

CONFIDENCE = 0.95
RESAMPLES = 9999
FEW_SEEDS = 10
"""Below this many pairs a table warns: intervals and tests say little."""
_BOOTSTRAP_SEED = 20_240_501


@frozen
class Difference:
    """``b - a`` over the pairs.

    Attributes:
        pairs: the seeds that both have.
        median: the median paired difference.
        low, high: its 95 % interval; None with fewer than two pairs.
        p: Wilcoxon's two-sided p; 1.0 when no pair differs, None with no pair.
        method: of the interval: ``BCa``; ``percentile`` where BCa is undefined; ``none``.
    """

    pairs: int
    median: float | None
    low: float | None
    high: float | None
    p: float | None
    method: str


def paired_difference(a: Sequence[float], b: Sequence[float]) -> Difference:
    """The change from ``a`` to ``b``; items with the same index were run on the same seed."""
    if len(a) != len(b):
        raise ValueError(f"{len(a)} values against {len(b)}: pairs need as many of each")
    differences = np.asarray(b, dtype=float) - np.asarray(a, dtype=float)
    if not len(differences):
        return Difference(0, None, None, None, None, "none")
    median = float(np.median(differences))
    low, high, method = _interval(differences)
    return Difference(len(differences), median, low, high, _wilcoxon(differences), method)


def median_interval(values: Sequence[float]) -> tuple[float | None, float | None, float | None]:
    """The median of one sample and its 95 % interval; None where there are too few values."""
    if not values:
        return None, None, None
    sample = np.asarray(values, dtype=float)
    low, high, _ = _interval(sample)
    return float(np.median(sample)), low, high


def holm(ps: Sequence[float | None]) -> list[float | None]:
    """The p values of tests that are read together, adjusted after Holm; None stays None and does not count."""
    known = sorted((p, index) for index, p in enumerate(ps) if p is not None)
    adjusted: list[float | None] = [None] * len(ps)
    largest = 0.0
    for rank, (p, index) in enumerate(known):
        largest = max(largest, min(1.0, p * (len(known) - rank)))
        adjusted[index] = largest
    return adjusted


def _interval(sample: np.ndarray) -> tuple[float | None, float | None, str]:
    if len(sample) < 2:
        return None, None, "none"
    if np.all(sample == sample[0]):
        return float(sample[0]), float(sample[0]), "BCa"
    for method in ("BCa", "percentile"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a degenerate BCa warns and gives NaN; then the next method is used
            found = stats.bootstrap(
                (sample,),
                np.median,
                n_resamples=RESAMPLES,
                confidence_level=CONFIDENCE,
                method=method,
                rng=np.random.default_rng(_BOOTSTRAP_SEED),
                vectorized=True,
            ).confidence_interval
        if math.isfinite(found.low) and math.isfinite(found.high):
            return float(found.low), float(found.high), method
    return None, None, "none"


def _wilcoxon(differences: np.ndarray) -> float:
    if not np.any(differences):
        return 1.0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # ties and few pairs: the table has its own warning
        return float(stats.wilcoxon(differences).pvalue)
