"""docs/understand/experiments.md: each experiment's table and pictures, between marks in a text that people write."""

from pathlib import Path

from benchmarks.experiments.experiment import Experiment, Outcome
from benchmarks.results import between_marks

DOCS = Path(__file__).parents[2] / "docs" / "understand"


def section(experiment: Experiment, outcome: Outcome, cpu_s: float) -> list[str]:
    """The section of an experiment."""
    lines = [f"`python -m benchmarks.experiments {experiment.name} --write` ({cpu_s:,.0f} s of CPU)", ""]
    lines += outcome.lines()
    for chart in outcome.charts:
        lines += ["", f"![{chart.caption}](pictures/{chart.name}.svg)", "", f"*{chart.caption}*"]
    return lines


def write(experiment: Experiment, outcome: Outcome, cpu_s: float, docs: Path = DOCS) -> None:
    """Replace the experiment's section and pictures."""
    from benchmarks.experiments.pictures import svg

    (docs / "pictures").mkdir(exist_ok=True)
    for chart in outcome.charts:
        (docs / "pictures" / f"{chart.name}.svg").write_text(svg(chart), encoding="utf-8")
    page = docs / "experiments.md"
    before = page.read_text(encoding="utf-8") if page.exists() else "# Experiments\n"
    new = f"## {experiment.name.upper()}: {experiment.title}"
    page.write_text(between_marks(before, experiment.name, section(experiment, outcome, cpu_s), new), encoding="utf-8")
