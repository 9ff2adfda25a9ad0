"""How much each axis of a grid matters: an analysis of variance with the seeds as blocks, by statsmodels.

Only the seeds that every arm has are used. The design is balanced then: the axes explain the means of the arms, and the
shares of the axes, of their interactions in pairs, of the seeds and of the rest add up to 1.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd
from attrs import evolve
from scipy import stats  # type: ignore[import-untyped]
from statsmodels.formula.api import ols
from statsmodels.stats.anova import anova_lm

from scenarios.runs.dataset.arm import Arm
from scenarios.runs.dataset.run_record import DONE
from scenarios.studies.statistics.differences import holm
from scenarios.studies.statistics.layout import axes_of, place
from scenarios.studies.statistics.result import AxisEffect, Effects
from scenarios.studies.statistics.run_figures import RunFigures

_MOST_AXES = 6
"""With more, the pairs of axes are too many to read."""
_EQUAL = 1e-12
"""Shares below it are what is left of rounding."""


def effects(runs: Sequence[RunFigures], metrics: Sequence[str]) -> tuple[Effects, ...]:
    """The effects of the axes, for each metric that varies. None where the arms are not all combinations of the values
    of two axes or more."""
    arms = tuple(dict.fromkeys(run.arm for run in runs))
    axes = axes_of(arms)
    if not 2 <= len(axes) <= _MOST_AXES or len(arms) != np.prod([len({place(a, x) for a in arms}) for x in axes]):
        return ()
    by_arm: dict[Arm, dict[int, RunFigures]] = {arm: {} for arm in arms}
    for run in runs:
        if run.status == DONE:
            by_arm[run.arm][run.seed] = run
    found = [one for metric in metrics if (one := _of_metric(metric, by_arm, axes)) is not None]
    ps = holm([effect.p for one in found for effect in one.effects])
    adjusted = iter(ps)
    return tuple(
        evolve(one, effects=tuple(evolve(effect, p_adjusted=next(adjusted)) for effect in one.effects)) for one in found
    )


def _of_metric(metric: str, by_arm: Mapping[Arm, Mapping[int, RunFigures]], axes: Sequence[str]) -> Effects | None:
    having = [{seed for seed, run in by_seed.items() if run.value(metric) is not None} for by_seed in by_arm.values()]
    seeds = sorted(set.intersection(*having))
    if not seeds:
        return None
    values = np.array([[by_seed[seed].value(metric) for seed in seeds] for by_seed in by_arm.values()], dtype=float)
    total = float(np.square(values - values.mean()).sum())
    if total <= _EQUAL * float(np.square(values).sum()):
        return None
    names = [f"x{number}" for number in range(len(axes))]
    table = pd.DataFrame({"value": values.mean(axis=1)})
    for name, axis in zip(names, axes, strict=True):
        table[name] = [place(arm, axis) for arm in by_arm]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # two axes explain the arms' means wholly: nothing is left to test these with
        fitted = anova_lm(ols(f"value ~ ({' + '.join(names)}) ** 2", table).fit())
    squares = fitted["sum_sq"].drop("Residual") * len(seeds)
    between = float(np.square(values.mean(axis=0) - values.mean()).sum()) * len(by_arm) / total
    rest = max(0.0, 1 - between - float(squares.sum()) / total)
    rest_freedom = values.size - len(seeds) - float(fitted["df"].drop("Residual").sum())
    found = []
    for term in [*combinations(range(len(axes)), 1), *combinations(range(len(axes)), 2)]:
        name = ":".join(names[index] for index in term)
        share, freedom = max(0.0, float(squares[name])) / total, float(fitted["df"][name])
        p = None
        if rest > _EQUAL and rest_freedom > 0:
            p = float(stats.f.sf((share / freedom) / (rest / rest_freedom), freedom, rest_freedom))
        means = _means(axes[term[0]], values, list(by_arm)) if len(term) == 1 else {}
        found.append(
            AxisEffect(axes=tuple(axes[index] for index in term), share=share, p=p, p_adjusted=None, means=means)
        )
    return Effects(metric=metric, effects=tuple(found), seeds=between, rest=rest, runs=values.size)


def _means(axis: str, values: np.ndarray, arms: Sequence[Arm]) -> dict[str, float]:
    """The mean over the runs of each value of an axis."""
    at = [place(arm, axis) for arm in arms]
    return {one: float(values[[value == one for value in at]].mean()) for one in dict.fromkeys(at)}
