"""A campaign in real processes that are killed at any moment comes to what an undisturbed one comes to."""

from __future__ import annotations

import random
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.scenarios.cli import tool

SEEDS = 40
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
ENOUGH_S = (0.5, 3.0)
"""A process lives so long: up to its start, to its first seeds, or beyond them."""
MOST = 8
"""After so many kills it is left alone, so that a slow machine comes to an end."""


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


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    folder = tmp_path_factory.mktemp("campaign")
    (folder / "mine.toml").write_text(FILE)
    process = begun(folder, "whole")
    printed, errors = process.communicate(timeout=tool.TIMEOUT_S)
    assert process.returncode == 1, errors
    return folder, printed


@pytest.mark.parametrize("moments", [1, 2])
def test_each_seed_is_there_once_and_reported_once(undisturbed: tuple[Path, str], moments: int) -> None:
    """It is begun again at once each time: no worker of a killed process holds the folder for long."""
    folder, whole = undisturbed
    drawn = random.Random(moments)
    kills = 0
    while True:
        process = begun(folder, f"killed-{moments}")
        try:
            limit_s = drawn.uniform(*ENOUGH_S) if kills < MOST else tool.TIMEOUT_S
            printed, errors = process.communicate(timeout=limit_s)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            for pipe in (process.stdout, process.stderr):  # which its workers have, too
                assert pipe is not None
                pipe.close()
            kills += 1
        else:
            break
    assert kills, "it was killed at least once"
    assert process.returncode == 1, errors
    assert sorted(reported(printed)) == sorted(reported(whole))
    assert len(set(reported(printed))) == len(reported(printed)) > 1
    assert f"of {SEEDS} seeds passed" in printed
    assert list(kept(folder / f"killed-{moments}")) == list(kept(folder / "whole"))
