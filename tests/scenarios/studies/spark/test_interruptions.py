"""Real processes: an executor that is killed half-way, and Ctrl-C."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from scenarios.cli.files import load
from scenarios.runs.dataset.reader import open_data_set, read_table
from scenarios.studies.spark.sweep import plan, run_chunk
from tests.scenarios.runs.dataset.runs import files
from tests.scenarios.studies.spark.processes import PATIENCE_S, command, descendants, sweeping, wait_for
from tests.scenarios.studies.spark.sweeping import REAL, STRATEGIES

pytestmark = pytest.mark.spark

SCENARIO = "controller-dies-mid-move"
SEEDS = 8


def test_an_executor_killed_half_way_loses_and_doubles_nothing(tmp_path: Path) -> None:
    out = tmp_path / "killed"
    with sweeping(out, "local-cluster[2,1,1024]", SCENARIO, SEEDS) as process:
        wait_for(lambda: len(committed(out)) >= 2, process)
        executors = [pid for pid in descendants(process.pid) if "CoarseGrainedExecutorBackend" in command(pid)]
        assert executors, "no executor was found to kill"
        os.kill(executors[0], signal.SIGKILL)
        assert len(committed(out)) < 2 * SEEDS, "it was over before anything was killed"
        output, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, errors
    assert output == f"{2 * SEEDS} runs\n"
    killed, whole = files(out), undisturbed(tmp_path / "undisturbed")
    assert list(killed) == list(whole)
    assert [place for place in whole if killed[place] != whole[place]] == []


def test_ctrl_c_keeps_what_was_finished(tmp_path: Path) -> None:
    with sweeping(tmp_path, "local[2]", "synthetic", SEEDS) as process:
        wait_for(lambda: len(committed(tmp_path)) >= 2, process)
        os.kill(process.pid, signal.SIGINT)
        output, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    runs = read_table(open_data_set(tmp_path), "runs").num_rows
    assert 2 <= runs < 2 * SEEDS
    assert output.startswith("interrupted; ")


def undisturbed(root: Path) -> dict[str, bytes]:
    """The same sweep without Spark."""
    for chunk in plan(load(SCENARIO, ()), range(SEEDS), STRATEGIES, root, experiment="sweep", runner=REAL):
        assert run_chunk(chunk) is None
    return files(root)


def committed(root: Path) -> list[Path]:
    return sorted(root.glob("runs/*/*/*.parquet"))
