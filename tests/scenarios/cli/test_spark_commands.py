"""The commands that need Spark: sweep and demo as the processes that a user starts."""

from __future__ import annotations

import json
import signal
import time
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from scenarios.runs.dataset.manifest import NAME
from scenarios.runs.dataset.reader import finished_runs
from tests.scenarios.cli import tool
from tests.scenarios.cli.conftest import Call

pytestmark = pytest.mark.spark


@pytest.mark.slow
def test_ctrl_c_in_a_sweep_leaves_what_was_finished(spark: SparkSession, call: Call, tmp_path: Path) -> None:
    out = tmp_path / "swept"
    process = tool.start(
        "sweep", "quick-move", "--seeds", "0:8", "--strategy", "wiki", "--out", str(out),
        module="tests.scenarios.cli.interrupted",
    )  # fmt: skip
    assert process.stderr is not None
    try:
        while len(finished_runs(out) if (out / NAME).exists() else ()) < 3:
            assert process.poll() is None, "the sweep ended before it was interrupted"
            time.sleep(0.1)
        process.send_signal(signal.SIGINT)
        said, err = process.communicate(timeout=tool.TIMEOUT_S)
    finally:
        process.kill()
    assert process.returncode == 130, err
    assert said == ""
    line = f"understudy: interrupted; 3 of 8 runs are kept in {out}; the same command goes on"
    assert [last for last in err.splitlines() if last.startswith("understudy:")] == [line]
    assert "Traceback" not in err

    compared = call("compare", out, "--format", "json")
    assert compared.code == 0, compared.err
    assert sorted(run["seed"] for run in json.loads(compared.out)["runs"]) == [0, 1, 2]


def test_the_demo_shows_the_main_job(tmp_path: Path) -> None:
    done = tool.call("demo", "--seeds", "0:2", "--out", str(tmp_path / "demo"))
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    parts = [at for at, line in enumerate(lines) if line.startswith("== ")]
    assert [lines[at].split()[1] for at in parts] == ["1.", "2.", "3.", "4.", "5."]
    for piece in ("PASSED after", "wiki.3, orders-0", "crash of broker 6", "time_to_complete_s", "kafka-6794"):
        assert piece in done.stdout
    assert "sweep: " in done.stderr
    assert "WARNING" not in done.stderr
    timeline = lines[parts[1] + 1 : lines.index("", parts[1])]
    assert len(timeline) == 2 + 20 + 1, "a head, twenty lines, and a line for those that are left out"
    assert any("FAULT controller.crash 6" in line for line in timeline[2:-1])
    assert timeline[-1].startswith("53 lines before and ")
    last = "\n".join(lines[parts[4] + 1 : lines.index("", parts[4])])
    assert "moves, 1 of 1 done in 8.226 s" in last
    assert "2 seeds can show a direction and no finding" in last
    assert "Of all 4 runs 0 lost acknowledged records (acks=all) and 0 did not" in last


def test_twenty_lines_around_the_fault_are_shown_and_the_others_counted() -> None:
    from scenarios.cli.commands.demo import around

    lines = ["head", "roles", *map(str, range(100))]
    assert around(lines, 2 + 50) == ["head", "roles", *map(str, range(45, 65)), around(lines, 52)[-1]]
    assert around(lines, 52)[-1] == "45 lines before and 35 after these: understudy timeline, below"
    assert around(lines, 2)[2] == "0"
    assert around(lines, 101)[2:-1] == list(map(str, range(80, 100)))
    assert around(lines[:12], 8) == lines[:12]
