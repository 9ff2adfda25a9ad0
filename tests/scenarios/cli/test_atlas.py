"""``understudy atlas``: a small one in all its forms; one cell; interruption; bad input."""

from __future__ import annotations

import json
import re
import signal
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
import structlog
from attrs import frozen

from scenarios.cli import main
from scenarios.language import Scenario
from scenarios.runs.dataset.cell_files import read_cells
from scenarios.studies.atlas import outcome
from scenarios.studies.atlas.atlas import Atlas
from scenarios.studies.atlas.outcome import OUTCOMES
from tests.scenarios.cli.conftest import Call
from tests.scenarios.cli.tool import start

FEW = ("--protocol", "wiki", "--actor", "controller", "--fault", "crash")
CELL = "wiki/0,1,2-1,3,4/9.before/controller/crash"
FIELDS = ("protocol", "step", "edge", "actor", "fault", "outcome", "harm", "seed", "command")


@frozen
class Campaign:
    """A data set of ``FEW`` and what the command that made it said."""

    folder: Path
    found: dict[str, Any]
    err: str


@pytest.fixture(scope="module")
def campaign(tmp_path_factory: pytest.TempPathFactory) -> Campaign:
    """Carried out once, in one process."""
    folder = tmp_path_factory.mktemp("campaign") / "atlas"
    out, err, before = StringIO(), StringIO(), structlog.get_config()
    with redirect_stdout(out), redirect_stderr(err):
        assert main(["atlas", *FEW, "--out", str(folder), "--format", "json", "--jobs", "1"]) == 0
    structlog.configure(**before)
    return Campaign(folder, json.loads(out.getvalue()), err.getvalue())


def test_a_table_a_data_set_and_a_page(call: Call, campaign: Campaign) -> None:
    assert re.search(r"atlas: \d+ of 24 cells, 0 unsafe", campaign.err)
    done = call("atlas", *FEW, "--out", campaign.folder)
    assert done.code == 0
    lines = done.out.splitlines()
    assert lines[0].startswith("wiki [0,1,2] to [1,3,4] (kafka-2.3), undisturbed: ")
    assert lines[2].split() == ["wiki", *OUTCOMES, "worst"]
    assert any(line.startswith("wiki.12") for line in lines)
    assert "such as ./understudy atlas --cell wiki/0,1,2-1,3,4/" in done.out
    assert "24 cells: " in lines[-2]
    rows = read_cells(campaign.folder)
    assert len(rows) == 24
    page = (campaign.folder / "atlas.html").read_text()
    assert page.count("data-i=") == 24


def test_one_object_has_all_cells(campaign: Campaign) -> None:
    found = campaign.found
    assert found["cells"] == len(found["cells_list"]) == 24
    assert sum(found[each] for each in OUTCOMES) == 24
    assert found["wall_s"] > 0
    assert all(name in cell for name in FIELDS for cell in found["cells_list"])
    assert found["undisturbed"][0]["protocol"] == "wiki"


@pytest.mark.slow
def test_two_processes_find_the_same(call: Call, campaign: Campaign) -> None:
    shared = json.loads(call("atlas", *FEW, "--format", "json", "--jobs", 2).out)
    assert shared["cells_list"] == campaign.found["cells_list"]


def test_one_cell_with_its_timeline(call: Call) -> None:
    done = call("atlas", "--cell", CELL)
    lines = done.out.splitlines()
    assert done.code == 0
    assert lines[0] == f"{CELL} (profile kafka-2.3, seed 1)"
    assert lines[1].startswith("harmed: acks-1-loss")
    assert any("FAULT broker.crash 6" in line for line in lines)
    assert lines[-1].startswith("digest ")


def test_a_cell_becomes_a_scenario_file(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "cell.toml"
    assert call("atlas", "--cell", CELL, "--write-scenario", path).code == 0
    run = Scenario.load(path).run()
    assert run.passed, run.explanation
    assert run.digest == json.loads(call("atlas", "--cell", CELL, "--format", "json").out)["digest"]


def test_a_file_lends_its_cluster_and_its_move(call: Call, failing: Path) -> None:
    done = call("atlas", failing, *FEW, "--format", "json", "--jobs", 1)
    found = json.loads(done.out)
    assert {cell["plan"] for cell in found["cells_list"]} == {"0,1-1,2"}
    assert all(f" {failing} --cell " in cell["command"] for cell in found["cells_list"])


def test_a_file_without_a_plan_needs_room_for_the_built_in_move(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "small.toml"
    path.write_text('title = "small"\n[cluster]\nbrokers = 4\n')
    assert "cluster.brokers: the move [0,1,2] to [1,3,4] needs broker 4; write at least 6" in call("atlas", path).line


@pytest.mark.slow
def test_ctrl_c_loses_nothing_that_was_reported_and_the_same_command_goes_on(call: Call, tmp_path: Path) -> None:
    out = tmp_path / "atlas"
    faults = ("crash", "crash-restart", "expire")
    words = ("--protocol", "wiki", "--actor", "controller", "--fault", *faults, "--out", str(out))
    process = start("atlas", *words, "--jobs", "1")
    assert process.stderr is not None
    try:
        reported = next(line for line in process.stderr if " of 72 cells" in line)
        process.send_signal(signal.SIGINT)
        process.communicate()
    finally:
        process.kill()
    assert process.returncode == 130
    before = read_cells(out)
    assert len(before) >= int(reported.split()[1]) > 0
    done = call("atlas", *words, "--format", "json")
    assert f"atlas: {len(before)} cells are there already" in done.err
    assert json.loads(done.out)["cells"] == len(read_cells(out)) == 72


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("--protocol", "wikki"), "--protocol: unknown strategy 'wikki'; did you mean 'wiki'?"),
        (("--actor", "leeder"), "--actor: unknown value 'leeder'; did you mean 'leader'?"),
        (("--fault", "crush"), "--fault: unknown value 'crush'; did you mean 'crash'?"),
        (("--cell", "wiki"), "--cell: 'wiki' names no cell; write protocol/plan/gate/actor/fault, as in "),
        (("--cell", CELL + "ed"), f"--cell: that move has no cell '{CELL}ed'; did you mean '{CELL}'?"),
        (("--cell", CELL.replace("1,3,4", "1,3,5")), "--cell: unknown plan '0,1,2-1,3,5'; did you mean "),
        (("--cell", CELL, "--out", "x"), "--out: does not go with --cell, whose name says all; leave it out"),
        (("--write-scenario", "x"), "--write-scenario: writes one cell; name it with --cell"),
        (("no-such-file",), "no-such-file: there is no such scenario file; "),
        (("quick-move", "--all-plans"), "--all-plans: the file has a plan of its own; leave one of them out"),
        ((*FEW, "--out", "/proc/no"), "/proc/no: cannot be written ("),
    ],
)
def test_bad_input_is_one_line(call: Call, words: tuple[str, ...], line: str) -> None:
    done = call("atlas", *words)
    assert done.code == 2
    assert done.line.startswith(f"understudy: {line}"), done.line


def test_damaged_cells_are_refused_before_a_move_is_played(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    played: list[Atlas] = []
    monkeypatch.setattr(Atlas, "baselines", played.append)
    (tmp_path / "cells").mkdir()
    (tmp_path / "cells" / "part-0.parquet").write_bytes(b"")
    called = call("atlas", *FEW, "--out", tmp_path)
    assert (called.code, played) == (2, [])
    assert "part-0.parquet: " in called.line


def test_a_cell_that_raises_costs_no_other_one(call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the others one is played, and its outcome stands for all."""
    from scenarios.studies.atlas.cell_run import execute as real

    played = list[object]()

    def execute(scenario: Scenario) -> object:
        if f"{CELL} of the atlas" in scenario.description:
            raise ValueError("out of luck")
        if not played:
            played.append(real(scenario))
        return played[0]

    monkeypatch.setattr("scenarios.studies.atlas.atlas.execute", execute)
    done = call("atlas", *FEW, "--out", tmp_path, "--jobs", 1)
    assert done.code == 4
    assert "24 of 24 cells, 0 unsafe, 1 failed" in done.err
    assert f"AtlasFailed: the cell {CELL} failed: ValueError: out of luck (1 cells failed" in done.err
    assert len(read_cells(tmp_path)) == 23
    monkeypatch.undo()
    monkeypatch.setattr(outcome, "_unsafe", lambda summary: "an injected reason")
    assert call("atlas", *FEW, "--out", tmp_path, "--jobs", 1).code == 1, "an unsafe cell"
    assert len(read_cells(tmp_path)) == 24
    assert not (tmp_path / "_staging").exists()


def test_an_unsafe_cell_makes_the_exit_code_1(call: Call, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outcome, "_unsafe", lambda summary: "an injected reason")
    assert call("atlas", "--cell", CELL).code == 1
