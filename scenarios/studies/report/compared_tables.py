"""The tables of a data set's report: they say in numbers what the figures show, and can be read without any script."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from scenarios.studies.report.arm_axes import ArmAxes
from scenarios.studies.report.first_screen import TONES
from scenarios.studies.report.html_page import choice, note, table
from scenarios.studies.report.markup import Html, Node, element, joined
from scenarios.studies.report.written_numbers import number, percent, typeset
from scenarios.studies.statistics.numbers import p_value
from scenarios.studies.statistics.result import (
    DIFFERENT,
    Comparison,
    Completions,
    Interval,
    MetricDifference,
    MetricVerdict,
    Row,
)
from scenarios.studies.statistics.text import change_of, mean_of

SHORT = {verdict: verdict.value for verdict in MetricVerdict} | {MetricVerdict.SAME: "does not matter"}
"""Verdicts in a table."""
_TOLD_EFFECTS = 12
_LONG = 22
"""Letters of a name above which a table's caption has it, and not the head of a column."""


def comparison_tables(comparison: Comparison) -> Html:
    """A table for each arm but the baseline, of which the script shows one; of the baseline alone where it is alone."""
    rows = varying(comparison)
    others = comparison.levels[1:]
    if not others:
        return joined(_alone(comparison, rows), _constant(comparison))
    labels = ArmAxes.of(comparison).labels
    pick = choice("table-level", "Table of", [(level.name, labels[level.name]) for level in others])
    return joined(
        element("div", pick, class_="controls") if len(others) > 1 else None,
        *(
            element("div", _against(comparison, level.name, rows), data_level=level.name, class_="level")
            for level in others
        ),
        _constant(comparison),
    )


def varying(comparison: Comparison) -> list[Row]:
    """The rows in which any two runs differ."""
    return [row for row in comparison.rows if len(_values(row)) > 1]


def _values(row: Row) -> set[float]:
    both = (value for sample in row.samples.values() for value in (sample.smallest, sample.largest))
    return {value for value in both if value is not None}


def _constant(comparison: Comparison) -> Html | None:
    """The rows that are the same in every run, in one line each kind."""
    zero = [row.metric for row in comparison.rows if _values(row) == {0}]
    other = [f"{row.metric} {number(value, row.unit)}" for row in comparison.rows for value in _values(row)
             if value and len(_values(row)) == 1]  # fmt: skip
    said = [
        f"0 in every run: {', '.join(zero)}." if zero else None,
        f"The same in every run: {', '.join(other)}." if other else None,
    ]
    lines = [note(line) for line in said if line]
    return joined(*lines) if lines else None


def _against(comparison: Comparison, level: str, rows: Sequence[Row]) -> Html:
    base, labels = comparison.against(level), ArmAxes.of(comparison).labels
    means = (
        labels[name] if len(labels[name]) <= _LONG else shorter
        for name, shorter in ((base, "baseline"), (level, "arm"))
    )
    heads = ["Figure", *means, "difference", "95% interval", "share", "seeds higher, lower", "p", "finding"]
    return table(
        heads,
        (list(_cells(row, base, level)) for row in rows),
        caption=f"{labels[level]} against {labels[base]}: means over the seeds, and mean differences seed by seed",
        numeric=range(1, 8),
    )


def _cells(row: Row, base: str, level: str) -> Iterator[Node]:
    difference = row.differences[level]
    yield named(row)
    yield from (typeset(mean_of(row, name)) for name in (base, level))
    tone = TONES.get(difference.verdict)
    if difference.has_mean:
        yield element("span", number(difference.mean, signed=True), class_=tone)
        yield interval(difference.interval)
        told = difference.relative if difference.is_share else None
        yield "" if told is None else percent(told, signed=True)
    else:
        yield element("span", typeset(change_of(row, difference)), class_=tone)
        yield from ("", "")
    yield f"{difference.higher}, {difference.lower}" if difference.pairs else ""
    yield _p(difference)
    yield element(
        "span", SHORT[difference.verdict], class_=f"{tone if difference.verdict in DIFFERENT else 'quiet'} whole"
    )


def named(row: Row) -> Html:
    """A figure's name and unit; its meaning is shown on hovering."""
    return joined(element("span", row.metric, title=row.text), " ", element("small", row.unit))


def _p(difference: MetricDifference) -> str:
    p = None if difference.telling.deterministic else difference.telling.p_adjusted
    return "" if p is None else p_value(p).removeprefix("p ").removeprefix("= ")


def _alone(comparison: Comparison, rows: Sequence[Row]) -> Html:
    samples = [(row, row.samples[comparison.baseline]) for row in rows]
    cells = [
        [
            named(row),
            typeset(mean_of(row, comparison.baseline)),
            number(sample.median),
            number(sample.smallest),
            number(sample.largest),
        ]
        for row, sample in samples
    ]
    heads = ["Figure", "mean", "median", "smallest", "largest"]
    return table(heads, cells, caption=f"{comparison.baseline}, over the seeds", numeric=range(1, 5))


def completion_table(comparison: Comparison, completions: Completions) -> Html:
    """How many runs finished their moves, and when."""
    rows: list[list[Node]] = []
    on = ArmAxes.of(comparison)
    for level in comparison.levels:
        completion = completions.levels.get(level.name)
        if completion is None:
            continue
        p = completion.p_adjusted
        rows.append([
            on.labels[level.name], f"{number(level.finished)} of {number(level.moved)}",
            number(completion.median_s), number(completion.restricted_mean_s), "" if p is None else p_value(p),
        ])  # fmt: skip
    heads = [on.heading, "finished", "half by (s)", f"mean up to {number(completions.horizon_s, 's')} (s)", "log-rank"]
    return table(heads, rows, caption="Runs whose moves all finished", numeric=range(1, 5))


def axes_table(comparison: Comparison) -> Html | None:
    """How much each axis of the grid matters, for the figures where the axes matter most."""
    ranked = sorted(comparison.effects, key=lambda one: -sum(effect.share for effect in one.effects))[:_TOLD_EFFECTS]
    if not ranked:
        return None
    heads = [" \u00d7 ".join(effect.axes) for effect in ranked[0].effects]
    rows: list[list[Node]] = [
        [one.metric, *(percent(effect.share) for effect in one.effects), percent(one.seeds), percent(one.rest)]
        for one in ranked
    ]
    return table(
        ["Figure", *heads, "seeds", "rest"],
        rows,
        caption="Share of a figure's variance that goes with an axis, with two axes together, and with the seed",
        numeric=range(1, len(heads) + 3),
    )


def interval(found: Interval | None) -> str:
    """``−1.2 to +0.3``."""
    return "" if found is None else f"{number(found.low, signed=True)} to {number(found.high, signed=True)}"
