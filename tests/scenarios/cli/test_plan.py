"""``plan``: the JSON of a scenario's plan, printed and saved, and what it moves."""

from __future__ import annotations

import json
from pathlib import Path

from scenarios.language import Scenario
from tests.scenarios.cli.conftest import Call

DECOMMISSION = """
title = "Broker 0 goes"
plan = { decommission = 0 }
[cluster]
brokers = 4
[[topics]]
name = "orders"
partitions = 4
size = "1MiB"
[[method]]
at = "1s"
action = "reassign.execute"
"""


def written(folder: Path, text: str = DECOMMISSION) -> str:
    path = folder / "decommission.toml"
    path.write_text(text)
    return str(path)


def test_the_plan_is_printed_with_the_way_back(call: Call, tmp_path: Path) -> None:
    found = call("plan", written(tmp_path))
    assert found.code == 0
    lines = found.out.splitlines()
    assert lines[:3] == [
        "Broker 0 goes",
        "plan: decommission 0",
        "3 of 4 partitions change: 3 replicas to copy (3.15 MB at the start), other preferred leaders for 1",
    ]
    assert "  0       3 -> 0    1 -> 0" in lines
    back, proposed = (json.loads(line) for line in lines if line.startswith("{"))
    assert back["partitions"][0] == {"topic": "orders", "partition": 0, "replicas": [0, 1, 2]}
    assert proposed == {
        "version": 1,
        "partitions": [
            {"topic": "orders", "partition": 0, "replicas": [3, 1, 2]},
            {"topic": "orders", "partition": 2, "replicas": [2, 3, 1]},
            {"topic": "orders", "partition": 3, "replicas": [3, 2, 1]},
        ],
    }


def test_the_plan_is_saved_and_read_again(call: Call, tmp_path: Path) -> None:
    """What is saved is what plan.file reads: the scenario has the same moves."""
    file, move, back = written(tmp_path), tmp_path / "move.json", tmp_path / "back.json"
    found = call("plan", file, "--out", str(move), "--rollback-out", str(back), "--format", "json")
    assert json.loads(found.out) == {
        "current": json.loads(back.read_text()), "proposed": json.loads(move.read_text()),
    }  # fmt: skip
    verbatim = written(tmp_path, DECOMMISSION.replace("{ decommission = 0 }", '{ file = "move.json" }'))
    scenario = Scenario.load(verbatim)
    assert {name: list(replicas) for name, replicas in scenario.targets().items()} == {
        f"{move['topic']}-{move['partition']}": move["replicas"] for move in json.loads(move.read_text())["partitions"]
    }


def test_what_is_in_a_file_is_not_printed(call: Call, tmp_path: Path) -> None:
    move, back = tmp_path / "move.json", tmp_path / "back.json"
    found = call("plan", written(tmp_path), "--out", str(move))
    assert "{" not in found.out
    assert found.out.splitlines()[-2:] == [
        "current assignment: --rollback-out FILE writes it, for the way back", f"plan written to {move}",
    ]  # fmt: skip
    found = call("plan", written(tmp_path), "--rollback-out", str(back))
    assert [line.startswith("{") for line in found.out.splitlines()].count(True) == 1
    assert f"current assignment written to {back}" in found.out


def test_run_says_what_the_words_mean_and_saves_them(call: Call, tmp_path: Path) -> None:
    found = call("run", written(tmp_path), "--plan-out", str(tmp_path / "move.json"))
    assert (found.code, "plan: decommission 0: 3 of 4 partitions change" in found.out) == (0, True)
    assert len(json.loads((tmp_path / "move.json").read_text())["partitions"]) == 3


def test_what_is_refused(call: Call, tmp_path: Path) -> None:
    without = DECOMMISSION.replace("plan = { decommission = 0 }", "").split("[[method]]")[0]
    found = call("plan", written(tmp_path, without))
    assert (found.code, "it has no plan; add plan" in found.err) == (2, True)
    found = call("plan", written(tmp_path), "--out", str(tmp_path / "no" / "such.json"))
    assert (found.code, "--out" in found.err, "cannot be written" in found.err) == (2, True, True)
