"""Times to complete where some runs did not finish: such a run is a result, and its time is known from below.

Completion curves are Kaplan and Meier's, tests are log-rank, both SciPy's; the restricted mean is the area under the
curve of runs that have yet to finish, up to a time until which every level was observed. None of them averages over
finished runs alone.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence

import numpy as np
from attrs import evolve, frozen
from scipy import stats  # type: ignore[import-untyped]

from scenarios.studies.statistics.differences import holm
from scenarios.studies.statistics.result import CONFIDENCE, Completion, Completions


@frozen
class Times:
    """The times of one level's runs: of those that finished, and of those that were observed until their end."""

    finished_s: tuple[float, ...] = ()
    unfinished_s: tuple[float, ...] = ()

    @property
    def all_s(self) -> tuple[float, ...]:
        """Finished or not."""
        return (*self.finished_s, *self.unfinished_s)


def completions(levels: Mapping[str, Times], against: Mapping[str, str] | None = None) -> Completions | None:
    """The completion of all levels; None where no run had a move. ``against``: each level to the one that it is
    compared with; by default all with the first."""
    present = {name: times for name, times in levels.items() if times.all_s}
    if not present:
        return None
    horizon_s = common_horizon_s(list(present.values()))
    found = {name: _completion(times, horizon_s) for name, times in present.items()}
    first = next(iter(levels))
    against = against or {name: first for name in levels if name != first}
    ps = [_logrank(present.get(against[name]), times) if name in against else None for name, times in present.items()]
    return Completions(
        horizon_s=horizon_s,
        unfinished=any(times.unfinished_s for times in present.values()),
        levels={
            name: evolve(found[name], p=p, p_adjusted=adjusted)
            for name, p, adjusted in zip(present, ps, holm(ps), strict=True)
        },
    )


def common_horizon_s(levels: Sequence[Times]) -> float:
    """Up to when every level was observed. After its last run has finished a level is known for ever."""
    ends = [max(times.all_s) for times in levels]
    open_ends = [
        end for end, times in zip(ends, levels, strict=True) if times.unfinished_s and end == max(times.unfinished_s)
    ]
    return min(open_ends) if open_ends else max(ends)


def restricted_mean_s(times: Times, horizon_s: float) -> float:
    """The mean time to complete, each time counted up to the horizon: the area under the survival curve."""
    survival = stats.ecdf(_censored(times)).sf
    before = survival.quantiles < horizon_s
    edges = np.concatenate([[0.0], survival.quantiles[before], [horizon_s]])
    heights = np.concatenate([[1.0], survival.probabilities[before]])
    return float(np.sum(np.diff(edges) * heights))


def _completion(times: Times, horizon_s: float) -> Completion:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the interval is not defined where all runs, or none, have finished
        found = stats.ecdf(_censored(times)).cdf
        interval = found.confidence_interval(CONFIDENCE, method="log-log")
    finished = found.probabilities
    low, high = (np.where(np.isnan(end.probabilities), finished, end.probabilities) for end in interval)
    half = np.flatnonzero(finished >= 0.5)
    return Completion(
        times_s=tuple(map(float, found.quantiles)),
        finished=tuple(map(float, finished)),
        low=tuple(map(float, low)),
        high=tuple(map(float, high)),
        median_s=float(found.quantiles[half[0]]) if len(half) else None,
        restricted_mean_s=restricted_mean_s(times, horizon_s),
    )


def _logrank(baseline: Times | None, other: Times) -> float | None:
    if baseline is None or not (baseline.finished_s or other.finished_s):
        return None
    with np.errstate(divide="ignore", invalid="ignore"):
        p = float(stats.logrank(_censored(baseline), _censored(other)).pvalue)
    return p if np.isfinite(p) else None


def _censored(times: Times) -> stats.CensoredData:
    return stats.CensoredData(uncensored=list(times.finished_s), right=list(times.unfinished_s))
