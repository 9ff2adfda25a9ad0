"""Which differences to tell first, and the sentences that tell them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from attrs import frozen

from scenarios.runs.dataset.arm import PROFILE, STRATEGY
from scenarios.studies.statistics.differences import fewest_seeds
from scenarios.studies.statistics.numbers import change, is_shown_as_share, number, p_value, percent, points
from scenarios.studies.statistics.result import (
    DIFFERENT,
    FEWEST_PAIRS,
    Difference,
    Front,
    Level,
    Row,
    Stratum,
    Verdict,
)
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
_ORDER = {Verdict.DEPENDS: -1, Verdict.UNKNOWN: 1, Verdict.SAME: 2}

Told = Sequence[tuple[Row, Difference]]


def told(rows: Sequence[Row], levels: Sequence[Level], axes: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """All differences as (metric, level). The question's axis, the first of ``axes``, comes first; then what depends,
    findings, what is not known, what does not matter; the gravest metrics of each first, then the largest."""
    rank = {level.name: axes.index(level.along) if level.along in axes else len(axes) for level in levels}

    def key(place: tuple[str, str, Difference]) -> tuple[float, ...]:
        metric, level, cell = place
        gravity = FIRST.index(metric) if metric in FIRST else len(FIRST)
        size = abs(cell.relative) if cell.relative is not None else float(cell.mean not in (None, 0.0)) * 1e9
        equal = cell.equal == cell.pairs
        return rank[level], equal, _ORDER.get(cell.verdict, 0), gravity, -size

    places = [(row.metric, level, cell) for row in rows for level, cell in row.differences.items() if cell.pairs]
    return tuple((metric, level) for metric, level, _ in sorted(places, key=key))


def foremost(rows: Sequence[Row], level: Level, places: Sequence[tuple[str, str]]) -> str | None:
    """The first finding for a level and the first one against it, in one sentence; None without any."""
    by_metric = {row.metric: row for row in rows}
    cells = [(by_metric[metric], by_metric[metric].differences[at]) for metric, at in places if at == level.name]
    parts = []
    for verdict in DIFFERENT:
        found = [(row, cell) for row, cell in cells if cell.verdict is verdict]
        parts += [f"{verdict.value} in {row.metric}, {finding(row, cell, level)}" for row, cell in found[:1]]
    return f"{level.name} against {level.against}: {'; '.join(parts[:2])}." if parts else None


def headlines(
    rows: Sequence[Row],
    levels: Sequence[Level],
    axes: Sequence[str],
    places: Sequence[tuple[str, str]],
    front: Front | None,
    minimum: str,
) -> tuple[str, ...]:
    """What is better at what, by how much and how sure. ``axes``: those in which levels differ, the question's first.
    ``places``: those of ``told``."""
    by_metric, names = {row.metric: row for row in rows}, {level.name: level for level in levels}
    order = list(dict.fromkeys([*(level for _metric, level in places), *list(names)[1:]]))
    cells: dict[str, list[tuple[Row, Difference]]] = {level: [] for level in order}
    for metric, level in places:
        cells[level].append((by_metric[metric], by_metric[metric].differences[level]))
    few = [level for level in order if 0 < max((cell.pairs for _, cell in cells[level]), default=0) < FEWEST_PAIRS]
    others = [level for level in order if level not in few]
    found = [line for level in others for row, cell in cells[level] if (line := depends(names[level], row, cell))]
    if len(found) > _PER_LEVEL:
        found[_PER_LEVEL:] = [f"So do {counted(len(found) - _PER_LEVEL, 'more differences')} (--format json)."]
    for level in others[:_LEVELS]:
        found += _of_level(Pair(names[level], names[names[level].against or ""], axes), cells[level], minimum)
    if len(others) > _LEVELS:
        found.append(f"The table has {counted(len(others) - _LEVELS, 'more levels')} (--all).")
    if few:
        told_few = [cell for level in few for _, cell in cells[level]]
        found.append(few_seeds(max(cell.pairs for cell in told_few), sum(cell.equal < cell.pairs for cell in told_few)))
    if front is not None and any(row.metric in front.metrics and _is_found(row) for row in rows):
        found.append(_front(front))
    return tuple(found)


def few_seeds(seeds: int, tests: int) -> str:
    """What seeds show that are too few for any finding, and how many would do."""
    enough = max(FEWEST_PAIRS, fewest_seeds(max(1, tests)))
    more = "" if tests < 2 else f", {enough} for the {tests} differences here"
    return (
        f"{counted(seeds, 'seeds')} can show a direction and no finding: of {counted(seeds, 'pairs')} no p is below "
        f"{number(2 / 2**seeds)}. At least {FEWEST_PAIRS} seeds are needed for one metric{more}."
    )


def _is_found(row: Row) -> bool:
    return any(cell.verdict in DIFFERENT for cell in row.differences.values())


# -- one level against another ---------------------------------------------------------------------------------------


@frozen
class Pair:
    """A level and the one that it is compared with. ``axes``: those in which any levels differ."""

    level: Level
    other: Level
    axes: Sequence[str]

    @property
    def names(self) -> tuple[str, str, str]:
        """Of both, and where both are: ``kafka-6794``, ``wiki`` and `` at strategy.throttle=10MB/s`` where they differ
        in one axis of several."""
        axis, values = self.level.along, self.level.values
        rest = [one for one in self.axes if one != axis and one in values]
        if axis is None or not rest or axis not in values:
            return self.level.name, self.other.name, ""
        return _part(values, axis), _part(self.other.values, axis), f" at {', '.join(_part(values, x) for x in rest)}"


def _part(values: Mapping[str, str], axis: str) -> str:
    return values[axis] if axis in (STRATEGY, PROFILE) else f"{axis}={values[axis]}"


def _of_level(pair: Pair, all_cells: Told, minimum: str) -> Iterator[str]:
    level, (name, base, where) = pair.level, pair.names
    cells = [(row, cell) for row, cell in all_cells if cell.verdict is not Verdict.DEPENDS]
    if not all_cells:
        yield f"{level.name} and {pair.other.name} have no seed in common."
    elif not any(cell.verdict in DIFFERENT for _, cell in cells):
        yield from _nothing_found(f"{name} against {base}{where}", level, cells, minimum)
    for verdict in DIFFERENT:
        found = [(row, cell) for row, cell in cells if cell.verdict is verdict]
        if not found:
            continue
        if verdict in (Verdict.LOWER, Verdict.HIGHER) and len(found) < len(cells) and _judged(cells):
            continue
        parts = [f"{row.metric} {finding(row, cell, level)}" for row, cell in found[:_PER_LEVEL]]
        more = f"; and in {counted(len(found) - len(parts), 'more metrics')}" if len(found) > len(parts) else ""
        yield f"{name} is {verdict.value} than {base}{where} in {'; '.join(parts)}{more}."


def _judged(cells: Told) -> bool:
    return any(cell.verdict in (Verdict.BETTER, Verdict.WORSE) for _, cell in cells)


def _nothing_found(names: str, level: Level, cells: Told, minimum: str) -> Iterator[str]:
    unknown = [(row, cell) for row, cell in cells if cell.verdict is Verdict.UNKNOWN]
    shown = [(row, cell) for row, cell in unknown if leaves_out_0(cell.telling)]
    rest = f"; in the others any difference is below {minimum}" if len(unknown) < len(cells) else ""
    if shown:
        parts = "; ".join(f"{row.metric} {finding(row, cell, level)}" for row, cell in shown[:_PER_LEVEL])
        yield f"{names}: not settled, though the intervals leave out 0, in {parts}."
    elif unknown:
        yield f"{names}: no difference is shown; {len(unknown)} of {len(cells)} metrics are not known{rest}."
    elif cells:
        yield f"{names}: no difference that matters (all are below {minimum})."


def leaves_out_0(cell: Difference) -> bool:
    """Whether the interval does."""
    return cell.interval is not None and (cell.interval.low > 0 or cell.interval.high < 0)


def finding(row: Row, cell: Difference, level: Level) -> str:
    """What a metric's difference is, and how sure: ``+28% [+27%, +29%] (20 of 20 seeds, p < 0.001)``."""
    base = row.samples[level.against or ""]
    if row.split is None or cell.share is None or cell.alike is None:
        from_ = f", from {number(base.mean)} {row.unit}" if not is_shown_as_share(cell) else ""
        return f"{change(cell, row.unit)}{from_} ({_sureness(cell)})"
    at, medians = f"{number(row.split.at)} {row.unit}", f"medians {number(row.samples[level.name].median)} and "
    medians += f"{number(base.median)} {row.unit}"
    shares = [percent(row.split.shares[name], signed=False) for name in (level.name, level.against or "")]
    said = f"{at} or more in {shares[0]} of the runs against {shares[1]}"
    if cell.telling is cell.share:
        also = f"; else {change(cell.alike, row.unit)}" if cell.alike.verdict in DIFFERENT else ""
        return f"{said} ({p_value(cell.share.p_adjusted)}{also}; {medians})"
    where = f"where both are below {at} or both are not"
    return f"{change(cell.alike, row.unit)} {where} ({_sureness(cell.alike)}; {medians}; {said})"


def _sureness(cell: Difference) -> str:
    seeds = cell.higher if (cell.mean or 0) > 0 else cell.lower
    sure = "the seeds are alike" if cell.deterministic and cell.verdict in DIFFERENT else p_value(cell.p_adjusted)
    return f"{seeds} of {cell.pairs} seeds, {sure}"


# -- over other axes -------------------------------------------------------------------------------------------------


def depends(level: Level, row: Row, cell: Difference) -> str | None:
    """The sentence of a difference whose sign depends on the other axes: where it is largest in each direction."""
    if cell.verdict is not Verdict.DEPENDS:
        return None
    axes = " and ".join(cell.strata[0].axes)
    ways = [[one for one in cell.strata if one.difference.verdict is verdict] for verdict in DIFFERENT]
    said = "; ".join(_one_way(row, strata, len(cell.strata)) for strata in ways if strata)
    return f"{level.name} against {level.against} in {row.metric} depends on {axes}: {said}. There is no one answer."


def _one_way(row: Row, strata: Sequence[Stratum], of: int) -> str:
    """``better at 8MB/s -37% [...] (20 of 20 seeds, p < 0.001)``; of several the surest one, and how many there are."""
    surest = min(strata, key=lambda one: (one.difference.p or 0.0, -abs(one.difference.mean or 0.0)))
    cell, many = surest.difference, f" {len(strata)} of {of}, such as" if len(strata) > 1 else ""
    own = change(cell, row.unit)
    if row.split is not None:
        own = f"{points(cell)} of the runs with {number(row.split.at)} {row.unit} or more"
    return f"{cell.verdict.value} at{many} {', '.join(surest.values)} {own} ({_sureness(cell)})"


# -- several objectives ----------------------------------------------------------------------------------------------


def _front(front: Front) -> str:
    what = ", ".join(front.metrics)
    if len(front.best) == 1:
        return f"By the means {front.best[0]} is best or equal at all of {what}."
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
