"""Real processes: an executor that is killed half-way, and Ctrl-C."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from scenarios.dataset.reader import open_data_set, read_table
from scenarios.dataset.writer import write_chunk
from scenarios.spark.sweep import plan
from tests.scenarios.dataset.runs import files
from tests.scenarios.spark.synthetic import SyntheticScenario, run_record

pytestmark = pytest.mark.spark

PROJECT = Path(__file__).resolve().parents[3]
SEEDS = 8
SPIN_S = 0.4
PATIENCE_S = 180.0


def test_an_executor_killed_half_way_loses_and_doubles_nothing(tmp_path: Path) -> None:
    out = tmp_path / "killed"
    with sweeping(out, "local-cluster[2,1,1024]") as process:
        wait_for(lambda: len(committed(out)) >= 2, process)
        executors = [pid for pid in descendants(process.pid) if "CoarseGrainedExecutorBackend" in command(pid)]
        assert executors, "no executor was found to kill"
        os.kill(executors[0], signal.SIGKILL)
        assert len(committed(out)) < 2 * SEEDS, "it was over before anything was killed"
        output, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, errors
    assert output == f"{2 * SEEDS} runs\n"
    assert files(out) == undisturbed(tmp_path / "undisturbed")


def test_ctrl_c_keeps_what_was_finished(tmp_path: Path) -> None:
    with sweeping(tmp_path, "local[2]") as process:
        wait_for(lambda: len(committed(tmp_path)) >= 2, process)
        os.kill(process.pid, signal.SIGINT)
        output, errors = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 130, errors
    assert "Traceback" not in errors
    runs = read_table(open_data_set(tmp_path), "runs").num_rows
    assert 2 <= runs < 2 * SEEDS
    assert output.startswith("interrupted; ")


@contextmanager
def sweeping(out: Path, master: str) -> Iterator[subprocess.Popen[str]]:
    arguments = [
        sys.executable,
        "-m",
        "tests.scenarios.spark.sweeping",
        str(out),
        master,
        str(SEEDS),
        str(SPIN_S),
    ]
    process = subprocess.Popen(
        arguments,
        cwd=PROJECT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


def undisturbed(root: Path) -> dict[str, bytes]:
    """The same sweep without Spark."""
    scenario = SyntheticScenario(spin_s=SPIN_S)
    for chunk in plan(scenario, range(SEEDS), ("wiki", "kafka-6794"), root, experiment="sweep"):
        records = (run_record(spec) for spec in chunk.specs)
        write_chunk(root, chunk.experiment, chunk.strategy, chunk.name, records)
    return files(root)


def committed(root: Path) -> list[Path]:
    return sorted(root.glob("runs/*/*/*.parquet"))


def wait_for(condition: Callable[[], bool], process: subprocess.Popen[str]) -> None:
    """Polls another process's progress: there is nothing of ours to wait for."""
    until = time.monotonic() + PATIENCE_S
    while not condition():
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < until, "the sweep does not get on"
        time.sleep(0.05)


def descendants(pid: int) -> list[int]:
    """All processes below ``pid``, by /proc."""
    children: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue  # it ended meanwhile
            children.setdefault(parent, []).append(int(entry.name))
    found, todo = [], [pid]
    while todo:
        below = sorted(children.get(todo.pop(), []))
        found += below
        todo += below
    return found


def command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""
