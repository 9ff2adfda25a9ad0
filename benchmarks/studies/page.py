"""Pages in docs/understand/studies: what a study asks and finds. People write it, but for what is between marks."""

from __future__ import annotations

from pathlib import Path

from benchmarks.experiments.charts import Chart
from benchmarks.results import between_marks, machine
from benchmarks.studies.picture import chart_of
from scenarios.language.files import load
from scenarios.studies.statistics.result import Comparison

STUDIES = Path(__file__).parents[2] / "docs" / "understand" / "studies"
MARK = "findings"


def section(name: str, comparison: Comparison, charts: list[Chart]) -> list[str]:
    """The lines between the marks."""
    lines = [machine(f"python -m benchmarks.studies {name} --write"), "", "```text", comparison.text, "```"]
    for chart in charts:
        lines += ["", f"![{chart.caption}](pictures/{chart.name}.svg)", "", f"*{chart.caption}*"]
    return lines


def write(name: str, comparison: Comparison, folder: Path = STUDIES) -> None:
    """Replace the findings of the study's page, and its pictures; without a page, make one."""
    from benchmarks.experiments.pictures import svg

    scenario = load(name)
    assert scenario.study is not None
    known = {row.metric for row in comparison.rows}
    charts = [chart_of(name, comparison, metric) for metric in scenario.study.compare if metric in known]
    charts = [chart for chart in charts if chart.spreads]
    (folder / "pictures").mkdir(parents=True, exist_ok=True)
    for chart in charts:
        (folder / "pictures" / f"{chart.name}.svg").write_text(svg(chart), encoding="utf-8")
    page = folder / f"{name}.md"
    description = " ".join(scenario.description.split())
    before = page.read_text(encoding="utf-8") if page.exists() else f"# {scenario.title}\n\n{description}\n"
    found = section(name, comparison, charts)
    page.write_text(between_marks(before, MARK, found, "## What it found"), encoding="utf-8")
