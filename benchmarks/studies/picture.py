"""One metric of a comparison as a chart: a row for each arm with its median, the interval of that, and the range."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from benchmarks.experiments.charts import Chart, Spread
from scenarios.studies.statistics.result import Comparison, Level, Sample

LOG_FROM = 30
"""The ratio of the largest to the smallest value from which on the axis is logarithmic."""


def chart_of(name: str, comparison: Comparison, metric: str) -> Chart:
    """The chart of one metric; it has no rows where no arm has the metric."""
    row = comparison.row(metric)
    levels = [level for level in comparison.levels if row.samples[level.name].median is not None]
    spreads = tuple(_spreads(comparison, levels, [row.samples[level.name] for level in levels]))
    return Chart(
        name=f"{name}-{metric}",
        caption=f"{metric}: {row.text}",
        x=f"{metric} ({row.unit})",
        y="",
        log="x" if _is_wide(spreads) else "",
        spreads=spreads,
    )


def _spreads(comparison: Comparison, levels: Sequence[Level], samples: Sequence[Sample]) -> Iterator[Spread]:
    """Arms with one value of the first axis have one colour."""
    axis = comparison.by[0] if comparison.by else ""
    groups = list(dict.fromkeys(level.values.get(axis, level.name) for level in levels))
    for level, sample in zip(levels, samples, strict=True):
        assert sample.median is not None
        assert sample.smallest is not None
        assert sample.largest is not None
        known = sample.median_interval
        low, high = (known.low, known.high) if known is not None else (sample.median, sample.median)
        yield Spread(
            label=level.name,
            middle=sample.median,
            interval=(max(low, sample.smallest), min(high, sample.largest)),
            whole=(sample.smallest, sample.largest),
            bound=sample.censored > 0,
            colour=groups.index(level.values.get(axis, level.name)),
        )


def _is_wide(spreads: Sequence[Spread]) -> bool:
    low = min((spread.whole[0] for spread in spreads), default=0)
    return low > 0 and max(spread.whole[1] for spread in spreads) > LOG_FROM * low
