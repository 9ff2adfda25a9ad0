"""The first screen of a comparison, as data: which levels, which figures of each, in which order. The console, the page
and the notebook put it into words, and decide nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isclose

from scenarios.studies.statistics.differences import fewest_seeds
from scenarios.studies.statistics.result import (
    DIFFERENT,
    FEWEST_PAIRS,
    FewSeeds,
    Findings,
    Front,
    Level,
    MetricDifference,
    MetricVerdict,
    NoFinding,
    OfLevel,
    Row,
    Said,
)

FIRST = (
    "lost_acks_all_records",
    "lost_acks_1_records",
    "unclean_elections",
    "failed_batches",
    "offline_s",
    "under_min_isr_s",
    "time_to_complete_s",
    "under_replicated_any_s",
    "produce_p99_ms",
    "consumer_lag_max",
    "extra_replica_s",
)
"""Metrics that a reader asks for first, the gravest first; the others follow by the size of their differences."""
LEVELS = 4
"""Levels whose findings are said; the table has all."""
TOLD = 3
"""Differences of one verdict that are said in full."""
NAMED = 3
"""Further ones that are named; the rest is counted."""
_ORDER = {MetricVerdict.DEPENDS: -1, MetricVerdict.UNKNOWN: 1, MetricVerdict.SAME: 2}
_JUDGED = (MetricVerdict.BETTER, MetricVerdict.WORSE)
_ALIKE = 1e-3

Cells = Mapping[str, MetricDifference]
"""Metric to the difference of one level, the most telling first."""


def told(rows: Sequence[Row], levels: Sequence[Level], axes: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """All differences as (metric, level). The question's axis, the first of ``axes``, comes first; then what depends,
    findings, what is not known, what does not matter; the gravest metrics of each first, then the largest."""
    rank = {level.name: axes.index(level.along) if level.along in axes else len(axes) for level in levels}

    def key(place: tuple[str, str, MetricDifference]) -> tuple[float, ...]:
        metric, level, cell = place
        gravity = FIRST.index(metric) if metric in FIRST else len(FIRST)
        size = abs(cell.relative) if cell.relative is not None else float(cell.mean not in (None, 0.0)) * 1e9
        equal = cell.equal == cell.pairs
        return rank[level], equal, _ORDER.get(cell.verdict, 0), gravity, -size

    places = [(row.metric, level, cell) for row in rows for level, cell in row.differences.items() if cell.pairs]
    return tuple((metric, level) for metric, level, _ in sorted(places, key=key))


def said(rows: Sequence[Row], levels: Sequence[Level], places: Sequence[tuple[str, str]], front: Front | None) -> Said:
    """The first screen: results of all levels after the first one, those with the gravest findings first.

    Args:
        places: the result of ``told``.
        front: the Pareto front; it is used where any of its metrics has a finding.
    """
    by_metric = {row.metric: row for row in rows}
    order = dict.fromkeys([*(level for _metric, level in places), *(level.name for level in levels[1:])])
    cells: dict[str, dict[str, MetricDifference]] = {level: {} for level in order}
    for metric, level in places:
        cells[level][metric] = by_metric[metric].differences[level]
    few = [level for level in order if 0 < _pairs(cells[level]) < FEWEST_PAIRS]
    others = [level for level in order if level not in few]
    found = front is not None and any(
        cell.verdict in DIFFERENT for metric in front.metrics for cell in by_metric[metric].differences.values()
    )
    return Said(
        levels=tuple(_of_level(level, cells[level]) for level in others[:LEVELS]),
        more_levels=len(others[LEVELS:]),
        few=_few_seeds([cells[level] for level in few]),
        front=front if found else None,
    )


def _pairs(cells: Cells) -> int:
    return max((cell.pairs for cell in cells.values()), default=0)


def _few_seeds(levels: Sequence[Cells]) -> FewSeeds | None:
    if not levels:
        return None
    tests = sum(cell.equal < cell.pairs for cells in levels for cell in cells.values())
    enough = max(FEWEST_PAIRS, fewest_seeds(max(1, tests)))
    return FewSeeds(seeds=max(map(_pairs, levels)), tests=tests, enough=enough)


def _of_level(level: str, cells: Cells) -> OfLevel:
    """A figure that describes and does not judge is said only where none that judges has a finding."""
    judged = any(cell.verdict in _JUDGED for cell in cells.values())
    verdicts = (MetricVerdict.DEPENDS, *(_JUDGED if judged else DIFFERENT))
    findings = tuple(_findings(verdict, cells) for verdict in verdicts if _with(cells, verdict))
    if any(one.verdict in DIFFERENT for one in findings):
        return OfLevel(level=level, findings=findings)
    open_ = {metric: cell for metric, cell in _with(cells, MetricVerdict.UNKNOWN).items() if leaves_out_0(cell.telling)}
    if open_:
        return OfLevel(level=level, findings=(*findings, _findings(MetricVerdict.UNKNOWN, open_)))
    left = len(cells) - len(_with(cells, MetricVerdict.DEPENDS))
    if findings and not left:
        return OfLevel(level=level, findings=findings)
    return OfLevel(
        level=level, findings=findings, none=NoFinding(of=left, unknown=len(_with(cells, MetricVerdict.UNKNOWN)))
    )


def _with(cells: Cells, verdict: MetricVerdict) -> Cells:
    return {metric: cell for metric, cell in cells.items() if cell.verdict is verdict}


def _findings(verdict: MetricVerdict, cells: Cells) -> Findings:
    """The first ones are said in full, but not one that repeats another in other words: it is named."""
    full: dict[str, MetricDifference] = {}
    for metric, cell in _with(cells, verdict).items():
        if len(full) < TOLD and not any(_repeats(cell, other) for other in full.values()):
            full[metric] = cell
    rest = [metric for metric in _with(cells, verdict) if metric not in full]
    return Findings(verdict=verdict, metrics=tuple(full), named=tuple(rest[:NAMED]), more=len(rest[NAMED:]))


def _repeats(cell: MetricDifference, other: MetricDifference) -> bool:
    """Whether two figures differ by the same share on the same seeds, as times of one partition and of all do."""
    return (
        cell.relative is not None
        and other.relative is not None
        and isclose(cell.relative, other.relative, rel_tol=_ALIKE)
        and (cell.higher, cell.lower) == (other.higher, other.lower)
    )


def leaves_out_0(cell: MetricDifference) -> bool:
    """Whether the interval does."""
    return cell.interval is not None and (cell.interval.low > 0 or cell.interval.high < 0)
