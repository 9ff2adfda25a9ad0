"""``report DIR...``: the page of a study in one folder or several, of what the options choose."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scenarios.runs.dataset.arm import Arm
from tests.scenarios.cli.conftest import Call
from tests.scenarios.runs.dataset.runs import write_arm
from tests.scenarios.studies.report.made import text_of

WIKI, HOPS = Arm("wiki", "kafka-2.3"), Arm("kafka-6794", "kafka-2.3")


@pytest.fixture
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Four folders: two strategies of one scenario over the same seeds, another scenario, and other seeds."""
    monkeypatch.chdir(tmp_path)
    write_arm(tmp_path / "a", WIKI, *range(4), file="mine.toml")
    write_arm(tmp_path / "b", HOPS, *range(1, 5), file="mine.toml")
    write_arm(tmp_path / "other", WIKI, *range(4), scenario="other", file="other.toml")
    write_arm(tmp_path / "late", HOPS, 7, 8)
    return tmp_path


def made(call: Call, *words: str) -> str:
    called = call("report", *words, "-o", "page.html", "--quick")
    assert called.code == 0, called.err
    return Path("page.html").read_text()


def test_several_folders_are_one_study_over_the_seeds_that_they_share(call: Call, folders: Path) -> None:
    text = text_of(made(call, "a", "b", "--baseline", "kafka-6794", "--minimum", "100ms"))
    assert "wiki against kafka-6794" in text
    assert "3 of 3 asked for" in text
    assert "understudy report a b -o page.html --baseline kafka-6794 --minimum 100ms --quick" in text


def test_folders_with_different_scenarios_are_compared_and_each_run_names_its_own_file(
    call: Call, folders: Path
) -> None:
    page = made(call, "a", "other")
    assert "other against a: means over the seeds" in text_of(page)
    assert "understudy run mine.toml --strategy wiki --profile kafka-2.3" in page
    assert "understudy run other.toml --strategy wiki --profile kafka-2.3" in page


def test_options_choose_what_is_compared(call: Call, folders: Path) -> None:
    page = made(call, "a", "b", "other", "--by", "folder", "--where", "strategy=wiki", "--metric", "isr_shrinks")
    assert "2 arms by folder; only strategy=wiki; 3 seeds; mine.toml, other.toml" in text_of(page)
    assert "isr_shrinks" in page
    assert "lag_p99" not in page


def test_one_strategy_alone_and_runs_without_moves_have_a_page_too(call: Call, folders: Path) -> None:
    text = text_of(made(call, "a"))
    assert "wiki was run alone: there is nothing to compare it with" in text
    assert "no moves" in text


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("a late", "late: has the seeds 7:9, and shares none with a (0:4)"),
        ("a missing", "missing: there is no such folder"),
        ("a b --by stratgy", "--by: unknown axis 'stratgy'; did you mean 'strategy'?"),
        ("a b --where strategy=wikki", "--where: no arm has strategy 'wikki'; did you mean 'wiki'?"),
        ("a b --metric isr_shrink", "--metric: unknown metric 'isr_shrink'; did you mean 'isr_shrinks'?"),
        ("a b --baseline wikki", "--baseline: unknown baseline 'wikki'; did you mean 'wiki'?"),
        ("a b --seed 1", "--seed: chooses among the runs of run --trace"),
    ],
)
@pytest.mark.parametrize("how", ["--quick", ""])
def test_what_cannot_be_compared_is_refused_before_spark_starts(
    call: Call, folders: Path, monkeypatch: pytest.MonkeyPatch, words: str, said: str, how: str
) -> None:
    monkeypatch.setattr("scenarios.studies.java.ensure_java", lambda: pytest.fail("it is too late"))
    called = call("report", *words.split(), *how.split())
    assert (called.code, called.out) == (2, "")
    assert said in called.line
    assert not Path("report.html").exists()


def test_the_folder_of_one_run_has_nothing_to_compare(call: Call, folders: Path) -> None:
    write_arm(folders / "trace", WIKI, 0, experiment="run")
    called = call("report", "trace", "--by", "strategy")
    assert called.code == 2
    assert re.search("--by: is about the runs of a sweep, and this is the folder of one run", called.line)
