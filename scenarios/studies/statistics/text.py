"""A comparison as text, in the manner of Go's benchstat: a line for each metric and level, findings first."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence

from scenarios.studies.statistics.numbers import number, p_value, percent
from scenarios.studies.statistics.result import (
    CONFIDENCE,
    DIFFERENT,
    FEWEST_PAIRS,
    Comparison,
    Completions,
    Effects,
    MetricDifference,
    MetricVerdict,
    Row,
)
from scenarios.studies.statistics.run_figures import TIME_TO_COMPLETE
from scenarios.studies.statistics.sentences import change, points
from scenarios.units import counted

WIDTH = 80
ROWS = 10
"""Differences that are shown unless all are asked for."""
_EFFECTS = 5

_NOTES = (
    "Means over the seeds; a difference is the mean of the differences seed by seed, as a share of the baseline's mean "
    "where that is not next to 0{interval}. same: no difference that matters; it is below "
    "{minimum} of the larger mean. {unknown}p: that the true difference does not "
    "matter, by flipping signs, after Holm over the table. partition-seconds are summed over partitions; lags are in "
    "records, over time and followers."
)
_INTERVAL = f", with its {CONFIDENCE:.0%} BCa interval"
_UNKNOWN = "not known (N): about N seeds would tell. "
_FEW = "2 of 3 seeds: as many are higher, or lower, and none is a finding. "
_CENSORED = " A run that did not finish counts as lasting until its end; ≥ marks means that rest on one."
_SPLIT = (
    " 40% ≥ 29: the metric has two peaks, or a tail far from the rest, and 40% of the runs have 29 or more; points are "
    "of that share, and alike is the difference where both runs of a pair are below, or both are not."
)
_ALIKE = " seeds alike: the seeds hardly change the metric, so no p is shown."


def first_told(comparison: Comparison) -> Sequence[tuple[str, str]]:
    """The rows that a table has unless all are asked for: (metric, level)."""
    return comparison.told[:ROWS]


def as_text(comparison: Comparison, *, every: bool = False) -> str:
    """The comparison for people, without a line break at its end. ``every``: all rows, not only the most telling."""
    parts = [
        [_title(comparison)],
        list(comparison.headlines),
        list(_finished(comparison.completions, comparison)),
        list(_table(comparison, every)),
        list(_effects(comparison.effects, comparison.told, every)),
        [f"warning: {doubt.text}" for doubt in comparison.doubts],
        [_notes(comparison)],
    ]
    wrapped = (["\n".join(_wrapped(line)) for line in part] for part in parts if part)
    return "\n\n".join("\n".join(part) for part in wrapped)


def _wrapped(line: str) -> list[str]:
    """Sentences are broken into lines; lines of tables, which begin with a space or hold wide gaps, are not."""
    if len(line) <= WIDTH or line.startswith(" ") or "   " in line:
        return [line]
    return textwrap.wrap(line, WIDTH, subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)


def _title(comparison: Comparison) -> str:
    seeds = max(level.seeds for level in comparison.levels)
    by = f" by {', '.join(comparison.by)}" if comparison.by else ""
    return f"{comparison.title}{by}: {counted(len(comparison.runs), 'runs')}, {counted(seeds, 'seeds')}"


def _finished(found: Completions | None, comparison: Comparison) -> Iterator[str]:
    if found is None:
        return
    if not found.unfinished:
        yield "All runs finished their moves."
        return
    lines = [["finished", "", f"mean to {found.horizon_s:.4g} s", "half by", "log-rank"]]
    for level in comparison.levels:
        if level.name in found.levels:
            times = found.levels[level.name]
            p = "" if times.p_adjusted is None else p_value(times.p_adjusted)
            lines.append(
                [
                    level.name,
                    f"{level.finished} of {level.moved}",
                    number(times.restricted_mean_s, "s"),
                    number(times.median_s, "s"),
                    p,
                ]
            )
    yield from _aligned(lines, left=1)


# -- the table -------------------------------------------------------------------------------------------------------


def _table(comparison: Comparison, every: bool) -> Iterator[str]:
    if len(comparison.levels) == 1:
        yield from _alone(comparison)
        return
    if not comparison.told:
        return
    shown = comparison.told if every else first_told(comparison)
    if every:
        places = {place: index for index, place in enumerate(comparison.told)}
        shown = tuple((row.metric, level) for row in comparison.rows for level in row.differences)
        shown = tuple(place for place in shown if place in places)
    two = len(comparison.levels) == 2
    lines = list(_pairs(comparison, shown) if two else _blocks(comparison, shown))
    yield from _aligned(lines, left=1 if two else 2)
    if left := left_out(comparison, shown):
        yield f"{left}: --all"


def left_out(comparison: Comparison, shown: Sequence[tuple[str, str]]) -> str:
    """``12 more, 3 of them findings``; nothing where the table has all."""
    left = comparison.told[len(shown) :]
    known = sum(comparison.row(metric).differences[level].verdict in DIFFERENT for metric, level in left)
    return f"{number(len(left))} more, {number(known)} of them findings" if left else ""


def _alone(comparison: Comparison) -> Iterator[str]:
    level = comparison.baseline
    lines = [["metric", "unit", "mean", "median", f"{CONFIDENCE:.0%} of the median"]]
    for row in comparison.rows:
        sample = row.samples[level]
        ends = sample.median_interval
        interval = number(None) if ends is None else f"[{number(ends.low)}, {number(ends.high)}]"
        lines.append([row.metric, row.unit, mean_of(row, level), number(sample.median), interval])
    yield from _aligned(lines, left=2)


def _pairs(comparison: Comparison, shown: Sequence[tuple[str, str]]) -> Iterator[list[str]]:
    """A line for each metric: both means, the difference, the verdict."""
    baseline, other = (level.name for level in comparison.levels)
    yield ["metric", baseline, other, "difference", "verdict"]
    for metric, level in shown:
        row = comparison.row(metric)
        cell = row.differences[level]
        yield [metric, mean_of(row, baseline), mean_of(row, other), change_of(row, cell), verdict_of(cell)]


def _blocks(comparison: Comparison, shown: Sequence[tuple[str, str]]) -> Iterator[list[str]]:
    """Lines of each metric: one for each level that others are compared with, and below it one for each of these."""
    yield ["metric", "arm", "mean", "difference", "verdict"]
    by_metric: dict[str, dict[str, list[str]]] = {}
    for metric, level in shown:
        by_metric.setdefault(metric, {}).setdefault(comparison.against(level), []).append(level)
    for metric, of_metric in by_metric.items():
        row, name = comparison.row(metric), metric
        for base, levels in of_metric.items():
            yield [name, base, mean_of(row, base), "", ""]
            name = ""
            for level in levels:
                cell = row.differences[level]
                yield ["", f"  {level}", mean_of(row, level), change_of(row, cell), verdict_of(cell)]


def mean_of(row: Row, level: str) -> str:
    """The mean; for a metric with two peaks the share of its upper part, since no run is near the mean."""
    sample = row.samples[level]
    if row.split is None:
        return f"{'≥' if sample.censored else ''}{number(sample.mean)}"
    return f"{percent(row.split.shares[level])} ≥ {number(row.split.at)}"


def change_of(row: Row, cell: MetricDifference) -> str:
    """The change, and ``-`` where its sign depends on the other axes: the sentences have it at each of their values."""
    if cell.verdict is MetricVerdict.DEPENDS:
        return "-"
    if cell.share is None or cell.alike is None or row.split is None:
        return change(cell, row.unit)
    if cell.telling is cell.share:
        return points(cell.share)
    return f"alike: {change(cell.alike, row.unit)}"


def verdict_of(cell: MetricDifference) -> str:
    """The verdict, and how sure: ``worse, p < 0.001``, ``not known (40)``."""
    if cell.verdict is MetricVerdict.SAME:
        return "same"
    if cell.verdict is MetricVerdict.DEPENDS:
        return f"depends on {' and '.join(cell.strata[0].axes)}"
    if cell.verdict is MetricVerdict.UNKNOWN:
        if cell.pairs < FEWEST_PAIRS:
            return f"{max(cell.higher, cell.lower)} of {cell.pairs} seeds"
        return "not known" if cell.seeds_needed is None else f"not known ({cell.seeds_needed:,})"
    return f"{cell.verdict.value}, {'seeds alike' if cell.telling.deterministic else p_value(cell.telling.p_adjusted)}"


def _effects(effects: Sequence[Effects], told: Sequence[tuple[str, str]], every: bool) -> Iterator[str]:
    """The share of the variance that each axis accounts for, for the first metrics of ``told``."""
    by_metric = {one.metric: one for one in effects}
    metrics = [metric for metric in dict.fromkeys(metric for metric, _ in told) if metric in by_metric]
    if not metrics:
        return
    yield "What a metric's variance comes from:"
    first = by_metric[metrics[0]]
    lines = [["metric", *(" x ".join(effect.axes) for effect in first.effects), "seeds", "rest"]]
    for metric in metrics if every else metrics[:_EFFECTS]:
        one = by_metric[metric]
        shares = [*(effect.share for effect in one.effects), one.seeds, one.rest]
        lines.append([metric, *("<1%" if share < 0.005 else f"{share:.0%}" for share in shares)])
    yield from _aligned(lines, left=1)


def _notes(comparison: Comparison) -> str:
    shown = [(row, cell) for row in comparison.rows for cell in row.differences.values() if cell.pairs]
    few = any(cell.pairs < FEWEST_PAIRS for _, cell in shown)
    notes = _NOTES.format(
        minimum=comparison.minimum, interval="" if few else _INTERVAL, unknown=_FEW if few else _UNKNOWN
    )
    censored = any(row.metric == TIME_TO_COMPLETE and _is_censored(row) for row in comparison.rows)
    alike = any(cell.telling.deterministic and cell.verdict in DIFFERENT for _, cell in shown)
    split = any(row.split is not None for row in comparison.rows)
    told = ((censored, _CENSORED), (split, _SPLIT), (alike, _ALIKE))
    return notes + "".join(text for wanted, text in told if wanted)


def _is_censored(row: Row) -> bool:
    return any(sample.censored for sample in row.samples.values())


def _aligned(lines: Sequence[Sequence[str]], *, left: int) -> Iterator[str]:
    """Columns side by side; the first ``left`` of them and the last one begin at their left edge."""
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    last = len(widths) - 1
    for line in lines:
        cells = [
            cell.ljust(width) if column < left or column == last else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ]
        yield "  ".join(cells).rstrip()
