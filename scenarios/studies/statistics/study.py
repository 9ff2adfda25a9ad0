"""From the figures of a study's runs to what can be said of them: a ``Comparison``.

Pure functions: no Spark, no files. Spark, the runs' own accounts and tests all bring a list of ``RunFigures``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from attrs import evolve, frozen
from scipy import stats  # type: ignore[import-untyped]

from scenarios.errors import BadInput, did_you_mean
from scenarios.observe.measures.figure import Better, Compared, Figure
from scenarios.observe.measures.figures import declared
from scenarios.observe.measures.minimum import Minimum
from scenarios.runs.dataset.arm import Arm
from scenarios.runs.dataset.record import DONE
from scenarios.studies.statistics.censored import Times, completions
from scenarios.studies.statistics.differences import Pairs, compare_pairs
from scenarios.studies.statistics.doubts import doubts
from scenarios.studies.statistics.front import front
from scenarios.studies.statistics.layout import Layout, axes_of, cells, check_axis, laid_out, level_of, place
from scenarios.studies.statistics.resampling import Array
from scenarios.studies.statistics.result import (
    CONFIDENCE,
    Comparison,
    Completions,
    Difference,
    Effects,
    Front,
    Interval,
    Level,
    Row,
    Sample,
)
from scenarios.studies.statistics.run_figures import TIME_TO_COMPLETE, RunFigures
from scenarios.studies.statistics.sentences import headlines, told

ALL = "all"
"""In place of metrics: all that are compared."""
OBJECTIVES = (TIME_TO_COMPLETE, "under_min_isr_s", "produce_p99_ms", "extra_replica_s")
"""Of the Pareto front, where no metrics are named: speed, risk, harm to clients and cost."""


@frozen(kw_only=True)
class Asked:
    """What a comparison is asked for.

    Attributes:
        by: the axis whose values are compared; None: every arm with the first.
        where: only arms with these values: axis and value.
        metrics: only these; ``all``, or none: all that are compared.
        baseline: the level that the others are compared with; None: the first.
        minimum: the smallest difference that matters; None: 1 % of the larger mean.
    """

    by: str | None = None
    where: tuple[tuple[str, str], ...] = ()
    metrics: tuple[str, ...] = ()
    baseline: str | None = None
    minimum: Minimum | None = None


def compared(*, consumers: bool) -> list[str]:
    """The metrics that are rows of the table, in its order; those of consumers last, where there are any."""
    wanted = (Compared.YES, Compared.WITH_CONSUMERS) if consumers else (Compared.YES,)
    return [figure.metric for kind in wanted for figure in declared().values() if figure.compared is kind]


def compare_runs(
    runs: Sequence[RunFigures],
    *,
    title: str = "",
    planned: Mapping[Arm, int] | None = None,
    asked: Asked | None = None,
) -> Comparison:
    """The comparison of runs that are in the order of their arms (``in_order``).

    Args:
        planned: how many runs each arm was to have; by default those that are there.

    Raises: BadInput for an axis, a value, a metric or a baseline that is not there, and for no run at all.
    """
    asked = asked or Asked()
    minimum = asked.minimum or Minimum()
    chosen = selected(runs, asked)
    asked = evolve(asked, metrics=() if ALL in asked.metrics else asked.metrics)
    figures = _figures(chosen, asked.metrics)
    layout = laid_out(chosen, list(figures), by=asked.by, baseline=asked.baseline)
    _check_common_seeds(layout)
    levels = _levels(layout, chosen, asked.by)
    finished = completions(_times(layout, chosen, asked.by))
    layout = _restricted(layout, finished)
    rows = _rows(layout, figures, minimum, _unfinished(chosen, asked.by))
    places = told(rows)
    best = _front(layout, figures, asked.metrics, minimum)
    return Comparison(
        title=title,
        by=layout.by,
        levels=levels,
        minimum=str(minimum),
        rows=rows,
        told=places,
        completions=finished,
        effects=_effects(chosen, list(figures)),
        front=best,
        headlines=headlines(rows, levels, places, best, str(minimum)),
        doubts=doubts(
            rows,
            levels,
            finished,
            chosen,
            {arm: runs for arm, runs in (planned or {}).items() if _is_asked(arm, asked.where)},
        ),
        runs=tuple(chosen),
    )


# -- what is asked for -----------------------------------------------------------------------------------------------


def check_asked(asked: Asked, arms: Sequence[Arm]) -> None:
    """Raises: BadInput for an axis, a value, a metric or a baseline that these arms have not."""
    if asked.by is not None:
        check_axis(asked.by, arms, "--by")
    for axis, value in asked.where:
        check_axis(axis, arms, "--where")
        values = list(dict.fromkeys(place(arm, axis) for arm in arms))
        if value not in values:
            raise BadInput(f"no arm has {axis} {value!r}; {did_you_mean(value, values)}", where="--where")
    levels = list(dict.fromkeys(map(level_of(asked.by), (arm for arm in arms if _is_asked(arm, asked.where)))))
    if asked.baseline is not None and levels and asked.baseline not in levels:
        what = f"unknown baseline {asked.baseline!r}; {did_you_mean(asked.baseline, levels)}"
        raise BadInput(what, where="--baseline")
    known = [figure.metric for figure in declared().values()]
    for name in asked.metrics:
        if name not in (ALL, *known):
            raise BadInput(f"unknown metric {name!r}; {did_you_mean(name, known)}", where="--metric")


def selected(runs: Sequence[RunFigures], asked: Asked) -> list[RunFigures]:
    """The runs of the arms that are asked for. Raises: BadInput where none is left."""
    check_asked(asked, list(dict.fromkeys(run.arm for run in runs)))
    found = [run for run in runs if _is_asked(run.arm, asked.where)]
    if not any(run.status == DONE for run in found):
        what = "no run has figures" if found else "no arm is left"
        raise BadInput(f"{what}; there is nothing to compare", where="--where" if asked.where else "")
    return found


def _is_asked(arm: Arm, where: Sequence[tuple[str, str]]) -> bool:
    wanted: dict[str, list[str]] = {}
    for axis, value in where:
        wanted.setdefault(axis, []).append(value)
    return all(place(arm, axis) in values for axis, values in wanted.items())


def _figures(runs: Sequence[RunFigures], names: Sequence[str]) -> dict[str, Figure]:
    """The figures of the rows, by metric."""
    by_metric = {figure.metric: figure for figure in declared().values()}
    if names:
        return {name: by_metric[name] for name in dict.fromkeys(names)}
    consumers = any(run.metrics.get("consumed_messages") for run in runs)
    return {name: by_metric[name] for name in compared(consumers=consumers)}


def _check_common_seeds(layout: Layout) -> None:
    """Raises: BadInput where the baseline shares no seed with any other level."""
    known = ~np.all(np.isnan(layout.values), axis=0)
    if len(layout.levels) > 1 and not np.any(known[0] & known[1:]):
        raise BadInput(
            f"no seed is in {layout.levels[0]!r} and in another arm too; run the same seeds in each, such as 0:20"
        )


# -- levels and times ------------------------------------------------------------------------------------------------


def _by_level(runs: Sequence[RunFigures], by: str | None) -> dict[str, list[RunFigures]]:
    name = level_of(by)
    found: dict[str, list[RunFigures]] = {}
    for run in runs:
        found.setdefault(name(run.arm), []).append(run)
    return found


def _levels(layout: Layout, runs: Sequence[RunFigures], by: str | None) -> tuple[Level, ...]:
    of_level = _by_level(runs, by)
    return tuple(_level(name, of_level[name]) for name in layout.levels)


def _level(name: str, runs: Sequence[RunFigures]) -> Level:
    done = [run for run in runs if run.status == DONE]
    arms = list(dict.fromkeys(run.arm for run in runs))
    differing = axes_of(arms)
    return Level(
        name=name,
        arms=tuple(arm.name for arm in arms),
        values={axis: arms[0].value_of(axis) for axis in arms[0].axes if axis not in differing},
        runs=len(done),
        seeds=len({run.seed for run in done}),
        moved=sum(run.completed is not None for run in done),
        finished=sum(run.completed is True for run in done),
        failed=len(runs) - len(done),
    )


def _times(layout: Layout, runs: Sequence[RunFigures], by: str | None) -> dict[str, Times]:
    of_level = _by_level(runs, by)
    return {name: _times_of(of_level[name]) for name in layout.levels}


def _times_of(runs: Sequence[RunFigures]) -> Times:
    moved = [(run.completed, run.observed_s) for run in runs if run.status == DONE and run.completed is not None]
    known = [(completed, observed_s) for completed, observed_s in moved if observed_s is not None]
    return Times(
        tuple(observed_s for completed, observed_s in known if completed),
        tuple(observed_s for completed, observed_s in known if not completed),
    )


def _unfinished(runs: Sequence[RunFigures], by: str | None) -> dict[str, int]:
    return {name: sum(run.completed is False for run in of_level) for name, of_level in _by_level(runs, by).items()}


def _restricted(layout: Layout, finished: Completions | None) -> Layout:
    """Times to complete count up to the common horizon, as the restricted mean counts them."""
    if finished is None or TIME_TO_COMPLETE not in layout.metrics or not finished.unfinished:
        return layout
    values = layout.values.copy()
    at = layout.metrics.index(TIME_TO_COMPLETE)
    values[at] = np.minimum(values[at], finished.horizon_s)
    return evolve(layout, values=values)


# -- rows ------------------------------------------------------------------------------------------------------------


def _rows(
    layout: Layout, figures: Mapping[str, Figure], minimum: Minimum, unfinished: Mapping[str, int]
) -> tuple[Row, ...]:
    pairs = [_pairs(layout, figures[metric], level, minimum) for metric, level in cells(layout)]
    differences: dict[tuple[str, str], Difference] = dict(zip(cells(layout), compare_pairs(pairs), strict=True))
    ranks: dict[int, tuple[int, int] | None] = {}
    return tuple(
        Row(
            metric=metric,
            text=figure.text,
            unit=figure.unit,
            better=figure.better,
            samples={
                level: _sample(
                    layout.by_seed(metric, level), unfinished[level] if metric == TIME_TO_COMPLETE else 0, ranks
                )
                for level in layout.levels
            },
            differences={level: differences[metric, level] for level in layout.levels[1:]},
        )
        for metric, figure in figures.items()
    )


def _pairs(layout: Layout, figure: Figure, level: str, minimum: Minimum) -> Pairs:
    baseline, other = layout.pairs(figure.metric, level)
    means = (float(baseline.mean()), float(other.mean())) if len(baseline) else (0.0, 0.0)
    return Pairs(
        baseline=baseline.tolist(),
        other=other.tolist(),
        minimum=minimum.of(figure.unit, *means),
        better=figure.better,
        grain=float(figure.readable(1) or 0.0),
    )


def _sample(values: Array, censored: int, ranks: dict[int, tuple[int, int] | None]) -> Sample:
    """``ranks``: by number of values, the places of the ends of the median's interval among the sorted values."""
    count = len(values)
    if not count:
        return Sample(
            seeds=0, mean=None, median=None, median_interval=None, smallest=None, largest=None, spread=None,
            censored=censored,
        )  # fmt: skip
    if count not in ranks:
        ranks[count] = _median_ranks(count)
    ends, ordered = ranks[count], np.sort(values)
    return Sample(
        seeds=count,
        mean=float(values.mean()),
        median=float(np.median(values)),
        median_interval=None if ends is None else Interval(float(ordered[ends[0]]), float(ordered[ends[1]])),
        smallest=float(ordered[0]),
        largest=float(ordered[-1]),
        spread=float(values.std(ddof=1)) if count > 1 else None,
        censored=censored,
    )


def _median_ranks(count: int) -> tuple[int, int] | None:
    """The places, from 0, of the values that enclose the median with 95 %, by the binomial distribution; None where
    the values are too few for that."""
    with np.errstate(invalid="ignore"):
        found = stats.quantile_test(np.arange(count), p=0.5).confidence_interval(CONFIDENCE)
    return None if np.isnan(found.low) or np.isnan(found.high) else (int(found.low), int(found.high))


# -- the whole -------------------------------------------------------------------------------------------------------


def _front(layout: Layout, figures: Mapping[str, Figure], named: Sequence[str], minimum: Minimum) -> Front | None:
    """The front over the metrics that were named, else over those of ``OBJECTIVES`` that differ between levels."""
    means: dict[str, list[float]] = {}
    for metric in named or OBJECTIVES:
        if metric in figures and figures[metric].better is not Better.NEITHER:
            of_levels = [layout.by_seed(metric, level) for level in layout.levels]
            found = [float(values.mean()) for values in of_levels if len(values)]
            if len(found) == len(layout.levels) and (named or len(set(found)) > 1):
                means[metric] = found
    if len(layout.levels) < 2 or len(means) < 2:
        return None
    points = {level: [means[metric][at] for metric in means] for at, level in enumerate(layout.levels)}
    minima = [minimum.of(figures[metric].unit, min(found), max(found)) for metric, found in means.items()]
    return front({metric: figures[metric].better for metric in means}, points, minima)


def _effects(runs: Sequence[RunFigures], metrics: Sequence[str]) -> tuple[Effects, ...]:
    if len(axes_of(tuple(dict.fromkeys(run.arm for run in runs)))) < 2:
        return ()
    from scenarios.studies.statistics.factors import effects

    return effects(runs, metrics)
