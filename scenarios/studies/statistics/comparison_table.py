"""The comparison of a sweep: its table, for people (in the style of benchstat) and for programs.

In the text there is one line per metric, with ``~`` where a difference is not significant.
"""

from __future__ import annotations

import json
from collections.abc import Sequence

from attrs import asdict, field, frozen

from scenarios.observe.measures.figure import Value
from scenarios.runs.dataset.manifest import Manifest
from scenarios.studies.statistics.paired import Difference

SIGNIFICANT = 0.05
"""Differences whose p is below it are shown."""

_NOTES = """\
Medians over the seeds; a difference is the median of the differences seed by seed, with its 95 % interval
(BCa bootstrap). p: Wilcoxon's signed-rank test after Holm, over the table; ~: p is {significant} or more.
Times are sums over partitions, lags are in records, over time and followers. A move that did not finish
counts as lasting until its run's end; ≥ marks a median that rests on one."""


@frozen(kw_only=True)
class RunFigures:
    """The figures of one run, computed by Spark.

    Attributes:
        completed: whether every move finished; None when it had none.
        observed_s: the time of its moves, up to the run's end where they did not finish.
        agrees: whether the run itself computed the same metrics.
    """

    run_id: str
    strategy: str
    seed: int
    completed: bool | None
    observed_s: float | None
    metrics: dict[str, Value]
    agrees: bool


@frozen(kw_only=True)
class Sample:
    """One metric under one strategy: its median over the runs and the 95 % interval of that.

    Attributes:
        censored: the median rests on a run that did not finish; the true one is larger.
    """

    runs: int
    median: float | None
    low: float | None
    high: float | None
    censored: bool = False


@frozen(kw_only=True)
class Row:
    """One metric.

    Attributes:
        samples: by strategy.
        differences: strategy to its difference from the first one.
        p: strategy to the p value of that difference, adjusted after Holm; None where nothing was tested.
    """

    metric: str
    samples: dict[str, Sample]
    differences: dict[str, Difference]
    p: dict[str, float | None] = field(factory=dict)


@frozen(kw_only=True)
class Comparison:
    """The table and the runs that it is computed from.

    Attributes:
        completed: strategy to (runs whose moves all finished, runs with a move).
        warnings: reasons to doubt the table, one line each.
    """

    manifest: Manifest
    strategies: tuple[str, ...]
    completed: dict[str, tuple[int, int]]
    rows: tuple[Row, ...]
    runs: tuple[RunFigures, ...]
    warnings: tuple[str, ...]

    @property
    def text(self) -> str:
        """The table for people."""
        return _as_text(self)

    def to_json(self) -> str:
        """One JSON object: the manifest, the rows, every run's metrics."""
        return json.dumps(asdict(self), indent=1)


def _as_text(comparison: Comparison) -> str:
    """The whole table, without a line break at its end."""
    manifest, strategies = comparison.manifest, comparison.strategies
    header = ["metric", *strategies]
    for name in strategies[1:]:
        header += [f"{name} - {strategies[0]}", "%", "p"]
    lines = [header, *(_cells(row, strategies) for row in comparison.rows)]
    title = f"{manifest.title} ({manifest.profile}, {len(manifest.seeds)} seeds)"
    done = [
        f"  {name}: {finished} of {moved} runs completed their moves"
        for name, (finished, moved) in comparison.completed.items()
    ]
    warnings = [f"warning: {warning}" for warning in comparison.warnings]
    notes = _NOTES.format(significant=SIGNIFICANT)
    return "\n".join([title, *done, "", *_aligned(lines), "", notes, *warnings])


def _cells(row: Row, strategies: Sequence[str]) -> list[str]:
    cells = [row.metric, *(_sample(row.samples[name]) for name in strategies)]
    base = row.samples[strategies[0]].median
    for name in strategies[1:]:
        difference, p = row.differences[name], row.p[name]
        if difference.median is None:
            cells += ["-", "", "n=0"]
        elif p is None or p >= SIGNIFICANT:
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
