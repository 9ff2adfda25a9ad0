"""The sentences of a comparison: what is said (``scenarios.studies.statistics.said``) in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from attrs import frozen

from scenarios.runs.dataset.arm import PROFILE, STRATEGY
from scenarios.studies.statistics.numbers import number, p_value, percent
from scenarios.studies.statistics.result import (
    DIFFERENT,
    FEWEST_PAIRS,
    Comparison,
    FewSeeds,
    Findings,
    Front,
    Interval,
    Level,
    MetricDifference,
    MetricVerdict,
    NoFinding,
    OfLevel,
    Row,
    Stratum,
)
from scenarios.units import counted

_LISTED = 4
"""The most levels that one sentence lists."""


def headlines(comparison: Comparison) -> tuple[str, ...]:
    """The sentences that sum up a comparison: which level is better in which metric, by how much and how surely."""
    said = comparison.said
    found = [line for one in said.levels for line in of_level(comparison, one)]
    return (*found, *of_all(comparison))


def of_all(comparison: Comparison) -> Iterator[str]:
    """The sentences that concern the whole comparison."""
    said = comparison.said
    if said.more_levels:
        yield f"The table has {counted(said.more_levels, 'more arms')}."
    if said.few is not None:
        yield _few_seeds(said.few)
    if said.front is not None:
        yield _front(said.front)


def foremost(comparison: Comparison, level: str) -> str | None:
    """The first finding for a level and the first one against it, in one sentence; None without any."""
    of = comparison.level(level)
    [found] = [one.findings for one in comparison.said.levels if one.level == level] or [()]
    firsts = [(one.verdict, comparison.row(one.metrics[0])) for one in found if one.verdict in DIFFERENT]
    parts = [f"{verdict.value} in {row.metric}, {finding(row, row.differences[level], of)}" for verdict, row in firsts]
    return f"{level} against {of.against}: {'; '.join(parts[:2])}." if parts else None


def _few_seeds(few: FewSeeds) -> str:
    """The sentence about seeds that are too few for any finding, and how many would do."""
    more = "" if few.tests < 2 else f", {few.enough} for the {few.tests} differences here"
    return (
        f"{counted(few.seeds, 'seeds')} can show a direction and no finding: of {counted(few.seeds, 'pairs')} no p is "
        f"below {number(2 / 2**few.seeds)}. At least {FEWEST_PAIRS} seeds are needed for one metric{more}."
    )


# -- one level against another ---------------------------------------------------------------------------------------


@frozen
class Pair:
    """A level and the one that it is compared with. ``axes``: those in which any levels differ."""

    level: Level
    other: Level
    axes: Sequence[str]

    @property
    def names(self) -> tuple[str, str, str]:
        """The names of both, and the values that both have: ``kafka-6794``, ``wiki`` and
        `` at strategy.throttle=10MB/s`` where they differ in one axis of several."""
        axis, values = self.level.along, self.level.values
        rest = [one for one in self.axes if one != axis and one in values]
        if axis is None or not rest or axis not in values:
            return self.level.name, self.other.name, ""
        return _part(values, axis), _part(self.other.values, axis), f" at {', '.join(_part(values, x) for x in rest)}"

    @property
    def head(self) -> str:
        """``kafka-6794 against wiki``."""
        name, base, where = self.names
        return f"{name} against {base}{where}"


def _part(values: Mapping[str, str], axis: str) -> str:
    return values[axis] if axis in (STRATEGY, PROFILE) else f"{axis}={values[axis]}"


def of_level(comparison: Comparison, said: OfLevel) -> Iterator[str]:
    level = comparison.level(said.level)
    pair = Pair(level, comparison.level(level.against or ""), comparison.by)
    for findings in said.findings:
        yield from _findings(comparison, pair, findings)
    if said.none is not None:
        yield f"{pair.head}: {without_finding(said.none, comparison.minimum)}"


def _findings(comparison: Comparison, pair: Pair, said: Findings) -> Iterator[str]:
    level, (name, base, where) = pair.level, pair.names
    rows = [comparison.row(metric) for metric in said.metrics]
    if said.verdict is MetricVerdict.DEPENDS:
        whole = f"{level.name} against {level.against}"
        yield from (f"{whole} in {row.metric} {depends(row, level)}" for row in rows)
        if said.named:
            yield f"{whole} depends on other axes also in {further(said)}."
        return
    parts = "; ".join(f"{row.metric} {finding(row, row.differences[level.name], level)}" for row in rows)
    if said.named:
        parts += f"; also in {further(said)}"
    if said.verdict is MetricVerdict.UNKNOWN:
        yield f"{pair.head}: not settled, though the intervals leave out 0, in {parts}."
    else:
        yield f"{name} is {said.verdict.value} than {base}{where} in {parts}."


def further(said: Findings) -> str:
    """The figures that are only named: ``lag_p50, lag_p99 and 2 more``."""
    return f"{', '.join(said.named)}{f' and {number(said.more)} more' if said.more else ''}"


def without_finding(none: NoFinding, minimum: str) -> str:
    """The end of a sentence about two levels without a finding, after their names."""
    if not none.of:
        return "they have no seed in common."
    if not none.unknown:
        return f"no difference that matters (all are below {minimum})."
    rest = f"; in the others any difference is below {minimum}" if none.unknown < none.of else ""
    return f"no difference is shown; {none.unknown} of {none.of} metrics are not known{rest}."


def finding(row: Row, cell: MetricDifference, level: Level) -> str:
    """A metric's difference, and how sure it is: ``+28% [+27%, +29%] (20 of 20 seeds, p < 0.001)``."""
    base = row.samples[level.against or ""]
    if row.split is None or cell.share is None or cell.alike is None:
        from_ = f", from {number(base.mean, row.unit)}" if not cell.is_share else ""
        return f"{change(cell, row.unit)}{from_} ({sureness(cell)})"
    at, medians = f"{number(row.split.at)} {row.unit}", f"medians {number(row.samples[level.name].median)} and "
    medians += f"{number(base.median)} {row.unit}"
    shares = [percent(row.split.shares[name]) for name in (level.name, level.against or "")]
    said = f"{at} or more in {shares[0]} of the runs against {shares[1]}"
    if cell.telling is cell.share:
        also = f"; else {change(cell.alike, row.unit)}" if cell.alike.verdict in DIFFERENT else ""
        return f"{said} ({p_value(cell.share.p_adjusted)}{also}; {medians})"
    where = f"where both are below {at} or both are not"
    return f"{change(cell.alike, row.unit)} {where} ({sureness(cell.alike)}; {medians}; {said})"


def sureness(cell: MetricDifference) -> str:
    """The number of seeds, and p: ``20 of 20 seeds, p < 0.001``; alike seeds have no p."""
    seeds = cell.higher if (cell.mean or 0) > 0 else cell.lower
    sure = "the seeds are alike" if cell.deterministic and cell.verdict in DIFFERENT else p_value(cell.p_adjusted)
    return f"{seeds} of {cell.pairs} seeds, {sure}"


# -- a difference -----------------------------------------------------------------------------------------------------


def change(cell: MetricDifference, unit: str = "") -> str:
    """The difference with its interval: as a share, ``+28% [+27%, +29%]``, where it can be told as one; else in its
    unit, ``+1,010 [+990, +1,030] ms``."""
    if cell.mean is None:
        return number(None)
    if cell.equal == cell.pairs:
        return "0"
    if cell.is_share:
        assert cell.relative is not None
        ends = _ends(cell.relative_interval, lambda end: percent(end, signed=True))
        return f"{percent(cell.relative, signed=True)}{ends}"
    ends = _ends(cell.interval, lambda end: number(end, signed=True))
    return f"{number(cell.mean, signed=True)}{ends} {unit}".rstrip()


def points(cell: MetricDifference) -> str:
    """The difference of two shares, ``+37 [+12, +60] points``."""
    ends = _ends(cell.interval, lambda end: f"{100 * end:+.0f}")
    return f"{100 * (cell.mean or 0.0):+.0f}{ends} points"


def _ends(interval: Interval | None, text: Callable[[float], str]) -> str:
    return "" if interval is None else f" [{text(interval.low)}, {text(interval.high)}]"


# -- over other axes -------------------------------------------------------------------------------------------------


def depends(row: Row, level: Level) -> str:
    """The sentence about a difference whose sign depends on other axes: on which, and where each sign is surest."""
    cell = row.differences[level.name]
    axes = " and ".join(cell.strata[0].axes)
    ways = [[one for one in cell.strata if one.difference.verdict is verdict] for verdict in DIFFERENT]
    said = "; ".join(_one_way(row, strata, len(cell.strata)) for strata in ways if strata)
    return f"depends on {axes}: {said}. There is no one answer."


def _one_way(row: Row, strata: Sequence[Stratum], of: int) -> str:
    """``better at 8MB/s -37% [...] (20 of 20 seeds, p < 0.001)``; of several the surest one, and how many there are."""
    surest = min(strata, key=lambda one: (one.difference.p or 0.0, -abs(one.difference.mean or 0.0)))
    cell, many = surest.difference, f" {len(strata)} of {of}, such as" if len(strata) > 1 else ""
    own = change(cell, row.unit)
    if row.split is not None:
        own = f"{points(cell)} of the runs with {number(row.split.at)} {row.unit} or more"
    return f"{cell.verdict.value} at{many} {', '.join(surest.values)} {own} ({sureness(cell)})"


# -- several objectives ----------------------------------------------------------------------------------------------


def _front(front: Front) -> str:
    what = ", ".join(front.metrics)
    if len(front.best) == 1:
        return f"By the means {front.best[0]} is best or equal at all of {what}."
    if not front.beaten_by:
        return f"None is best at all of {what}; the choice is between {_listed(front.best)}."
    return (
        f"At {what} together {_listed(front.best)} are not beaten; "
        + ", ".join(f"{name} is, by {by}" for name, by in list(front.beaten_by.items())[:_LISTED])
        + ("." if len(front.beaten_by) <= _LISTED else f", and {number(len(front.beaten_by) - _LISTED)} more.")
    )


def _listed(names: Sequence[str]) -> str:
    shown = list(names[:_LISTED])
    if len(names) > len(shown):
        shown.append(f"{len(names) - len(shown)} more")
    between = "; " if any("," in name for name in shown) else ", "
    return f"{between}and ".join([between.join(shown[:-1]), shown[-1]]) if shown[2:] else " and ".join(shown)
