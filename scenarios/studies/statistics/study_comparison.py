"""From the figures of a study's runs to what can be said of them: a ``Comparison``.

Pure functions: no Spark, no files. Spark, the runs' own accounts and tests all bring a list of ``RunFigures``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from attrs import evolve, frozen

from scenarios.errors import BadInput, did_you_mean
from scenarios.observe.measures.figure import Better, Compared, Figure
from scenarios.observe.measures.figures import declared
from scenarios.observe.measures.minimum import Minimum
from scenarios.runs.dataset.arm import Arm
from scenarios.runs.dataset.run_record import DONE
from scenarios.studies.statistics.censored import Times, completions
from scenarios.studies.statistics.doubts import doubts
from scenarios.studies.statistics.front import front
from scenarios.studies.statistics.layout import Layout, Reference, axes_of, check_axis, laid_out, level_of, place
from scenarios.studies.statistics.result import Comparison, Completions, Effects, Front, Level, MetricVerdict, Row
from scenarios.studies.statistics.rows import rows_of
from scenarios.studies.statistics.run_figures import TIME_TO_COMPLETE, RunFigures, has_leapt
from scenarios.studies.statistics.said import said, told

ALL = "all"
"""The name that stands for all compared metrics."""
OBJECTIVES = (TIME_TO_COMPLETE, "under_min_isr_s", "produce_p99_ms", "extra_replica_s")
"""The metrics of the Pareto front, where none are named: speed, risk, harm to clients and cost."""


@frozen(kw_only=True)
class ComparisonSpec:
    """The options of a comparison.

    Attributes:
        by: the axis whose values are compared; None: every arm with the one that differs from it in one axis.
        where: pairs of axis and value; only arms with these values are compared.
        metrics: the metrics that are compared; ``all``, or none named: all metrics.
        baseline: the level that all others are compared with; None: the first, or, without ``by``, as above.
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
    asked: ComparisonSpec | None = None,
) -> Comparison:
    """The comparison of runs that are in the order of their arms (``in_order``).

    Args:
        planned: how many runs each arm was to have; by default those that are there.

    Raises: BadInput for an axis, a value, a metric or a baseline that is not there, and for no run at all.
    """
    asked = asked or ComparisonSpec()
    minimum = asked.minimum or Minimum()
    chosen = selected(runs, asked)
    asked = evolve(asked, metrics=() if ALL in asked.metrics else asked.metrics)
    figures = _figures(chosen, asked.metrics)
    layout = laid_out(chosen, list(figures), by=asked.by, baseline=asked.baseline)
    _check_common_seeds(layout)
    levels = _levels(layout, chosen, asked.by)
    against = {level: reference.level for level, reference in layout.references.items()}
    finished = completions(_times(layout, chosen, asked.by), against)
    layout = _restricted(layout, finished)
    sampled = [level for level, runs in _by_level(chosen, asked.by).items() if any(map(has_leapt, runs))]
    rows = rows_of(layout, figures, minimum, _unfinished(chosen, asked.by), sampled)
    places = told(rows, levels, layout.by)
    best = _front(layout, rows, asked.metrics, minimum)
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
        said=said(rows, levels, places, best),
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


def check_asked(asked: ComparisonSpec, arms: Sequence[Arm]) -> None:
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


def selected(runs: Sequence[RunFigures], asked: ComparisonSpec) -> list[RunFigures]:
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
    """Raises: BadInput where no level shares a seed with the one that it is compared with."""
    known = dict(zip(layout.levels, ~np.all(np.isnan(layout.values), axis=0), strict=True))
    pairs = [(level, reference.level) for level, reference in layout.references.items()]
    if pairs and not any(np.any(known[level] & known[other]) for level, other in pairs):
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
    return tuple(_level(name, of_level[name], layout.references.get(name)) for name in layout.levels)


def _level(name: str, runs: Sequence[RunFigures], reference: Reference | None) -> Level:
    done = [run for run in runs if run.status == DONE]
    arms = list(dict.fromkeys(run.arm for run in runs))
    differing = axes_of(arms)
    return Level(
        name=name,
        arms=tuple(arm.name for arm in arms),
        values={axis: arms[0].value_of(axis) for axis in arms[0].axes if axis not in differing},
        against=None if reference is None else reference.level,
        along=None if reference is None else reference.axis,
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


# -- the whole -------------------------------------------------------------------------------------------------------


def _front(layout: Layout, rows: Sequence[Row], named: Sequence[str], minimum: Minimum) -> Front | None:
    """The front over the metrics that were named, else over those of ``OBJECTIVES`` that differ between levels. None
    where the answer for one of them depends on the axes that are left out: no level is best over these."""
    by_metric = {row.metric: row for row in rows if row.better is not Better.NEITHER}
    means: dict[str, list[float]] = {}
    for metric in named or OBJECTIVES:
        if metric in by_metric:
            samples = [by_metric[metric].samples[level].mean for level in layout.levels]
            found = [mean for mean in samples if mean is not None]
            if len(found) == len(layout.levels) and (named or len(set(found)) > 1):
                means[metric] = found
    depends = (
        cell.verdict is MetricVerdict.DEPENDS for metric in means for cell in by_metric[metric].differences.values()
    )
    if len(layout.levels) < 2 or len(means) < 2 or any(depends):
        return None
    points = {level: [means[metric][at] for metric in means] for at, level in enumerate(layout.levels)}
    minima = [minimum.of(by_metric[metric].unit, min(found), max(found)) for metric, found in means.items()]
    return front({metric: by_metric[metric].better for metric in means}, points, minima)


def _effects(runs: Sequence[RunFigures], metrics: Sequence[str]) -> tuple[Effects, ...]:
    if len(axes_of(tuple(dict.fromkeys(run.arm for run in runs)))) < 2:
        return ()
    from scenarios.studies.statistics.factors import effects

    return effects(runs, metrics)
