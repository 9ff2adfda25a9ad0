"""The scaffold of the experiments: what agrees, what does not, and how the report shows it."""

from pathlib import Path

import pytest

from benchmarks.experiments import __main__ as command
from benchmarks.experiments.charts import MOST_POINTS, Band, Chart, Line, thinned
from benchmarks.experiments.experiment import (
    EXACT,
    NEVER,
    Experiment,
    Finding,
    Outcome,
    Tolerance,
    about,
    at_least,
    at_most,
    within,
)
from benchmarks.experiments.page import write
from benchmarks.experiments.pictures import svg

PICTURE = Chart(
    name="test-picture", caption="A picture", x="s", y="MB",
    lines=(Line("so much", [(0, 1), (1, 2)]), Line("", [(0, 2), (1, 1)], "steps", 0)), moments=((0.5, "now"),),
)  # fmt: skip


def finding(expected: float, emulated: float, tolerance: Tolerance = EXACT, why: str = "") -> Finding:
    return Finding(what="T", expected=expected, emulated=emulated, tolerance=tolerance, why=why)


@pytest.mark.parametrize(
    ("tolerance", "expected", "emulated", "agrees"),
    [
        (within(0.02), 100, 102, True),
        (within(0.02), 100, 98, True),
        (within(0.02), 100, 102.1, False),
        (within(0.02), 100, NEVER, False),
        (within(0.02), NEVER, 100, False),
        (within(0.02), NEVER, NEVER, True),
        (within(0.02), 0, 0.001, False),
        (EXACT, 5, 5, True),
        (EXACT, 5, 5.001, False),
        (at_least(0.9), 100, 90, True),
        (at_least(), 100, 99.9, False),
        (at_most(2), 100, 200, True),
        (at_most(), 100, NEVER, False),
    ],
)
def test_what_agrees(tolerance: Tolerance, expected: float, emulated: float, agrees: bool) -> None:
    assert finding(expected, emulated, tolerance).agrees is agrees


def test_a_row_says_what_why_and_how_much() -> None:
    assert finding(10_000, 10_012.4, within(0.02)).cells(()) == ("T", "10,000 s", "10,012 s", "2 %", "yes")
    stood = finding(66.666, NEVER, EXACT, "it stood")
    assert stood.cells(("another", "it stood")) == ("T", "66.67 s", "never", "exact", "no: 2")
    assert finding(1, 2).cells(()) == ("T", "1 s", "2 s", "exact", "no: not understood")
    lines = Outcome(findings=(stood, finding(1, 1, why="unsaid"), finding(1, 3, about(1), "it ran"), stood)).lines()
    assert lines[2:] == [
        "| T | 66.67 s | never | exact | no: 1 |",
        "| T | 1 s | 1 s | exact | yes |",
        "| T | 1 s | 3 s | ± 1 | no: 2 |",
        "| T | 66.67 s | never | exact | no: 1 |",
        "", "Why not:", "", "1. it stood", "2. it ran",
    ]  # fmt: skip


def test_a_picture_is_the_same_bytes_each_time_and_names_no_day() -> None:
    text = svg(PICTURE)
    assert text == svg(PICTURE)
    assert "so much</text>" in text, "letters stay letters"
    assert "date" not in text.lower()
    assert len(text) < 20_000


def test_a_gantt_chart_has_its_rows_and_its_states() -> None:
    bands = (Band(0, 0, 1, "leader"), Band(1, 0, 2, "in sync"))
    text = svg(Chart(name="g", caption="", x="s", y="", rows=("broker 0", "broker 1"), bands=bands))
    assert all(f"{word}</text>" in text for word in ("broker 0", "broker 1", "leader", "in sync"))


def test_a_long_series_keeps_its_ends() -> None:
    points = thinned([(float(x), 0.0) for x in range(10_000)])
    assert len(points) == MOST_POINTS
    assert (points[0][0], points[-1][0]) == (0, 9_999)


def test_a_section_of_the_page_is_replaced_and_the_text_around_it_stays(tmp_path: Path) -> None:
    told = Experiment(name="e0", title="a test", source="nobody", carry_out=lambda quick: Outcome(findings=()))
    page = tmp_path / "experiments.md"
    page.write_text("# Experiments\n\nBefore.\n\n<!-- e0 -->\nold\n<!-- /e0 -->\n\nAfter.\n")
    write(told, Outcome(findings=(finding(1, 1),), charts=(PICTURE,), remarks=("Remarkable.",)), 3.2, tmp_path)
    text = page.read_text()
    assert "old" not in text
    assert text.startswith("# Experiments\n\nBefore.\n\n<!-- e0 -->\n")
    assert text.endswith("\n<!-- /e0 -->\n\nAfter.\n")
    assert "| T | 1 s | 1 s | exact | yes |" in text
    assert "![A picture](pictures/test-picture.svg)" in text
    assert (tmp_path / "pictures" / "test-picture.svg").read_text() == svg(PICTURE)


def test_a_missed_tolerance_is_exit_code_1(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    def experiment(name: str, emulated: float) -> Experiment:
        outcome = Outcome(findings=(finding(1, emulated),))
        return Experiment(name=name, title="a test", source="nobody", carry_out=lambda quick: outcome)

    monkeypatch.setattr(command, "experiments", lambda: {"e1": experiment("e1", 1), "e2": experiment("e2", 2)})
    assert command.main(["e1"]) == 0
    assert command.main(["e1", "e2"]) == 1
    assert "disagrees: e2, T" in capsys.readouterr().err
    assert command.main(["--list"]) == 0
    assert capsys.readouterr().out == "e1    a test\ne2    a test\n"
    with pytest.raises(SystemExit) as exit:
        command.main(["e3"])
    assert exit.value.code == 2
    assert "there is no experiment 'e3'" in capsys.readouterr().err
