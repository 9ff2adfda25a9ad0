"""The table that compares two checkouts: medians of the speeds, and of the ratios pair by pair."""

import sys
from pathlib import Path

import pytest

from benchmarks import results
from benchmarks.cluster import __main__ as program
from benchmarks.cluster import before
from benchmarks.cluster.before import HEADINGS, HERE, Compared, Pair, Run, compared, pairs
from benchmarks.cluster.cases import CHAOS_NAME
from benchmarks.cluster.targets import Target


def pair(before_cpu_s: float, after_cpu_s: float, *, events: tuple[int, int] = (1_200, 1_200)) -> Pair:
    """A pair of runs over 60 virtual seconds."""
    return Pair(Run(60, before_cpu_s, events[0]), Run(60, after_cpu_s, events[1]))


def test_the_ratio_is_the_median_of_the_pairs_and_not_the_ratio_of_the_medians() -> None:
    # before: 60, 30, 20 (median 30); after: 120, 30, 30 (median 30); pair by pair: 2, 1, 1.5
    found = Compared("idle", "virtual s", None, [pair(1, 0.5), pair(2, 2), pair(3, 2)])
    assert found.cells() == ("idle", "virtual s", "30.0", "30.0", "1.50", "", "1.00 to 2.00", "1,200")
    assert len(found.cells()) == len(HEADINGS)


def test_a_row_shows_both_counts_of_events_where_they_differ() -> None:
    found = Compared("idle", "virtual s", None, [pair(1, 1, events=(1_200, 1_201))])
    assert found.cells()[-1] == "1,200 before, 1,201 after"


def test_a_target_is_held_against_the_ratio() -> None:
    fast, slow = [pair(3, 1)], [pair(3, 2)]
    assert "met" in Compared("10/500", "virtual s", Target(2.3), fast).cells()[5]
    assert not Compared("10/500", "virtual s", Target(2.3), fast).missed()
    assert Compared("10/500", "virtual s", Target(2.3), slow).missed() == ["10/500, after / before: 1.50, wanted ≥ 2.3"]


def test_the_two_checkouts_take_turns_at_being_first() -> None:
    order: list[tuple[str, Path]] = []

    def measure(name: str, checkout: Path) -> Run:
        order.append((name, checkout))
        return Run(1, 1 if checkout == HERE else 2, 0)

    other = Path("other")
    measures = {name: lambda checkout, name=name: measure(name, checkout) for name in ("small", "large")}
    found = pairs(other, measures, 2)
    assert order == [
        ("small", other), ("small", HERE), ("large", other), ("large", HERE),
        ("small", HERE), ("small", other), ("large", HERE), ("large", other),
    ]  # fmt: skip
    assert {name: [pair.ratio for pair in some] for name, some in found.items()} == {"small": [2, 2], "large": [2, 2]}


@pytest.mark.slow
def test_a_checkout_against_itself_records_equally_many_events() -> None:
    [found] = compared(HERE, [], 1, seeds=1)
    assert (found.name, found.unit) == (CHAOS_NAME, "runs")
    [only] = found.pairs
    assert only.before.events == only.after.events > 0


def test_the_program_writes_the_comparison_and_ends_with_1_where_a_target_is_missed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "RESULTS.md"
    slow = Compared("10/500", "virtual s", Target(2.3), [pair(3, 2)])
    monkeypatch.setattr(results, "RESULTS", file)
    monkeypatch.setattr(before, "compared", lambda *_, **__: [slow])
    monkeypatch.setattr(sys, "argv", ["cluster", "--before", str(HERE), "--repeats", "1", "--write"])
    assert program.main() == 1
    assert "missed: 10/500, after / before: 1.50, wanted ≥ 2.3" in capsys.readouterr().err
    written = file.read_text(encoding="utf-8")
    assert "<!-- cluster-before -->" in written
    assert "| 10/500 | virtual s | 20.0 | 30.0 | 1.50 | ≥ 2.3: missed |" in written
