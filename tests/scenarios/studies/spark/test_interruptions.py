"""A real process: a driver that is killed half-way."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.scenarios.runs.dataset.runs import rows
from tests.scenarios.studies.spark.processes import sweeping, wait_for
from tests.scenarios.studies.spark.sweeping import WITHOUT_SPARK, swept

SEEDS = 8
ON_SPARK = pytest.param("local[2]", marks=[pytest.mark.spark, pytest.mark.slow])


@pytest.mark.parametrize("master", [WITHOUT_SPARK, ON_SPARK])
def test_a_driver_killed_half_way_and_resumed_loses_and_doubles_nothing(master: str, tmp_path: Path) -> None:
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    with sweeping(killed, master, "synthetic", SEEDS) as process:
        wait_for(lambda: len(committed(killed)) >= 3, process)
        os.kill(process.pid, signal.SIGKILL)
    left = len(committed(killed))
    assert left < 2 * SEEDS, "it was over before anything was killed"
    resumed = swept(killed, master, "synthetic", SEEDS)
    assert 0 < resumed.skipped <= 2 * SEEDS - resumed.runs
    swept(whole, WITHOUT_SPARK, "synthetic", SEEDS)
    assert rows(killed) == rows(whole)
    assert uncounted(killed) == []


def committed(root: Path) -> list[Path]:
    return sorted(root.glob("runs/*/*/*.parquet"))


def uncounted(root: Path) -> list[Path]:
    """Files of a chunk that does not count."""
    counted = {path.name for path in committed(root)}
    return [path for path in root.glob("*/*/*/*.parquet") if path.name not in counted]
