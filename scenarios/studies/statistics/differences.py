"""Differences paired by seed: how large, how sure, and what to call them.

The estimate is the mean of the differences seed by seed. Harm adds up over runs, so a loss on one seed in ten counts
with its size, where a median would say 0; and the mean is what the bootstrap, the test and the restricted mean of
unfinished runs are all about. docs/understand/statistics.md gives the reasons and the sources.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from attrs import evolve, frozen
from scipy import stats  # type: ignore[import-untyped]

from scenarios.observe.measures.figure import Better
from scenarios.studies.statistics.resampling import RESAMPLES, Array, flipped, intervals
from scenarios.studies.statistics.result import (
    CONFIDENCE,
    FEWEST_PAIRS,
    SIGNIFICANT,
    Interval,
    MetricDifference,
    MetricVerdict,
)

POWER = 0.8
"""How often the promised number of seeds settles what it is promised for."""
NORMAL = float(stats.norm.ppf((1 + CONFIDENCE) / 2))
"""Half of an interval, in standard errors that are known."""
_MOST_SEEDS = 1_000_000
_FAR_BELOW = 100
_WITHIN_MINIMUM = 10


@frozen(kw_only=True)
class Pairs:
    """The values of one metric in two levels; items with the same index belong to the same seed.

    Attributes:
        minimum: the smallest difference that matters.
        better: which of two values is the better one.
        grain: the smallest step of the metric: 1 for what is counted, a microsecond for times.
        error: the standard error of the difference of the means that all seeds have in common, as sampled runs have it.
    """

    baseline: Sequence[float]
    other: Sequence[float]
    minimum: float
    better: Better = Better.LOWER
    grain: float = 0.0
    error: float = 0.0


def compare_pairs(
    cells: Sequence[Pairs], *, together: bool = True, resamples: int | None = None
) -> list[MetricDifference]:
    """The differences of a table's cells; Holm's correction is over all of them that need a test.

    Args:
        together: whether they are read together; if not, p is of each one's test alone.
        resamples: fewer than usual, for studies of this function itself.
    """
    found: list[MetricDifference] = [_nothing(cell) for cell in cells]
    by_length: dict[int, list[int]] = {}
    for index, cell in enumerate(cells):
        if len(cell.baseline) != len(cell.other):
            raise ValueError(f"{len(cell.baseline)} values against {len(cell.other)}: pairs need as many of each")
        by_length.setdefault(len(cell.baseline), []).append(index)
    for seeds, indices in by_length.items():
        if seeds:
            computed = _of_one_length([cells[index] for index in indices], resamples)
            for index, difference in zip(indices, computed, strict=True):
                found[index] = difference
    alone = [difference.p for difference in found]
    adjusted = holm(alone) if together else alone
    tests = sum(p is not None for p in adjusted) if together else 1
    return [
        _settled(evolve(difference, p_adjusted=p), cell, tests)
        for difference, p, cell in zip(found, adjusted, cells, strict=True)
    ]


def holm(ps: Sequence[float | None]) -> list[float | None]:
    """The p values of tests that are read together, adjusted after Holm; None stays None and does not count. The
    smallest is multiplied by the number of tests, the next by one less and so on, and none falls below the one before.

    Not statsmodels' ``multipletests``, which gives the same, as a test holds: to import it takes longer than most
    comparisons."""
    tested = [index for index, p in enumerate(ps) if p is not None]
    values = np.array([p for p in ps if p is not None], dtype=float)
    order = np.argsort(values, kind="stable")
    stepped = np.maximum.accumulate(values[order] * np.arange(len(values), 0, -1))
    adjusted: list[float | None] = [None] * len(ps)
    for place, p in zip(order.tolist(), np.minimum(stepped, 1.0).tolist(), strict=True):
        adjusted[tested[place]] = p
    return adjusted


def _nothing(cell: Pairs) -> MetricDifference:
    return MetricDifference(
        pairs=0, mean=None, interval=None, relative=None, relative_interval=None, median=None, higher=0, lower=0,
        equal=0, dominance=None, dominance_interval=None, minimum=cell.minimum, p=None, p_adjusted=None, pairing=None,
        verdict=MetricVerdict.UNKNOWN, seeds_needed=None, deterministic=False,
    )  # fmt: skip


def _of_one_length(cells: Sequence[Pairs], resamples: int | None) -> list[MetricDifference]:
    """Everything but what depends on the other tests of the table: cells with equally many seeds."""
    baseline = np.array([cell.baseline for cell in cells], dtype=float).T
    other = np.array([cell.other for cell in cells], dtype=float).T
    difference = other - baseline
    minimum = np.array([cell.minimum for cell in cells])
    mean, base_mean = difference.mean(axis=0), baseline.mean(axis=0)
    signs = np.sign(difference)
    relative = np.divide(mean, np.abs(base_mean), out=np.full(len(cells), np.nan), where=base_mean != 0)
    common = NORMAL * np.array([cell.error for cell in cells])
    lows, highs = _intervals(difference, baseline, signs, resamples)
    _widen(lows, highs, mean, relative, common)
    p = _superiority(difference, mean, minimum + common, resamples)
    found = []
    for i, cell in enumerate(cells):
        counts = [int(np.count_nonzero(signs[:, i] == sign)) for sign in (1, -1, 0)]
        found.append(
            evolve(
                _nothing(cell),
                pairs=len(difference),
                mean=float(mean[i]),
                interval=_interval(lows[0, i], highs[0, i]),
                relative=None if np.isnan(relative[i]) else float(relative[i]),
                relative_interval=None if np.isnan(relative[i]) else _interval(lows[1, i], highs[1, i]),
                median=float(np.median(difference[:, i])),
                higher=counts[0],
                lower=counts[1],
                equal=counts[2],
                dominance=float(signs[:, i].mean()),
                dominance_interval=_dominance_interval(counts, lows[2, i], highs[2, i]),
                p=None if counts[2] == len(difference) else float(p[i]),
                pairing=_pairing(baseline[:, i], other[:, i], difference[:, i]),
                deterministic=_deterministic(baseline[:, i], other[:, i], mean[i], cell),
            )
        )
    return found


def _widen(lows: Array, highs: Array, mean: Array, relative: Array, common: Array) -> None:
    """Let the intervals of the mean and of the relative difference include what all seeds have in common: half of an
    interval is the root of the squares of both halves."""
    shares = np.divide(common * np.abs(relative), np.abs(mean), out=np.zeros_like(common), where=mean != 0)
    for row, centre, half in ((0, mean, common), (1, relative, shares)):
        wide = half > 0
        lows[row, wide] = (centre - np.hypot(centre - lows[row], half))[wide]
        highs[row, wide] = (centre + np.hypot(highs[row] - centre, half))[wide]


def _intervals(difference: Array, baseline: Array, signs: Array, resamples: int | None) -> tuple[Array, Array]:
    """The ends of the intervals of the mean difference, of the relative one and of the signs' mean, a row each."""
    cells = difference.shape[1]
    if len(difference) < FEWEST_PAIRS:
        return np.full((3, cells), np.nan), np.full((3, cells), np.nan)

    def statistics(means: Array) -> Array:
        of_difference, of_baseline, of_signs = np.split(means, 3, axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.hstack([of_difference, of_difference / np.abs(of_baseline), of_signs])

    lows, highs = intervals(np.hstack([difference, baseline, signs]), statistics, resamples=resamples)
    return lows.reshape(3, cells), highs.reshape(3, cells)


def _interval(low: float, high: float) -> Interval | None:
    return None if np.isnan(low) or np.isnan(high) else Interval(float(low), float(high))


def _dominance_interval(counts: Sequence[int], low: float, high: float) -> Interval | None:
    """BCa; where all seeds have the same sign, and so no resample another, Clopper and Pearson's of that share."""
    seeds = sum(counts)
    if seeds < FEWEST_PAIRS:
        return None
    for sign, count in zip((1, -1), counts, strict=False):
        if count == seeds:
            least = float(stats.binomtest(seeds, seeds).proportion_ci(CONFIDENCE).low)
            ends = sorted((sign * 1.0, sign * (2 * least - 1)))
            return Interval(*ends)
    if counts[2] == seeds:
        return Interval(0.0, 0.0)
    return _interval(low, high)


def _superiority(difference: Array, mean: Array, minimum: Array, resamples: int | None) -> Array:
    """Two-sided p of the hypothesis that the true difference is at most the minimum, either way."""
    p = np.ones(len(mean))
    larger = np.abs(mean) > minimum
    if len(difference) > 1 and larger.any():
        beyond = difference[:, larger] * np.sign(mean[larger]) - minimum[larger]
        p[larger] = np.minimum(1.0, 2 * flipped(beyond, resamples=resamples))
    return p


def _pairing(baseline: Array, other: Array, difference: Array) -> float | None:
    """How many times as large the variance would be without pairing."""
    if len(difference) < 2:
        return None
    paired = float(np.var(difference, ddof=1))
    apart = float(np.var(baseline, ddof=1) + np.var(other, ddof=1))
    return apart / paired if paired > 0 else None


def _deterministic(baseline: Array, other: Array, mean: float, cell: Pairs) -> bool:
    """Whether the spread is smaller than the metric's resolution, or negligible against the difference."""
    spread = max(float(np.std(baseline)), float(np.std(other)))
    if cell.error or len(baseline) < FEWEST_PAIRS or (spread == 0 and mean == 0):
        return False
    return bool(spread < max(cell.grain, abs(mean) / _FAR_BELOW, cell.minimum / _WITHIN_MINIMUM))


# -- what to call it -------------------------------------------------------------------------------------------------


def _settled(difference: MetricDifference, cell: Pairs, tests: int) -> MetricDifference:
    verdict = _verdict(difference, cell.better)
    needed = _seeds_that_settle(difference, cell, max(1, tests)) if verdict is MetricVerdict.UNKNOWN else None
    return evolve(difference, verdict=verdict, seeds_needed=needed)


def _seeds_that_settle(difference: MetricDifference, cell: Pairs, tests: int) -> int | None:
    """About how many seeds would settle what is not known. None where no number would: the difference is no larger
    than what all seeds may be wrong by together."""
    values = np.asarray(cell.other, dtype=float) - np.asarray(cell.baseline, dtype=float)
    if len(values) < 2:
        return None
    common = NORMAL * cell.error
    beyond = abs(difference.mean or 0.0) - cell.minimum - common
    if common and beyond <= 0:
        return None
    needed = None if common else seeds_needed(values, cell.minimum, tests)
    if needed is None or needed <= len(values):  # so many did not: tell what was measured from the minimum
        needed = _seeds_for(abs(beyond), values, tests)
    return None if needed is None or needed <= len(values) else needed


def _verdict(difference: MetricDifference, better: Better) -> MetricVerdict:
    interval, minimum = difference.interval, difference.minimum
    if interval is None or difference.mean is None:
        return MetricVerdict.UNKNOWN
    if -minimum <= interval.low and interval.high <= minimum:
        return MetricVerdict.SAME
    sure = difference.p_adjusted is not None and difference.p_adjusted < SIGNIFICANT
    beyond = interval.low > minimum or interval.high < -minimum
    if not (sure and beyond):
        return MetricVerdict.UNKNOWN
    higher = difference.mean > 0
    if better is Better.NEITHER:
        return MetricVerdict.HIGHER if higher else MetricVerdict.LOWER
    return MetricVerdict.BETTER if higher is (better is Better.HIGHER) else MetricVerdict.WORSE


def seeds_needed(differences: npt.ArrayLike, minimum: float, tests: int) -> int | None:
    """About how many seeds find a difference of twice the minimum, or of the size measured if that is larger, in
    ``POWER`` of all studies with as many tests; by the normal approximation, with Guenther's (1981) correction for
    Student's t. None where nothing can be told: one seed, or no difference that is too small to matter.
    """
    values = np.asarray(differences, dtype=float)
    if len(values) < 2:
        return None
    return _seeds_for(max(abs(float(values.mean())) - minimum, minimum), values, tests)


def _seeds_for(gap: float, values: Array, tests: int) -> int | None:
    """About how many seeds tell means that lie ``gap`` apart, where seeds spread as ``values`` do."""
    if gap <= 0:
        return None
    z = float(stats.norm.isf(SIGNIFICANT / (2 * tests)))
    needed = ((z + float(stats.norm.ppf(POWER))) * float(values.std(ddof=1)) / gap) ** 2 + z**2 / 2
    return int(min(_MOST_SEEDS, max(np.ceil(needed), fewest_seeds(tests))))


def fewest_seeds(tests: int) -> int:
    """With fewer seeds none of as many tests can make a finding: no p is that small, of all flips of the signs, or,
    beyond what is drawn of them, of the bound on it."""
    level = SIGNIFICANT / (2 * tests)
    return int(np.ceil(np.log2(1 / level) if 1 / level < RESAMPLES else 2 * np.log(1 / level)))
