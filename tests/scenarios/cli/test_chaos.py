"""``chaos``: campaigns from the command line."""

from __future__ import annotations

import json
import re
import time
from argparse import Namespace
from pathlib import Path

import pytest

from scenarios import plugins
from scenarios.chaos.draw import concrete
from scenarios.cli.commands.chaos import _Told
from scenarios.language import Scenario
from scenarios.studies.chaos.campaign import Campaign, Tally
from scenarios.studies.chaos.leaning import Reached
from scenarios.studies.chaos.seed_run import Drawn, SeedResult
from tests.scenarios.chaos.test_draw import FAST
from tests.scenarios.cli.conftest import Call

FAILS = """
[[expect]]
metric = "acked_batches"
tolerance = 0
"""
"""An expectation that no run of the file meets."""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "fast.toml"
    path.write_text(FAST)
    return path


@pytest.fixture
def failing_file(tmp_path: Path) -> Path:
    path = tmp_path / "fails.toml"
    path.write_text(FAST + FAILS)
    return path


def test_a_campaign_that_passes(file: Path, call: Call) -> None:
    said = call("chaos", file, "--seeds", "0:3", "--jobs", "1")
    assert said.code == 0, said.out
    assert "3 of 3 seeds passed" in said.out


def test_json_has_what_the_reference_says(failing_file: Path, call: Call) -> None:
    said = call("chaos", failing_file, "--seeds", "4:6", "--jobs", "1", "--format", "json")
    found = json.loads(said.out)
    assert said.code == 1
    assert (found["seeds"], found["passed"], found["known"]) == (2, 0, [])
    assert [(one["seed"], one["checker"]) for one in found["failed"]] == [(4, "expectation"), (5, "expectation")]
    assert found["failed"][0]["replay"] == f"./understudy run {failing_file} --seed 4"
    assert found["virtual_s"] > 12
    assert found["seeds_per_s"] > 0


def test_a_failed_expectation_is_named(failing_file: Path, call: Call) -> None:
    said = call("chaos", failing_file, "--seeds", "4", "--jobs", "1")
    (line,) = (line for line in said.out.splitlines() if line.startswith("seed 4: expectation: "))
    judged = json.loads(call("run", failing_file, "--seed", "4", "--format", "json").out)["expectations"]
    (stated,) = (one for one in judged if not one["ok"])
    assert line == f"seed 4: expectation: {stated['statement']}; {stated['detail']}"


def test_a_failing_seed_is_replayed_from_its_file(failing_file: Path, tmp_path: Path, call: Call) -> None:
    out = tmp_path / "campaign"
    said = call("chaos", failing_file, "--seeds", "4", "--jobs", "1", "--out", out, "--format", "json")
    _, *replay = json.loads(said.out)["failed"][0]["replay"].split()
    assert replay == ["run", str(out / "seed-4.toml")]
    again, direct = call(*replay, "--format", "json"), call("run", failing_file, "--seed", "4", "--format", "json")
    assert json.loads(again.out)["digest"] == json.loads(direct.out)["digest"]


def test_the_drawn_options_are_printed(file: Path, call: Call) -> None:
    said = call("chaos", file, "--seeds", "2", "--jobs", "1", "-v")
    assert "Drawn by seed 2 from" in said.out
    drawn = concrete(Scenario.load(file), 2)
    entries = [line for line in said.out.splitlines() if line.startswith("  method { ")]
    assert len(entries) == len(drawn.method)
    for line, entry in zip(entries, drawn.method, strict=True):
        assert f'action = "{entry.name}"' in line
    assert "seed 2: passed" in said.out


def test_the_default_swarm_needs_no_file(call: Call) -> None:
    said = call("chaos", "--seeds", "0", "--jobs", "1", "--profile", "kafka-2.4")
    assert said.code in (0, 1)
    assert said.out.splitlines()[0] == "The default swarm: profile kafka-2.4, strategy kip-455"


def test_a_file_without_blocks_is_refused(failing: Path, call: Call) -> None:
    said = call("chaos", failing)
    assert said.code == 2
    assert "has no [[chaos]] blocks" in said.line


def test_a_campaign_stops_at_what_it_was_to_reach(file: Path, call: Call) -> None:
    said = call("chaos", file, "--until-reached", "controller elected", "--jobs", "1")
    assert "controller elected: first in seed 0" in said.out
    assert "never reached, " in said.out
    assert max(map(len, said.out.splitlines())) <= 110
    assert re.search(r"\n  and [\d,]+ more, which -v names\n", said.out)
    names = call("chaos", file, "--reach").out.splitlines()
    assert "step failover.F1" in names
    assert json.loads(call("chaos", file, "--reach", "--format", "json").out) == names
    said = call("chaos", file, "--until-reached", "controller electd")
    assert said.code == 2
    assert "did you mean 'controller elected'?" in said.line


def test_a_campaign_stops_when_little_that_is_new_can_be_expected(file: Path, call: Call) -> None:
    said = call("chaos", file, "--until-chance", "0.5", "--jobs", "1", "--format", "json")
    table = json.loads(said.out)
    chance = table["chance_of_a_new_kind_of_finding"]
    assert chance["high"] <= 0.5
    assert table["seeds"] == chance["seeds"] < 100
    said = call("chaos", file, "--seeds", "0:3", "--jobs", "1")
    assert "the next seed has a finding of another kind with a chance of " in said.out
    assert "it reaches what none has reached with a chance of " in said.out
    assert "chance" not in call("chaos", file, "--seeds", "0", "--jobs", "1").out, "one seed says nothing of the next"
    said = call("chaos", file, "--until-chance", "2")
    assert said.code == 2
    assert "'2' is no chance between 0 and 1" in said.line


def test_a_replay_names_the_plugins_that_it_needs(
    failing_file: Path, tmp_path: Path, call: Call, monkeypatch: pytest.MonkeyPatch
) -> None:
    plugin = tmp_path / "nothing_new.py"
    plugin.write_text("")
    monkeypatch.setattr(plugins, "_LOADED", {})
    said = call("chaos", failing_file, "--seeds", "4", "--jobs", "1", "--plugin", plugin, "--format", "json")
    replay = f"./understudy run {failing_file} --seed 4 --plugin {plugin}"
    assert json.loads(said.out)["failed"][0]["replay"] == replay
    assert replay.partition(" --plugin")[2] in call("run", failing_file, "--seed", "4", "--plugin", plugin).out


def test_a_campaign_of_some_time_says_how_much_is_left(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = Namespace(format="text", quiet=False, verbose=False, seeds=None)
    said = _Told(Campaign(drawn=Drawn(scenario=Scenario.load(file)), seeds=range(100_000), for_s=60.0), arguments)
    clock = [0.0]
    said.progress.clock, said.progress._began = lambda: clock[0], 0.0
    said.began = time.monotonic() - 20.0
    clock[0] = 20.0
    tally = Tally(Reached(()))
    for seed in range(7):
        tally.add(SeedResult(seed=seed))
    said.take(SeedResult(seed=6), tally)
    assert capsys.readouterr().err == "chaos: 7 seeds, 0 failed, at most 40 s left\n"


def test_leaning_needs_a_folder(file: Path, call: Call) -> None:
    assert "add --out" in call("chaos", file, "--lean").line
