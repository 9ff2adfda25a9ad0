"""Tables of results, as a notebook shows them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from scenarios.studies.report.markup import Html, Node, element, joined

if TYPE_CHECKING:
    import pandas as pd

    from scenarios.runs.dataset.reader import RunRead
    from scenarios.studies.statistics.result import Comparison


def results_html(title: str, runs: Sequence[RunRead]) -> Html:
    """How many runs each arm has, how many are done, and how many failed."""
    arms: dict[str, list[RunRead]] = {}
    for run in runs:
        arms.setdefault(run.arm.name, []).append(run)
    rows = ((name, *map(str, _counts(of_arm))) for name, of_arm in arms.items())
    return joined(
        element("p", element("b", title), f": {len(runs)} runs"),
        table(("arm", "seeds", "done", "failed", "moves finished"), rows),
    )


def _counts(runs: Sequence[RunRead]) -> tuple[int, int, int, int]:
    done = [run for run in runs if run.is_done]
    seeds = len({run.row["seed"] for run in runs})
    return seeds, len(done), len(runs) - len(done), sum(run.row["completed"] is True for run in done)


def comparison_frame(comparison: Comparison) -> pd.DataFrame:
    """A row for each metric and level but the baseline."""
    import pandas as pd

    rows = (
        {
            "metric": row.metric,
            "unit": row.unit,
            "level": level,
            "baseline": comparison.against(level),
            "baseline_mean": row.samples[comparison.against(level)].mean,
            "level_mean": row.samples[level].mean,
            "pairs": found.pairs,
            "mean": found.mean,
            "low": found.interval and found.interval.low,
            "high": found.interval and found.interval.high,
            "relative": found.relative,
            "dominance": found.dominance,
            "p_adjusted": found.telling.p_adjusted,
            "verdict": found.verdict.value,
        }
        for row in comparison.rows
        for level, found in row.differences.items()
    )
    return pd.DataFrame(list(rows))


def comparison_html(comparison: Comparison) -> Html:
    """The sentences, the most telling differences and the doubts: those of the text."""
    from scenarios.studies.statistics.text import first_told, left_out

    shown = first_told(comparison)
    left = left_out(comparison, shown)
    heads = ("metric", "unit", "arm", "against", "mean", "its mean", "difference", "verdict")
    return joined(
        element("p", element("b", comparison.title)),
        element("ul", *(element("li", line) for line in comparison.headlines)),
        table(heads, (_told(comparison, metric, level) for metric, level in shown)) if shown else None,
        element("p", f"{left}: to_pandas() has all") if left else None,
        *(element("p", f"Doubt: {doubt.text}") for doubt in comparison.doubts),
    )


def _told(comparison: Comparison, metric: str, level: str) -> Sequence[str]:
    from scenarios.studies.statistics.text import change_of, mean_of, verdict_of

    row, against = comparison.row(metric), comparison.against(level)
    found = row.differences[level]
    means = mean_of(row, level), mean_of(row, against)
    return metric, row.unit, level, against, *means, change_of(row, found), verdict_of(found)


def table(heads: Sequence[str], rows: Iterable[Sequence[Node]]) -> Html:
    """A plain table, which notebooks have a style for."""
    return element(
        "table",
        element("thead", element("tr", *(element("th", head) for head in heads))),
        element("tbody", *(element("tr", *(element("td", cell) for cell in row)) for row in rows)),
    )
