"""Which differences to tell first, and the sentences that tell them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scenarios.studies.statistics.numbers import change, number, p_value
from scenarios.studies.statistics.result import DIFFERENT, Difference, Front, Level, Row, Verdict
from scenarios.units import counted

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
_PER_LEVEL = 3
"""Differences of one verdict that a sentence tells; the table has all."""
_LEVELS = 4
"""Levels that have sentences of their own."""


def told(rows: Sequence[Row]) -> tuple[tuple[str, str], ...]:
    """All differences as (metric, level): findings first, then what is not known, then what does not matter; the
    gravest metrics of each first, then the largest differences."""
    order = {Verdict.UNKNOWN: 1, Verdict.SAME: 2}

    def key(place: tuple[str, str, Difference]) -> tuple[float, ...]:
        metric, _level, cell = place
        gravity = FIRST.index(metric) if metric in FIRST else len(FIRST)
        size = abs(cell.relative) if cell.relative is not None else float(cell.mean not in (None, 0.0)) * 1e9
        return order.get(cell.verdict, 0), gravity, -size

    places = [(row.metric, level, cell) for row in rows for level, cell in row.differences.items() if cell.pairs]
    return tuple((metric, level) for metric, level, _ in sorted(places, key=key))


def headlines(
    rows: Sequence[Row], levels: Sequence[Level], places: Sequence[tuple[str, str]], front: Front | None, minimum: str
) -> tuple[str, ...]:
    """What is better at what, by how much and how sure. ``places``: those of ``told``."""
    by_metric = {row.metric: row for row in rows}
    baseline, *others = (level.name for level in levels)
    found: list[str] = []
    for level in others[:_LEVELS]:
        of_level = [(by_metric[metric], by_metric[metric].differences[level]) for metric, at in places if at == level]
        found += _of_level(baseline, level, of_level, minimum)
    if len(others) > _LEVELS:
        found.append(f"The table has {counted(len(others) - _LEVELS, 'more levels')} (--all).")
    if front is not None and len(levels) > 1:
        found.append(_front(front))
    return tuple(found)


def _of_level(baseline: str, level: str, cells: Sequence[tuple[Row, Difference]], minimum: str) -> Iterator[str]:
    if not any(cell.verdict in DIFFERENT for _, cell in cells):
        unknown = sum(cell.verdict is Verdict.UNKNOWN for _, cell in cells)
        if not cells:
            yield f"{level} and {baseline} have no seed in common."
        elif unknown:
            rest = f"; in the others any difference is below {minimum}" if unknown < len(cells) else ""
            yield (
                f"{level} against {baseline}: no difference is shown; {unknown} of {len(cells)} metrics are not known"
                f"{rest}."
            )
        else:
            yield f"{level} against {baseline}: no difference that matters (all are below {minimum})."
        return
    for verdict in DIFFERENT:
        found = [(row, cell) for row, cell in cells if cell.verdict is verdict]
        if not found:
            continue
        if verdict in (Verdict.LOWER, Verdict.HIGHER) and len(found) < len(cells) and _judged(cells):
            continue
        parts = [_part(row, cell, baseline) for row, cell in found[:_PER_LEVEL]]
        more = f"; and in {counted(len(found) - len(parts), 'more metrics')}" if len(found) > len(parts) else ""
        yield f"{level} is {verdict.value} than {baseline} in {'; '.join(parts)}{more}."


def _judged(cells: Sequence[tuple[Row, Difference]]) -> bool:
    return any(cell.verdict in (Verdict.BETTER, Verdict.WORSE) for _, cell in cells)


def _part(row: Row, cell: Difference, baseline: str) -> str:
    """``time_to_complete_s by +28% (27 to 29%), on 20 of 20 seeds, p < 0.001``."""
    mean = row.samples[baseline].mean
    against = f", from 0 {row.unit}" if mean == 0 else ""
    seeds = cell.higher if (cell.mean or 0) > 0 else cell.lower
    return f"{row.metric} {change(cell)}{against} ({seeds} of {cell.pairs} seeds, {p_value(cell.p_adjusted)})"


def _front(front: Front) -> str:
    what = ", ".join(front.metrics)
    if len(front.best) == 1:
        return f"{front.best[0]} is best or equal at all of {what}."
    if not front.beaten_by:
        return f"None is best at all of {what}; the choice is between {_listed(front.best)}."
    return (
        f"At {what} together {_listed(front.best)} are not beaten; "
        + ", ".join(f"{name} is, by {by}" for name, by in list(front.beaten_by.items())[:_LEVELS])
        + ("." if len(front.beaten_by) <= _LEVELS else f", and {number(len(front.beaten_by) - _LEVELS)} more.")
    )


def _listed(names: Sequence[str]) -> str:
    shown = list(names[:_LEVELS])
    if len(names) > len(shown):
        shown.append(f"{len(names) - len(shown)} more")
    between = "; " if any("," in name for name in shown) else ", "
    return f"{between}and ".join([between.join(shown[:-1]), shown[-1]]) if shown[2:] else " and ".join(shown)
