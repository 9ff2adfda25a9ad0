"""The comparison as people read it, in benchstat's manner: one line per metric, ``~`` where nothing is
certain."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from scenarios.studies.spark.compare import Comparison, Row, Sample

_NOTES = """\
Medians over the seeds; a difference is the median of the differences seed by seed, with its 95 % interval
(BCa bootstrap). p: Wilcoxon's signed-rank test after Holm, over the table; ~: p is {significant} or more.
Times are sums over partitions, lags are in records, over time and followers. A move that did not finish
counts as lasting until its run's end; ≥ marks a median that rests on one."""


def as_text(comparison: Comparison) -> str:
    """The whole table, without a line break at its end."""
    from scenarios.studies.spark.compare import SIGNIFICANT

    manifest, strategies = comparison.manifest, comparison.strategies
    header = ["metric", *strategies]
    for name in strategies[1:]:
        header += [f"{name} - {strategies[0]}", "%", "p"]
    lines = [header, *(_cells(row, strategies, SIGNIFICANT) for row in comparison.rows)]
    title = f"{manifest.title} ({manifest.profile}, {len(manifest.seeds)} seeds)"
    done = [
        f"  {name}: {finished} of {moved} runs completed their moves"
        for name, (finished, moved) in comparison.completed.items()
    ]
    warnings = [f"warning: {warning}" for warning in comparison.warnings]
    notes = _NOTES.format(significant=SIGNIFICANT)
    return "\n".join([title, *done, "", *_aligned(lines), "", notes, *warnings])


def _cells(row: Row, strategies: Sequence[str], significant: float) -> list[str]:
    cells = [row.metric, *(_sample(row.samples[name]) for name in strategies)]
    base = row.samples[strategies[0]].median
    for name in strategies[1:]:
        difference, p = row.differences[name], row.p[name]
        if difference.median is None:
            cells += ["-", "", "n=0"]
        elif p is None or p >= significant:
            cells += ["~", "", "" if p is None else f"{p:.3f}"]
        else:
            interval = f" [{_number(difference.low)}, {_number(difference.high)}]"
            percent = f"{difference.median / base:+.0%}" if base else ""
            cells += [f"{difference.median:+.4g}{interval}", percent, f"{p:.3f}"]
    return cells


def _sample(sample: Sample) -> str:
    if sample.median is None:
        return "-"
    return f"{'≥' if sample.censored else ''}{_number(sample.median)}"


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.4g}"


def _aligned(lines: Sequence[Sequence[str]]) -> list[str]:
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    return [
        "  ".join(
            cell.ljust(width) if column == 0 else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]
