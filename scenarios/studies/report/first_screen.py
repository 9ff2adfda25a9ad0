"""The sentences of a data set's first screen: what is said of the comparison (``scenarios.studies.statistics.said``),
with both means of each finding and what the figure means."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from scenarios.studies.report.arm_axes import ArmAxes
from scenarios.studies.report.html_page import note, table
from scenarios.studies.report.markup import Html, Node, element, joined
from scenarios.studies.report.written_numbers import number, percent
from scenarios.studies.statistics.result import (
    Comparison,
    Findings,
    Level,
    MetricDifference,
    MetricVerdict,
    OfLevel,
    Row,
    Sample,
)
from scenarios.studies.statistics.sentences import depends, finding, further, of_all, sureness, without_finding
from scenarios.units import counted

TONES = {MetricVerdict.BETTER: "good", MetricVerdict.WORSE: "bad"}
WORDS = {verdict: verdict.value.capitalize() for verdict in MetricVerdict} | {MetricVerdict.UNKNOWN: "Not settled"}
"""Before the name of a figure. An interval that leaves out 0, of too few seeds, is not settled."""
_BRIEF = 450
"""Letters of headlines on the first screen, unless the first one alone is longer: about four lines."""


def brief(comparison: Comparison) -> Html:
    """The text of the first screen, six lines where there is room: the first headlines, and the way to the others."""
    if len(comparison.levels) == 1:
        return joined(answer(comparison), doubts(comparison))
    lines = comparison.headlines
    shown = list(lines[:1])
    for line in lines[1:]:
        if sum(map(len, shown)) + len(line) > _BRIEF:
            break
        shown.append(line)
    left, reasons = len(lines) - len(shown), len(comparison.doubts)
    rest = [counted(left, "more findings")] if left else []
    rest += [f"{counted(reasons, 'reasons')} for doubt"] if reasons else []
    more = element("p", element("a", " and ".join(rest), href="#findings")) if rest else None
    return element("div", *(element("p", line) for line in shown), more, class_="answer brief")


def doubts(comparison: Comparison) -> Html:
    return joined(*(note(doubt.text, tone="warning") for doubt in comparison.doubts))


def answer(comparison: Comparison) -> Html:
    if len(comparison.levels) == 1:
        return element("p", element("b", comparison.baseline), " was run alone: there is nothing to compare it with.")
    levels = (_of_level(comparison, one) for one in comparison.said.levels)
    return element("div", *levels, *(element("p", line) for line in of_all(comparison)), class_="answer")


def scores(comparison: Comparison, rows: Sequence[Row]) -> Html:
    """The table of scores: in how many figures each arm but the baseline is better, worse, the same, or not known."""
    counts = {
        level.name: Counter(row.differences[level.name].verdict for row in rows) for level in comparison.levels[1:]
    }
    kinds = [verdict for verdict in MetricVerdict if any(count[verdict] for count in counts.values())]
    on = ArmAxes.of(comparison)
    cells: list[list[Node]] = [
        [
            on.labels[name],
            *(element("span", number(count[kind]), class_=TONES.get(kind) if count[kind] else None) for kind in kinds),
        ]
        for name, count in counts.items()
    ]
    caption = (
        f"Of {len(rows)} figures that differ between runs: how many are better or worse than in the arm that it is "
        "compared with"
    )
    return table(
        [on.heading, *(kind.value for kind in kinds)], cells, caption=caption, numeric=range(1, len(kinds) + 1)
    )


def _of_level(comparison: Comparison, said: OfLevel) -> Html:
    level = comparison.level(said.level)
    head = element("h2", level.name, element("span", f" against {level.against}", class_="quiet"))
    lists = [element("ul", *_findings(comparison, level, findings)) for findings in said.findings]
    if said.none is not None:
        words = without_finding(said.none, comparison.minimum)
        lists.append(element("ul", element("li", f"{words[0].upper()}{words[1:]}")))
    return joined(head, element("div", *lists, class_="verdicts"))


def _findings(comparison: Comparison, level: Level, said: Findings) -> Iterator[Html]:
    word = element("b", WORDS[said.verdict], class_=TONES.get(said.verdict))
    for metric in said.metrics:
        row = comparison.row(metric)
        if said.verdict is MetricVerdict.DEPENDS:
            yield element("li", element("code", metric), " ", depends(row, level))
        else:
            yield element("li", word, " in ", *_finding(row, row.differences[level.name], level))
    if said.named:
        yield element("li", word, " also in ", further(said), ".")


def _finding(row: Row, cell: MetricDifference, level: Level) -> Iterator[Node]:
    """``time_to_complete_s: 20.6 s against 7.2 s (+186%; 95% interval +171% to +201%), on 24 of 24 seeds, p = 0.001.``,
    and the figure's meaning; of a figure with two peaks the share of the upper one and the medians."""
    assert cell.mean is not None, "a finding has a difference"
    assert level.against is not None, "a finding is about two levels"
    yield element("code", row.metric)
    yield ": "
    if row.split is not None:
        yield f"{finding(row, cell, level)}. "
        yield element("small", row.text, ".")
        return
    yield element("b", _mean(row.samples[level.name], row.unit))
    yield f" against {_mean(row.samples[level.against], row.unit)}"
    if cell.is_share and cell.relative is not None and cell.relative_interval is not None:
        low, high = (percent(end, signed=True) for end in (cell.relative_interval.low, cell.relative_interval.high))
        yield f" ({percent(cell.relative, signed=True)}; 95% interval {low} to {high})"
    elif cell.interval is not None:
        low, high = number(cell.interval.low, signed=True), number(cell.interval.high, row.unit, signed=True)
        yield f" ({number(cell.mean, signed=True)}; 95% interval {low} to {high})"
    yield f", on {sureness(cell)}. "
    yield element("small", row.text, ".")


def _mean(sample: Sample, unit: str) -> str:
    """``≥`` before a mean of times of which some are only bounds."""
    return _in_one(f"{'≥ ' if sample.censored else ''}{_amount(sample.mean, unit)}")


def _in_one(text: str) -> str:
    """The text without a place to break the line."""
    return text.replace(" ", "\u00a0")


def _amount(value: float | None, unit: str) -> str:
    """``1 event``, ``2 events``, ``0.5 s``."""
    return number(value, unit.removesuffix("s") if value == 1 and len(unit) > 2 else unit)
