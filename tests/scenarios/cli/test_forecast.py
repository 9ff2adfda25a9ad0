"""``forecast``: what it prints, and what it refuses."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.scenarios.cli.conftest import Call

MOVE = """
title = "Everything moves"
plan = { to = [3, 4, 5] }
[cluster]
brokers = 6
[[topics]]
name = "orders"
partitions = 6
brokers = [0, 1, 2]
size = "1GB"
[[workloads]]
topic = "orders"
producerRate = 6000
messageSize = 1000
[[method]]
at = "30s"
action = "reassign.execute"
throttle = "8MB/s"
"""
ONE = '{"version": 1, "partitions": [{"topic": "orders", "partition": 0, "replicas": [0, 1, 3]}]}'


@pytest.fixture
def file(tmp_path: Path) -> str:
    path = tmp_path / "move.toml"
    path.write_text(MOVE)
    return str(path)


def test_it_says_what_never_ends_and_what_would(call: Call, file: str) -> None:
    found = call("forecast", file, "--arithmetic")
    assert found.code == 0
    lines = found.out.splitlines()
    assert lines[:2] == [
        "Everything moves",
        "6 partitions get 18 replicas: 18.5 GB to copy; 6 MB/s are written to them meanwhile",
    ]
    assert any(line.split()[:4] == ["wiki", "8", "MB/s", "never"] for line in lines)
    assert (
        "  brokers 0, 1, 2 need 10 MB/s each for new writes alone (4 MB/s to followers in sync and 6 MB/s of new data "
        "for the copies); a throttle of 8 MB/s lets 7.64 MB/s through as a leader"
    ) in lines


def test_a_plan_that_adds_no_replica_copies_nothing(call: Call, file: str, tmp_path: Path) -> None:
    (tmp_path / "shrink.json").write_text(ONE.replace("[0, 1, 3]", "[0, 1]"))
    found = call("forecast", file, "--plan", str(tmp_path / "shrink.json"), "--arithmetic").out.splitlines()
    assert found[1] == "no partition gets a new replica: nothing to copy (1 partition in the plan)"


def test_what_nothing_holds_back_is_run_though_its_estimate_is_zero(call: Call, file: str) -> None:
    options = ["--throttle", "none", "--set", "topics[0].size=10MB", "--seeds", "1"]
    found = call("forecast", file, *options)
    assert "wiki at throttle none: no throttle, card or disk holds the copies back" in found.out
    tried = json.loads(call("forecast", file, *options, "--format", "json").out)["trials"]
    assert [(one["crashed"] is None, one["ended"]) for one in tried] == [(True, 1), (False, 1)]


def test_throttles_and_strategies_are_ranked(call: Call, file: str) -> None:
    options = ["--throttle", "8MB/s,40MB/s,none", "--strategy", "wiki", "--strategy", "wiki+waves-2"]
    found = json.loads(call("forecast", file, "--arithmetic", *options, "--format", "json").out)
    ranked = [(one["strategy"], one["throttle"], one["never_ends"]) for one in found["outlooks"]]
    assert ranked[0] == ("wiki", None, False)
    assert ranked[-1] == ("wiki", 8_000_000, True)
    assert len(ranked) == 6
    times = [one["estimate_s"] for one in found["outlooks"] if one["estimate_s"] is not None]
    assert times == sorted(times)


def test_a_plan_of_kafka_s_tools_takes_the_place_of_the_file_s(call: Call, file: str, tmp_path: Path) -> None:
    plan = tmp_path / "plan.json"
    plan.write_text(ONE)
    found = json.loads(call("forecast", file, "--arithmetic", "--plan", plan, "--format", "json").out)
    assert [one["name"] for one in found["partitions"]] == ["orders-0"]
    assert found["partitions"][0]["added"] == [3]


@pytest.mark.parametrize(
    ("options", "line"),
    [
        (["--throttle", "50"], "--throttle: '50' is not a rate; write a rate such as"),
        (["--throttle", "0MB/s"], "--throttle: a throttle of nothing lets nothing move; write a rate such as 50MB/s"),
        (["--plan", "no.json"], "no.json: cannot be read (No such file or directory)"),
        (["--strategy", "wikki"], "--strategy: unknown strategy 'wikki'; did you mean 'wiki'?"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_line(call: Call, file: str, options: list[str], line: str) -> None:
    found = call("forecast", file, *options)
    assert found.code == 2
    assert found.out == ""
    assert line in found.line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("{", "broken JSON"),
        (ONE.replace("1,", "2,", 1), "version"),
        (ONE.replace("orders", "others"), "others"),
        (ONE.replace("3]", "9]"), "broker 9"),
        ("[]", "plan"),
    ],
)
def test_a_plan_that_does_not_fit_is_one_line_with_its_file(
    call: Call, file: str, tmp_path: Path, text: str, line: str
) -> None:
    plan = tmp_path / "plan.json"
    plan.write_text(text)
    found = call("forecast", file, "--plan", plan)
    assert found.code == 2
    assert found.out == ""
    assert line in found.line
    assert "plan.json" in found.line


def test_a_file_without_a_plan_is_refused(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "none.toml"
    path.write_text('title = "nothing"\n[cluster]\nbrokers = 1\n')
    assert "it has no plan" in call("forecast", path).line


def test_validate_says_what_a_costly_run_takes_and_nothing_of_a_cheap_one(
    call: Call, file: str, tmp_path: Path
) -> None:
    lines = call("validate", file, "--set", "horizon=2h").out.splitlines()
    assert any(re.fullmatch(r"  a run takes about .* of CPU for 2 h 0 min of virtual time: .*", line) for line in lines)
    assert any("a linger of 0.5 s" in line for line in lines)
    assert "a run takes" not in call("validate", file, "--set", "horizon=1m").out


def test_runs_follow_the_arithmetic_and_make_a_page(call: Call, tmp_path: Path) -> None:
    path, page = tmp_path / "small.toml", tmp_path / "page.html"
    path.write_text(MOVE.replace("1GB", "20MB").replace("producerRate = 6000", "producerRate = 100"))
    found = call("forecast", path, "--seeds", "1", "--page", page)
    assert found.code == 0
    lines = found.out.splitlines()
    assert lines[-4].startswith("1 run each, exact") or lines[-4].startswith("1 run each, sampled")
    assert [line.split()[:4] for line in lines[-2:]] == [["wiki", "8", "MB/s", "-"], ["wiki", "8", "MB/s", "0"]]
    assert "Peaks of traffic by broker" in page.read_text()
    assert f"--seeds 1 --page {page}" in page.read_text()


def test_runs_and_arithmetic_alone_exclude_each_other(call: Call, file: str) -> None:
    assert "--seeds: is for runs" in call("forecast", file, "--arithmetic", "--seeds", "2").line
