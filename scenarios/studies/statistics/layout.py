"""The runs of a study as a block of numbers: metric x level x seed x place.

A *level* is what is compared: an arm, or with ``by`` all arms with the same value on that axis. The *place* of a run is
its arm's value on all other axes: runs of two levels are paired where seed and place are the same. Without ``by`` there
is one place, and an arm is compared with the one that differs from it in a single axis.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np
from attrs import frozen

from scenarios.errors import BadInput, did_you_mean
from scenarios.runs.dataset.arm import PROFILE, STRATEGY, Arm
from scenarios.runs.dataset.run_record import DONE
from scenarios.studies.statistics.resampling import Array
from scenarios.studies.statistics.run_figures import RunFigures

Place = tuple[str, ...]


@frozen
class Reference:
    """The level that another level is compared with.

    Attributes:
        level: name of the level.
        axis: the single axis in which the two differ; None where there are several.
    """

    level: str
    axis: str | None


@frozen(kw_only=True)
class Layout:
    """The block.

    Attributes:
        by: the axes in which the levels differ, that of the question first.
        levels: names, the baseline first.
        references: each other level to the one that it is compared with.
        pooled: the axes of a place. places: their values.
        values: [metric, level, seed, place]; NaN where there is no such run, or where the run has no such metric.
    """

    by: tuple[str, ...]
    levels: tuple[str, ...]
    references: Mapping[str, Reference]
    metrics: tuple[str, ...]
    seeds: tuple[int, ...]
    pooled: tuple[str, ...]
    places: tuple[Place, ...]
    values: Array

    def of(self, metric: str, level: str) -> Array:
        """[seed, place]."""
        found: Array = self.values[self.metrics.index(metric), self.levels.index(level)]
        return found

    def both(self, metric: str, level: str) -> tuple[Array, Array]:
        """[seed, place] of the reference and of a level; NaN where either has no value."""
        reference, other = self.of(metric, self.references[level].level), self.of(metric, level)
        common = ~np.isnan(reference) & ~np.isnan(other)
        return np.where(common, reference, np.nan), np.where(common, other, np.nan)


def by_seed(values: Array) -> Array:
    """The value of each seed that has one, a mean over its places."""
    counts = np.count_nonzero(~np.isnan(values), axis=1)
    known = counts > 0
    means: Array = np.nansum(values[known], axis=1) / counts[known]
    return means


def axes_of(arms: Sequence[Arm]) -> tuple[str, ...]:
    """The axes on which arms differ, in the order of the arms' axes. An arm without a key has no value there."""
    axes = dict.fromkeys(axis for arm in arms for axis in arm.axes)
    return tuple(axis for axis in axes if len({place(arm, axis) for arm in arms}) > 1)


def question_axes(arms: Sequence[Arm]) -> tuple[str, ...]:
    """The axes on which arms differ, the question's first: the strategies where there are several, then what the grid
    sets, then the releases."""
    return tuple(sorted(axes_of(arms), key=lambda axis: {STRATEGY: 0, PROFILE: 2}.get(axis, 1)))


def like_with_like(arms: Sequence[Arm], first: Arm) -> dict[str, Reference]:
    """Each other arm's name to the arm that has the first one's value on one axis and the same on all others: the
    question's axis where the two differ on it. An arm without such a one is compared with the first."""
    axes = question_axes(arms)
    names = {tuple(place(arm, axis) for axis in axes): arm.name for arm in arms}
    base = tuple(place(first, axis) for axis in axes)
    found = {}
    for point, name in names.items():
        if point != base:
            nearer = ((axis, (*point[:at], base[at], *point[at + 1 :])) for at, axis in enumerate(axes))
            alike = [Reference(names[other], axis) for axis, other in nearer if other != point and other in names]
            found[name] = alike[0] if alike else Reference(first.name, None)
    return found


def place(arm: Arm, axis: str) -> str:
    """An arm's value on an axis; empty where it has none."""
    return arm.value_of(axis) if axis in arm.axes else ""


def check_axis(axis: str, arms: Sequence[Arm], option: str) -> str:
    """Raises: BadInput for an axis that no arm has."""
    axes = tuple(dict.fromkeys(axis for arm in arms for axis in arm.axes))
    if axis not in axes:
        raise BadInput(f"unknown axis {axis!r}; {did_you_mean(axis, axes)}", where=option)
    return axis


def level_of(by: str | None) -> Callable[[Arm], str]:
    """From an arm to the name of its level."""
    return (lambda arm: arm.name) if by is None else (lambda arm: place(arm, by) or "none")


def laid_out(
    runs: Sequence[RunFigures], metrics: Sequence[str], *, by: str | None = None, baseline: str | None = None
) -> Layout:
    """The block of all runs that have figures. ``baseline``: a level with which all others are compared."""
    done = [run for run in runs if run.status == DONE]
    arms = tuple(dict.fromkeys(run.arm for run in runs))
    others = [axis for axis in axes_of(arms) if axis != by]
    name = level_of(by)
    levels = list(dict.fromkeys(name(arm) for arm in arms))
    if baseline is not None:
        levels = [baseline, *(level for level in levels if level != baseline)]
    if by is None and baseline is None:
        references = like_with_like(arms, arms[0])
    else:
        axes = question_axes(arms)
        axis = axes[0] if by is None and len(axes) == 1 else by
        references = {level: Reference(levels[0], axis) for level in levels[1:]}
    places: list[Place] = list(dict.fromkeys(_place(run, by, others) for run in done))
    seeds = tuple(sorted({run.seed for run in done}))
    values = np.full((len(metrics), len(levels), len(seeds), len(places)), np.nan)
    at_level, at_seed, at_place = (_places(names) for names in (levels, seeds, places))
    for run in done:
        where = at_level[name(run.arm)], at_seed[run.seed], at_place[_place(run, by, others)]
        values[:, *where] = [np.nan if (value := run.value(metric)) is None else value for metric in metrics]
    return Layout(
        by=question_axes(arms) if by is None else (by,),
        levels=tuple(levels),
        references=references,
        metrics=tuple(metrics),
        seeds=seeds,
        pooled=() if by is None else tuple(others),
        places=tuple(places),
        values=values,
    )


def _place(run: RunFigures, by: str | None, others: Sequence[str]) -> Place:
    return () if by is None else tuple(place(run.arm, axis) for axis in others)


def _places(names: Sequence[object]) -> dict[object, int]:
    return {name: index for index, name in enumerate(names)}


def cells(layout: Layout) -> Iterator[tuple[str, str]]:
    """Every metric with every level but the baseline, in order."""
    for metric in layout.metrics:
        for level in layout.levels[1:]:
            yield metric, level
