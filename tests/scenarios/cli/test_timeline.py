"""``timeline``: reads a trace back, of one partition, of a span of time, around a fault, of one run of several."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from scenarios.language.files import load
from scenarios.runs import run_scenario
from tests.scenarios.cli.conftest import Call


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two runs in one data set."""
    folder = tmp_path_factory.mktemp("trace")
    for strategy in ("wiki", "kafka-6794"):
        run_scenario(load("quick-move"), strategy=strategy, trace_dir=folder / strategy)
    return folder


def test_the_partition_from_the_file_is_the_partition_of_the_run(call: Call, trace: Path) -> None:
    called = call("timeline", trace / "wiki", "orders-0")
    assert called.code == 0
    text = called.out
    assert "wiki.3, orders-0" in text, "nothing happens between its edges: one line"
    assert text.index("wiki.1 before") < text.index("wiki.1 after") < text.index("wiki.12, orders-0")


def test_a_span_of_time(call: Call, trace: Path) -> None:
    called = call("timeline", trace / "wiki", "--from", "1s", "--to", "1001ms")
    times = [float(line.split()[0]) for line in called.out.splitlines() if line.split()[0][0].isdigit()]
    assert times
    assert 1.0 <= min(times) <= max(times) <= 1.001


def test_json_has_an_object_for_each_event(call: Call, trace: Path) -> None:
    called = call("timeline", trace / "wiki", "orders-0", "--from", "1s", "--to", "1100ms", "--format", "json")
    events = [json.loads(line) for line in called.out.splitlines()]
    assert called.code == 0
    assert all(1_000_000 <= event["t_us"] <= 1_100_000 for event in events)
    assert [event["seq"] for event in events] == sorted({event["seq"] for event in events})
    steps = [event for event in events if event["kind"] == "Step"]
    assert (steps[0]["topic"], steps[0]["partition"], steps[0]["fields"]["step"]) == ("orders", 0, "wiki.1")
    assert "wiki.1 before" in steps[0]["text"]
    assert "Appended" in {event["kind"] for event in events}, "nothing is summarised"


def test_around_a_fault(call: Call, trace: Path) -> None:
    called = call("timeline", trace / "wiki", "--fault", "1", "--window", "5ms")
    state, _, events = called.out.partition("\n\n")
    assert re.match(r"state at [\d.]+ s\n  controller  broker \d, epoch 1\n", state)
    times = [float(line.split()[0]) for line in events.splitlines() if line.split()[0][0].isdigit()]
    assert "reassign.execute" in called.out
    assert 0.995 <= min(times) <= max(times) <= 1.005


@pytest.mark.parametrize(
    ("words", "pieces"),
    [
        (["--from", "9h"], ["--from: the run ended at", "ask for a moment up to then"]),
        (["order-0"], ["'order-0'", "orders-0"]),
        (["--fault", "2"], ["--fault: there is no fault 2", "1 reassign.execute at 1 s"]),
        (["--fault", "1", "--to", "2s"], ["--fault", "leave one out"]),
        (["--from", "2s", "--to", "1s"], ["--to: ends before --from begins"]),
        (["--seed", "77"], ["no run fits", "wiki with seed 1"]),
        (["--strategy", "kafka-6794"], ["no run fits", "--run"]),
    ],
)
def test_what_is_not_there(words: list[str], pieces: list[str], call: Call, trace: Path) -> None:
    called = call("timeline", trace / "wiki", *words)
    assert (called.code, called.out) == (2, "")
    for piece in pieces:
        assert piece in called.line


def test_one_run_of_several(call: Call, trace: Path, tmp_path: Path) -> None:
    out = tmp_path / "both"
    for strategy in ("wiki", "kafka-6794"):
        shutil.copytree(trace / strategy, out, dirs_exist_ok=True)
    refused = call("timeline", out)
    assert (refused.code, refused.out) == (2, "")
    assert "2 runs fit; choose one with --seed, --strategy or --run" in refused.line
    chosen = call("timeline", out, "--strategy", "kafka-6794")
    assert "kafka-6794.1 before" in chosen.out
    assert "wiki.1" not in chosen.out


def test_diff_of_two_runs(call: Call, trace: Path) -> None:
    same = call("diff", trace / "wiki", trace / "wiki")
    assert (same.code, same.err) == (0, "")
    assert same.out.startswith("equal: ")
    other = call("diff", trace / "wiki", trace / "kafka-6794")
    assert other.code == 1
    assert other.out.startswith("the first event that differs is number ")
    found = json.loads(call("diff", trace / "wiki", trace / "kafka-6794", "--format", "json").out)
    assert (found["equal"], found["partitions"]) == (False, 1)
    assert call("diff", trace / "wiki", trace / "absent").code == 2


def test_the_state_before_a_fault_and_at_a_time(call: Call, trace: Path) -> None:
    before = call("state", trace / "wiki", "--fault", "1")
    assert before.code == 0
    assert "\tTopic: orders\tPartition: 0\tLeader: " in before.out
    timed = call("state", trace / "wiki", "--at", "500ms", "--format", "json")
    assert json.loads(timed.out)["t_us"] == 500_000
    late = call("state", trace / "wiki", "--at", "9h")
    assert (late.code, late.out) == (2, "")
    assert "--at: the run ended at" in late.err
