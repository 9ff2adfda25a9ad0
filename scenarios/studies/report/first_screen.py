"""The sentences of a data set's first screen: which arm is better at what, by how much, and how sure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from math import isclose

from scenarios.studies.report.arm_axes import ArmAxes
from scenarios.studies.report.markup import Html, Node, element, joined
from scenarios.studies.report.numbers import number, p_value, percent
from scenarios.studies.report.page import note, table
from scenarios.studies.statistics.numbers import is_shown_as_share
from scenarios.studies.statistics.result import (
    DIFFERENT,
    FEWEST_PAIRS,
    Comparison,
    Difference,
    Front,
    Level,
    Row,
    Sample,
    Verdict,
)
from scenarios.studies.statistics.sentences import depends, few_seeds, finding, leaves_out_0
from scenarios.units import counted

TONES = {Verdict.BETTER: "good", Verdict.WORSE: "bad"}
_LEVELS = 3
"""Arms that have sentences; of all arms the scores tell."""
_EACH = 3
"""Findings of a verdict that sentences tell; the table has all."""
_BRIEF = 450
"""Letters of headlines on the first screen, unless the first one alone is longer: about four lines."""
_SAME = 1e-3


def brief(comparison: Comparison) -> Html:
    """The text of the first screen, six lines where there is room: the first headlines, and the way to the others."""
    if len(comparison.levels) == 1:
        return joined(answer(comparison), doubts(comparison))
    shown = list(comparison.headlines[:1])
    for line in comparison.headlines[1:]:
        if sum(map(len, shown)) + len(line) > _BRIEF:
            break
        shown.append(line)
    left, reasons = len(comparison.headlines) - len(shown), len(comparison.doubts)
    rest = [counted(left, "more findings")] if left else []
    rest += [f"{counted(reasons, 'reasons')} for doubt"] if reasons else []
    more = element("p", element("a", " and ".join(rest), href="#findings")) if rest else None
    return element("div", *(element("p", line) for line in shown), more, class_="answer brief")


def doubts(comparison: Comparison) -> Html:
    """The reasons to doubt the comparison."""
    return joined(*(note(doubt.text, tone="warning") for doubt in comparison.doubts))


def answer(comparison: Comparison) -> Html:
    """The sentences: of the arms with the gravest findings, in the order of the study."""
    if len(comparison.levels) == 1:
        return element("p", element("b", comparison.baseline), " was run alone: there is nothing to compare it with.")
    first = list(dict.fromkeys(level for _metric, level in comparison.told))[:_LEVELS]
    parts = [_of_level(comparison, level.name) for level in comparison.levels[1:] if level.name in first]
    best = comparison.front
    return element("div", *parts, None if best is None else _front(best), class_="answer")


def scores(comparison: Comparison, rows: Sequence[Row]) -> Html:
    """Of each arm but the baseline, in how many figures it is better, worse, the same, or not known."""
    counts = {
        level.name: Counter(row.differences[level.name].verdict for row in rows) for level in comparison.levels[1:]
    }
    kinds = [verdict for verdict in Verdict if any(count[verdict] for count in counts.values())]
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


def _of_level(comparison: Comparison, name: str) -> Html:
    rows = {row.metric: row for row in comparison.rows}
    level = next(level for level in comparison.levels if level.name == name)
    cells = [(rows[metric], rows[metric].differences[name]) for metric, at in comparison.told if at == name]
    said = [[element("li", line) for row, cell in cells if (line := depends(level, row, cell))][:_EACH]]
    said += [list(_findings(cells, level, verdict)) for verdict in (Verdict.BETTER, Verdict.WORSE)]
    said = [lines for lines in said if lines]
    if not said:
        said = [list(_unsettled(cells, level)) or list(_nothing(cells, comparison.minimum))]
    head = element("h2", name, element("span", f" against {comparison.against(name)}", class_="quiet"))
    return joined(head, element("div", *(element("ul", *lines) for lines in said), class_="verdicts"))


def _findings(cells: Sequence[tuple[Row, Difference]], level: Level, verdict: Verdict) -> Iterator[Html]:
    """The first ones in a sentence each; those that say the same of the same runs in other words are only named."""
    told: list[tuple[Row, Difference]] = []
    named: list[str] = []
    for row, cell in cells:
        if cell.verdict is verdict:
            if len(told) < _EACH and not any(_alike(cell, other) for _, other in told):
                told.append((row, cell))
            else:
                named.append(row.metric)
    word = element("b", verdict.value.capitalize(), class_=TONES[verdict])
    for row, cell in told:
        yield element("li", word, " in ", *_finding(row, cell, level))
    if named:
        yield element("li", word, " also in ", *_codes(named), ".")


def _alike(cell: Difference, other: Difference) -> bool:
    """Whether two figures differ by the same share on the same seeds, as times of one partition and of all do."""
    return (
        cell.relative is not None
        and other.relative is not None
        and isclose(cell.relative, other.relative, rel_tol=_SAME)
        and (cell.higher, cell.lower) == (other.higher, other.lower)
    )


def _finding(row: Row, cell: Difference, level: Level) -> Iterator[Node]:
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
    if is_shown_as_share(cell) and cell.relative is not None and cell.relative_interval is not None:
        low, high = (percent(end, signed=True) for end in (cell.relative_interval.low, cell.relative_interval.high))
        yield f" ({percent(cell.relative, signed=True)}; 95% interval {low} to {high})"
    elif cell.interval is not None:
        low, high = number(cell.interval.low, signed=True), number(cell.interval.high, row.unit, signed=True)
        yield f" (95% interval {low} to {high})"
    p = "" if cell.p_adjusted is None else f", {_in_one(p_value(cell.p_adjusted))}"
    sure = ", which are alike" if cell.deterministic else p
    yield f", on {cell.higher if cell.mean > 0 else cell.lower} of {cell.pairs} seeds{sure}. "
    yield element("small", row.text, ".")


def _mean(sample: Sample, unit: str) -> str:
    """``≥`` before a mean of times of which some are only bounds."""
    return _in_one(f"{'≥ ' if sample.censored else ''}{_amount(sample.mean, unit)}")


def _in_one(text: str) -> str:
    """The text without a place to break the line."""
    return text.replace(" ", "\u00a0")


def _codes(names: Iterable[str]) -> Sequence[Node]:
    return [part for name in names for part in (", ", element("code", name))][1:]


def _amount(value: float | None, unit: str) -> str:
    """``1 event``, ``2 events``, ``0.5 s``."""
    return number(value, unit.removesuffix("s") if value == 1 and len(unit) > 2 else unit)


def _nothing(cells: Sequence[tuple[Row, Difference]], minimum: str) -> Iterator[Html]:
    unknown = [row.metric for row, cell in cells if cell.verdict is Verdict.UNKNOWN]
    other = [(row, cell) for row, cell in cells if cell.verdict in DIFFERENT]
    if not cells:
        yield element("li", "The two have no seed in common.")
        return
    pairs = max(cell.pairs for _, cell in cells)
    if pairs < FEWEST_PAIRS:
        yield element("li", few_seeds(pairs, sum(cell.equal < cell.pairs for _, cell in cells)))
        return
    if other:
        yield element(
            "li",
            "It differs in figures of which neither value is better: ",
            ", ".join(row.metric for row, _ in other),
            ".",
        )
    told = f"No difference that matters: all are below {minimum}."
    if unknown:
        rest = f"; in the others any difference is below {minimum}" if len(unknown) < len(cells) else ""
        told = f"No difference is shown: {len(unknown)} of {len(cells)} figures are not known{rest}."
    yield element("li", told)


def _unsettled(cells: Sequence[tuple[Row, Difference]], level: Level) -> Iterator[Html]:
    """The largest differences whose interval leaves out 0, although too few seeds make them findings."""
    unknown = [(row, cell) for row, cell in cells if cell.verdict is Verdict.UNKNOWN and leaves_out_0(cell.telling)]
    for row, cell in unknown[:_EACH]:
        yield element("li", element("b", "Not settled"), " in ", *_finding(row, cell, level))


def _front(best: Front) -> Html:
    metrics = _codes(best.metrics)
    if len(best.best) == 1:
        return element(
            "p", "By the means ", element("b", best.best[0]), " is best, or as good as any, in all of ", *metrics, "."
        )
    if len(best.best) > _LEVELS:
        return element(
            "p", f"{len(best.best)} of {len(best.points)} arms are beaten by none in ", *metrics, " together."
        )
    names = [part for name in best.best for part in (", ", element("b", name))][1:]
    return element("p", "Taking ", *metrics, " together, no other arm is better than ", *names, ".")
