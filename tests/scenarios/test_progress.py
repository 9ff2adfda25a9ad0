"""Progress: lines with the time left."""

from __future__ import annotations

import pytest

from scenarios import progress
from scenarios.progress import Progress


class Clock:
    """A clock that shows what it was set to."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


def test_the_time_left_comes_from_what_was_done_since_the_beginning() -> None:
    lines: list[str] = []
    clock = Clock()
    work = Progress("sweep", lines.append, total=40, done=20, clock=clock)
    work.report(20, "20 of 40 runs")
    clock.seconds += 10
    work.report(22, "22 of 40 runs")
    clock.seconds += 90
    work.report(40, "40 of 40 runs")
    assert lines == ["sweep: 20 of 40 runs", "sweep: 22 of 40 runs, about 90 s left", "sweep: 40 of 40 runs"]


def test_short_work_is_not_reported() -> None:
    lines: list[str] = []
    clock = Clock()
    work = Progress("run", lines.append, total=100, clock=clock)
    for seconds in (0.5, 1.9, 2.5, 3.0, 4.6):
        clock.seconds = 100 + seconds
        work.report_seldom(seconds, lambda passed: f"{passed:.1f} s passed")
    assert lines == ["run: 2.5 s passed, about 98 s left", "run: 4.6 s passed, about 95 s left"]


@pytest.mark.parametrize(
    ("seconds", "text"), [(40.4, "40 s"), (99.9, "100 s"), (720, "12 min"), (12_000, "3 h 20 min")]
)
def test_times_in_words(seconds: float, text: str) -> None:
    assert progress.words(seconds) == text
