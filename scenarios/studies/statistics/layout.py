"""The runs of a study as a block of numbers: metric x level x seed x place.

A *level* is what is compared: an arm, or with ``by`` all arms with the same value on that axis. The *place* of a run is
its arm's value on all other axes: runs of two levels are paired where seed and place are the same. Without ``by`` there
is one place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from attrs import frozen

from scenarios.errors import BadInput, did_you_mean
from scenarios.runs.dataset.arm import Arm
from scenarios.runs.dataset.record import DONE
from scenarios.studies.statistics.resampling import Array
from scenarios.studies.statistics.run_figures import RunFigures

Place = tuple[str, ...]


@frozen(kw_only=True)
class Layout:
    """The block.

    Attributes:
        by: the axes in which the levels differ.
        levels: names, the baseline first.
        values: [metric, level, seed, place]; NaN where there is no such run, or where the run has no such metric.
    """

    by: tuple[str, ...]
    levels: tuple[str, ...]
    metrics: tuple[str, ...]
    seeds: tuple[int, ...]
    values: Array

    def by_seed(self, metric: str, level: str) -> Array:
        """The value of each seed that has one, a mean over its places."""
        return _means(self.values[self.metrics.index(metric), self.levels.index(level)])

    def pairs(self, metric: str, level: str) -> tuple[Array, Array]:
        """The values of the baseline and of a level on the seeds that both have, each a mean over common places."""
        block = self.values[self.metrics.index(metric)]
        baseline, other = block[0], block[self.levels.index(level)]
        common = ~np.isnan(baseline) & ~np.isnan(other)
        return _means(np.where(common, baseline, np.nan)), _means(np.where(common, other, np.nan))


def _means(values: Array) -> Array:
    counts = np.count_nonzero(~np.isnan(values), axis=1)
    known = counts > 0
    means: Array = np.nansum(values[known], axis=1) / counts[known]
    return means


def axes_of(arms: Sequence[Arm]) -> tuple[str, ...]:
    """The axes on which arms differ, in the order of the arms' axes. An arm without a key has no value there."""
    axes = dict.fromkeys(axis for arm in arms for axis in arm.axes)
    return tuple(axis for axis in axes if len({place(arm, axis) for arm in arms}) > 1)


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
    """The block of all runs that have figures. ``baseline``: a level; by default that of the first run."""
    done = [run for run in runs if run.status == DONE]
    arms = tuple(dict.fromkeys(run.arm for run in runs))
    differing = axes_of(arms)
    others = [axis for axis in differing if axis != by]
    name = level_of(by)
    levels = list(dict.fromkeys(name(arm) for arm in arms))
    if baseline is not None:
        levels = [baseline, *(level for level in levels if level != baseline)]
    places: list[Place] = list(dict.fromkeys(_place(run, by, others) for run in done))
    seeds = tuple(sorted({run.seed for run in done}))
    values = np.full((len(metrics), len(levels), len(seeds), len(places)), np.nan)
    at_level, at_seed, at_place = (_places(names) for names in (levels, seeds, places))
    for run in done:
        where = at_level[name(run.arm)], at_seed[run.seed], at_place[_place(run, by, others)]
        values[:, *where] = [np.nan if (value := run.value(metric)) is None else value for metric in metrics]
    return Layout(
        by=differing if by is None else (by,), levels=tuple(levels), metrics=tuple(metrics), seeds=seeds, values=values
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
