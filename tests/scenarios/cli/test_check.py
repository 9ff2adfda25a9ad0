"""``run --check``: equal runs pass; every injected non-determinism is detected, and its first event named."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from scenarios.cli.check import HASH_SEEDS, check
from scenarios.cli.first_difference import FirstDifference, difference_lines
from scenarios.language.files import load
from tests.scenarios.cli import tool
from tests.scenarios.cli.conftest import Call

RECORDERS = "tests.scenarios.cli.hash_dependent"


def test_an_honest_run_is_deterministic(call: Call) -> None:
    called = call("run", "quick-move", "--check", "--seed", "5")
    assert (called.code, called.err) == (0, "")
    run = call("run", "quick-move", "--seed", "5", "--format", "json")
    assert f"digest {json.loads(run.out)['digest']}\n" in called.out
    assert "deterministic: two processes" in called.out


def test_both_processes_have_the_plug_ins(tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(
        "from scenarios.language.strategies.strategy_parts import order\n"
        "@order('backwards', 'from the end of the plan')\n"
        "def backwards(moves, _):\n"
        "    return list(moves)[::-1]\n"
    )
    words = ["run", "quick-move", "--strategy", "wiki+backwards", "--check", "--plugin", "mine.py", "--format", "json"]
    done = tool.call(*words, cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["deterministic"] is True


def test_the_first_event_that_differs_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert check(load("quick-move"), recorder=f"{RECORDERS}:set_order") == 3
    out = capsys.readouterr().out
    assert out.startswith("NOT DETERMINISTIC: the first event that differs is event 100, seq 100, at ")
    marked = [line.split() for line in out.splitlines() if line.strip().startswith("*")]
    assert [words[1] for words in marked] == ["order"], "the injected field and no other"
    assert marked[0][2] != marked[0][3]
    assert all(f"PYTHONHASHSEED={seed}" in out for seed in HASH_SEEDS)


def test_a_run_that_ends_early(capsys: pytest.CaptureFixture[str]) -> None:
    assert check(load("quick-move"), recorder=f"{RECORDERS}:cut_short") == 3
    out = capsys.readouterr().out
    assert "one run ended, the other went on with event 51, seq 51" in out
    assert "(ended)" in out


def test_digests_that_differ_over_equal_events(capsys: pytest.CaptureFixture[str]) -> None:
    assert check(load("quick-move"), recorder=f"{RECORDERS}:digest_only") == 3
    assert "the events are equal and the digests are not" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("recorder", "code", "lines"),
    [
        ("breaks_in_one", 3, ["ZeroDivisionError: injected", "one of the two runs did not finish"]),
        ("breaks_in_both", 4, ["the tool failed: ZeroDivisionError: injected"]),
        ("refuses", 2, ["understudy: injected: is not to be had"]),
    ],
)
def test_recordings_that_fail(recorder: str, code: int, lines: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert check(load("quick-move"), recorder=f"{RECORDERS}:{recorder}") == code
    said = capsys.readouterr()
    assert said.out == ""
    for line, piece in zip(said.err.splitlines(), lines, strict=True):
        assert piece in line


def test_long_values_are_shown_where_they_differ() -> None:
    left, right = {"data": "x" * 300 + "left"}, {"data": "x" * 300 + "right"}
    *_, line = difference_lines(FirstDifference(1, left, right), ("1", "2"))
    assert "…" in line
    assert 'xleft"' in line
    assert 'xright"' in line
    assert len(line) < 110
