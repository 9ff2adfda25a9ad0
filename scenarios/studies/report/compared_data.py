"""Data that the script of a data set's report draws, as JSON."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from attrs import asdict

from scenarios.observe.measures.figure import Better
from scenarios.runs.dataset.run_record import DONE
from scenarios.studies.report.arm_axes import ArmAxes
from scenarios.studies.report.compared_tables import varying
from scenarios.studies.report.over_time import Series
from scenarios.studies.statistics.result import Comparison, Interval, MetricDifference, Row
from scenarios.studies.statistics.run_figures import TIME_TO_COMPLETE, RunFigures
from scenarios.studies.statistics.sentences import sureness

MOST_ANSWERING = 3
DIGITS = 7
"""Digits of a run's value that a figure can show."""


def compared_data(comparison: Comparison, replays: Mapping[str, str], series: Sequence[Series]) -> dict[str, object]:
    """The comparison for ``assets/compared.js``: levels, rows with samples and differences, the runs as columns."""
    return {
        "by": list(comparison.by),
        **_levels(comparison),
        "arms": _arms(comparison, replays),
        "rows": [_row(comparison, row) for row in comparison.rows],
        "told": [list(pair) for pair in comparison.told],
        "answer": list(answering(comparison)),
        "minimum": comparison.minimum,
        "completions": _completions(comparison),
        "runs": _runs(comparison),
        "series": [asdict(one) for one in series],
    }


def _levels(comparison: Comparison) -> dict[str, object]:
    """``at``: the level's place on each of the axes that tell the levels apart."""
    on = ArmAxes.of(comparison)
    return {
        "axes": [asdict(axis) for axis in on.axes],
        "heading": on.heading,
        "levels": [
            {
                "name": level.name,
                "label": on.labels[level.name],
                "at": on.places[level.name],
                "values": level.values,
                "against": level.against,
            }
            for level in comparison.levels
        ],
    }


def answering(comparison: Comparison) -> tuple[str, ...]:
    """The figures of the page's first picture, of those that differ between runs: the objectives, then what says most;
    a figure that describes and does not judge comes last."""
    objectives = comparison.front.metrics if comparison.front is not None else ()
    told = (metric for metric, _level in comparison.told)
    differing = {row.metric: row for row in varying(comparison)}
    ordered = [metric for metric in dict.fromkeys((*objectives, *told, *differing)) if metric in differing]
    ordered.sort(key=lambda metric: differing[metric].better is Better.NEITHER)
    return tuple(ordered[:MOST_ANSWERING])


def _row(comparison: Comparison, row: Row) -> dict[str, object]:
    return {
        "metric": row.metric,
        "text": row.text,
        "unit": row.unit,
        "better": row.better.value,
        "samples": {
            name: {"mean": _finite(sample.mean), "median": _finite(sample.median), "censored": sample.censored}
            for name, sample in row.samples.items()
        },
        "differences": {
            name: _difference(row.samples[comparison.against(name)].mean, difference)
            for name, difference in row.differences.items()
        },
    }


def _difference(base: float | None, difference: MetricDifference) -> dict[str, object]:
    """``base``: the mean of what it is a difference to. A figure has no bar for a difference that is no share of it."""
    is_share = difference.has_mean and difference.is_share
    return {
        "mean": _finite(difference.mean),
        "interval": _interval(difference.interval),
        "relative": _finite(difference.relative) if is_share else None,
        "relative_interval": _interval(difference.relative_interval) if is_share else None,
        "minimum": difference.minimum,
        "minimum_relative": difference.minimum / abs(base) if base else None,
        "p": difference.telling.p_adjusted,
        "sure": sureness(difference.telling),
        "pairs": difference.pairs,
        "higher": difference.higher,
        "lower": difference.lower,
        "verdict": difference.verdict.value,
    }


def _completions(comparison: Comparison) -> dict[str, object] | None:
    if comparison.completions is None:
        return None
    return {
        "horizon": comparison.completions.horizon_s,
        "levels": {
            name: {key: list(map(_rounded, getattr(completion, key))) for key in ("times_s", "finished", "low", "high")}
            for name, completion in comparison.completions.levels.items()
        },
    }


def _arms(comparison: Comparison, replays: Mapping[str, str]) -> list[dict[str, object]]:
    """In the order of the levels. ``at``: what runs have in common that are paired, besides their seed: the values on
    the axes that are not compared."""
    arms = {run.arm.name: run.arm for run in comparison.runs}
    return [
        {
            "name": name,
            "level": place,
            "at": " ".join(arms[name].part(axis) for axis in arms[name].axes if axis not in comparison.by),
            "replay": replays.get(name),
        }
        for place, level in enumerate(comparison.levels)
        for name in level.arms
    ]


def _runs(comparison: Comparison) -> dict[str, object]:
    """Columns, one item for each run; ``arm`` is a place in ``arms``. Metrics that are the same in every run have no
    column."""
    places = {name: place for place, name in enumerate(comparison.level_of)}
    runs = [run for run in comparison.runs if run.status == DONE]
    values: dict[str, Sequence[float | None]] = {
        row.metric: [_rounded(value(comparison, run, row.metric)) for run in runs] for row in comparison.rows
    }
    return {
        "arm": [places[run.arm.name] for run in runs],
        "seed": [run.seed for run in runs],
        "completed": [run.completed for run in runs],
        "values": {metric: column for metric, column in values.items() if len(set(column)) > 1},
    }


def value(comparison: Comparison, run: RunFigures, metric: str) -> float | None:
    """A run's value as the rows count it: where a run did not finish, times to complete up to the common horizon."""
    found, completions = run.value(metric), comparison.completions
    if found is None or metric != TIME_TO_COMPLETE or completions is None or not completions.unfinished:
        return found
    return min(found, completions.horizon_s)


def _interval(interval: Interval | None) -> list[float | None] | None:
    return None if interval is None else [_finite(interval.low), _finite(interval.high)]


def _finite(value: float | None) -> float | None:
    """JSON has no infinities; a figure draws an open interval up to its edge."""
    return None if value is None or not math.isfinite(value) else value


def _rounded(value: float | None) -> float | None:
    return None if value is None or not math.isfinite(value) else float(f"{value:.{DIGITS}g}")
