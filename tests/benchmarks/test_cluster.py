"""The cluster benchmark, scaled down: the emulator and the two floors do the same, and the tables say what was met."""

import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from benchmarks import results
from benchmarks.cluster import __main__ as program
from benchmarks.cluster.cases import CHAOS, WATCHED, Case, Timing, cluster, floor
from benchmarks.cluster.floor import Floor
from benchmarks.cluster.here import HEADINGS, Found, Rounds, measured
from benchmarks.cluster.recording_floor import RecordingFloor
from benchmarks.cluster.targets import Target
from emulator.protocol.events import Appended, BatchesAppended, HighWatermark, HighWatermarksMoved, Produced
from emulator.trace import Trace
from scenarios.language import Scenario

SMALL = Case("3/12", 3, 12, True, 2, None, False, Target(0.45, goal=0.8))
WATCHED_SMALL = Case("3/12" + WATCHED, 3, 12, True, 2, None, True)


@pytest.mark.parametrize("kind", [Floor, RecordingFloor])
@pytest.mark.parametrize("load", [True, False], ids=["load", "idle"])
def test_a_floor_acknowledges_as_many_batches_as_the_emulator(kind: type[Floor], load: bool) -> None:
    case = Case("5/20", 5, 20, load, 3, None)
    assert floor(case, kind).acked == pytest.approx(cluster(case).acked, abs=20)


def facts(seen: Trace) -> tuple[Counter[str], list[Any]]:
    """The record from one virtual second on: how many rows of each kind, and the events with columns."""
    rows: Counter[str] = Counter()
    events: list[Any] = []

    def row(event: Any) -> None:
        rows[type(event).__name__] += event.t_us > 1_000_000

    for rows_of in (Appended, HighWatermark, Produced):
        seen.fold(rows_of, row)
    for columns in (BatchesAppended, HighWatermarksMoved):
        seen.fold(columns, events.append)
    return rows, events


def test_the_floor_that_records_has_three_replicas_facts_for_each_batch() -> None:
    model = RecordingFloor(3, 12, load=True)
    rows, events = facts(model.trace)
    model.run(3_000_000)
    batches = rows["Produced"]
    assert batches == pytest.approx(240, abs=12)
    assert rows["Appended"] == pytest.approx(3 * batches, abs=36)
    assert rows["HighWatermark"] == pytest.approx(3 * batches, abs=36)
    # One event for each transition: all partitions of a request or of an answer.
    assert {len(event.partitions) for event in events if event.leader} == {4}
    assert len(model.trace.digest()) == 64


def test_the_floor_that_records_is_deterministic() -> None:
    digests = []
    for _ in range(2):
        model = RecordingFloor(3, 12, load=True)
        model.run(1_000_000)
        digests.append(model.trace.digest())
    assert digests[0] == digests[1]


def test_the_floor_that_records_as_many_rows_as_the_emulator() -> None:
    case = Case("3/12", 3, 12, True, 5, None)
    assert floor(case, RecordingFloor).events == pytest.approx(cluster(case).events, rel=0.05)


def test_the_chaos_like_run_is_what_its_comment_says() -> None:
    run = Scenario.load(CHAOS).run(seed=1)
    run.assert_expectations()
    assert run.virtual_s == pytest.approx(64, abs=1)
    assert run.metrics["moves_finished"] == 1
    assert run.metrics["acked_batches"] == pytest.approx(64 * 5 * 4, rel=0.1)


def test_each_case_has_a_row_and_each_pair_a_figure() -> None:
    found = measured([SMALL, WATCHED_SMALL], 2, chaos=False)
    assert [len(rounds.cells()) for rounds in found.cases] == [len(HEADINGS)] * 2
    assert [(len(rounds.ours), len(rounds.recording)) for rounds in found.cases] == [(2, 2), (2, 0)]
    [(what, watching, _)] = found.figures()
    assert what == "3/12: CPU time with checkers and measures, over that without"
    assert watching > 0


def timings(*seconds: float, acked: int = 120) -> list[Timing]:
    return [Timing(each, acked, 840) for each in seconds]


def test_the_ratio_to_the_floor_is_the_median_round_by_round() -> None:
    rounds = Rounds(SMALL, timings(1, 2, 4), timings(1, 1, 3), timings(0.1, 0.1, 0.1))
    assert rounds.to_floor == 0.75
    assert rounds.missed() == []


def test_what_is_missed_is_said() -> None:
    rounds = Rounds(SMALL, timings(1, acked=240), timings(0.25), timings(0.1))
    watched = Rounds(WATCHED_SMALL, timings(2))
    assert Found([rounds, watched], [4.0], None).missed() == [
        "3/12, emulator / floor: 0.25, wanted ≥ 0.45",
        "3/12: 240 batches acknowledged, a floor has 120",
        "3/12: 240 batches acknowledged, a floor has 120",
        "3/12: CPU time with checkers and measures, over that without: 2.00, wanted ≤ 1.35",
        "chaos-like run: seeds per second and core: 4.00, wanted ≥ 12",
    ]


def test_a_target_says_whether_it_and_its_goal_are_met() -> None:
    least = Target(2.3, goal=4)
    assert [least.words(figure) for figure in (2.0, 3.0, 4.0)] == [
        "≥ 2.3: missed (goal 4)", "≥ 2.3: met (goal 4)", "≥ 2.3: met (goal 4, met)",
    ]  # fmt: skip
    most = Target(1.35, at_most=True)
    assert [most.words(figure) for figure in (1.35, 1.36)] == ["≤ 1.35: met", "≤ 1.35: missed"]


@pytest.mark.parametrize("options", [[], ["--counts"]], ids=["seconds", "counts"])
def test_the_program_writes_its_section(
    options: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "RESULTS.md"
    monkeypatch.setattr(results, "RESULTS", file)
    monkeypatch.setattr(program, "quiet", lambda: None)
    arguments = ["cluster", "--case", "3/12", "--virtual-s", "1", "--repeats", "1", "--write", *options]
    monkeypatch.setattr(sys, "argv", arguments)
    assert program.main() in (0, 1)
    written = file.read_text(encoding="utf-8")
    assert "| 3/12 |" in written
    name = "cluster-counts" if options else "cluster"
    *head, end = written.splitlines()[2:]
    assert (head[:3], end) == ([f"<!-- {name} -->", f"## {name}", ""], f"<!-- /{name} -->")
    printed = capsys.readouterr().out.splitlines()  # before it there are logs, where no test has turned them off
    assert printed[-len(head[3:]) :] == head[3:]


def test_a_case_that_does_not_exist_is_refused(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["cluster", "--case", "10/50"])
    with pytest.raises(SystemExit):
        program.main()
    assert "there are '3/12'" in capsys.readouterr().err
