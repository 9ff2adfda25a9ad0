"""A campaign in real processes that are killed at any moment comes to what an undisturbed one comes to."""

from __future__ import annotations

import random
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.scenarios.cli import tool

SEEDS = 12
FILE = """
title = "one broker after the other"
[cluster]
brokers = 3
[[topics]]
name = "orders"
assignment = [[0, 1]]
[[chaos]]
kind = "attrition"
share = 1
[[expect]]
leader = { "orders-0" = 0 }
"""
"""Some seeds fail by what is expected, some do not."""
MORE = (0, 4)
"""A process lives until the results have that number of new lines; none: until there is the file for them."""
MOMENT_S = 0.5
"""And at most that much longer, so that the moment is any."""


def begun(folder: Path, out: str) -> subprocess.Popen[str]:
    words = ("chaos", "mine.toml", "--seeds", f"0:{SEEDS}", "--jobs", "2", "--out", out)
    return tool.start(*words, cwd=folder)


def reported(printed: str) -> list[str]:
    """The seeds of which a finding is printed."""
    return [line.split(":")[0] for line in printed.splitlines() if line.startswith("seed ")]


def kept(folder: Path) -> Iterator[tuple[str, list[bytes]]]:
    """The files of a campaign, lines of results in the order of their seeds."""
    for file in sorted(folder.iterdir()):
        lines = file.read_bytes().splitlines()
        yield file.name, sorted(lines) if file.name == "results.jsonl" else lines


def outlives(process: subprocess.Popen[str], results: Path, lines: int, moment_s: float) -> bool:
    """Whether the process still runs once ``results`` has that number of lines, and a moment later."""
    while not results.exists() or results.read_bytes().count(b"\n") < lines:
        if process.poll() is not None:
            return False
        time.sleep(0.01)
    time.sleep(moment_s)
    return process.poll() is None


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("campaign")
    (folder / "mine.toml").write_text(FILE)
    process = begun(folder, "whole")
    printed, errors = process.communicate(timeout=tool.TIMEOUT_S)
    assert process.returncode == 1, errors
    return folder, printed


@pytest.mark.parametrize(("moments", "most"), [(1, 2), pytest.param(2, 8, marks=pytest.mark.slow)])
def test_each_seed_is_there_once_and_reported_once(undisturbed: tuple[Path, str], moments: int, most: int) -> None:
    """It is begun again at once each time: no worker of a killed process holds the folder for long. After
    ``most`` kills it is left alone."""
    folder, whole = undisturbed
    drawn, results = random.Random(moments), folder / f"killed-{moments}" / "results.jsonl"
    kills = lines = 0
    while True:
        process = begun(folder, f"killed-{moments}")
        lines += drawn.randint(*MORE)
        if kills == most or not outlives(process, results, lines, drawn.uniform(0, MOMENT_S)):
            break
        process.kill()
        process.wait()
        for pipe in (process.stdout, process.stderr):  # which its workers have, too
            assert pipe is not None
            pipe.close()
        kills += 1
    printed, errors = process.communicate(timeout=tool.TIMEOUT_S)
    assert kills, "it was killed at least once"
    assert process.returncode == 1, errors
    assert sorted(reported(printed)) == sorted(reported(whole))
    assert len(set(reported(printed))) == len(reported(printed)) > 1
    assert f"of {SEEDS} seeds passed" in printed
    assert list(kept(folder / f"killed-{moments}")) == list(kept(folder / "whole"))
