"""10,000 runs: a sweep whose driver is killed half-way, and one on a cluster that loses a worker. Too long for the
suite: docs/extend/contributing.md has the command."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from pathlib import Path

import pyarrow.compute as pc
import pytest

from scenarios.runs.dataset.reader import finished_runs, open_data_set, read_table
from scenarios.runs.dataset.table_schemas import SCHEMAS
from tests.scenarios.studies.spark.processes import sweeping, wait_for
from tests.scenarios.studies.spark.synthetic import STRATEGIES
from tests.scenarios.studies.spark.test_standalone import executors, standalone

pytestmark = [pytest.mark.slow, pytest.mark.spark]

SCENARIO = """
title = "One broker starts and leads one partition"
horizon = "1s"
[cluster]
brokers = 1
[[topics]]
name = "orders"
assignment = [[0]]
"""
RUNS = int(os.environ.get("UNDERSTUDY_TEST_RUNS", "10000"))
SEEDS = RUNS // len(STRATEGIES)
HOURS = 2 * 3600.0


@pytest.fixture(scope="module")
def scenario(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("scenario") / "short.toml"
    path.write_text(SCENARIO)
    return str(path)


@pytest.fixture(scope="module")
def undisturbed(scenario: str, tmp_path_factory: pytest.TempPathFactory) -> Counter[str]:
    """Without Spark, in one process."""
    root = tmp_path_factory.mktemp("undisturbed")
    finish(root, "none", scenario)
    return contents(root)


def test_a_driver_killed_half_way_changes_no_row(scenario: str, undisturbed: Counter[str], tmp_path: Path) -> None:
    with sweeping(tmp_path, "local[2]", scenario, SEEDS) as driver:
        wait_for(lambda: written(tmp_path) > RUNS // 2, driver, patience_s=HOURS)
        os.kill(driver.pid, signal.SIGKILL)
    before = len(open_data_set(tmp_path).run_ids)
    assert RUNS // 2 < before < RUNS
    assert finish(tmp_path, "local[2]", scenario) <= RUNS - before + 100, "what was written is not done again"
    assert contents(tmp_path) == undisturbed


def test_a_worker_killed_half_way_changes_no_row(scenario: str, undisturbed: Counter[str], tmp_path: Path) -> None:
    out, folder = tmp_path / "out", tmp_path / "cluster"
    folder.mkdir()
    with standalone(folder) as cluster, sweeping(out, cluster.url, scenario, SEEDS) as driver:
        wait_for(lambda: len(executors(tmp_path)) > 1 and written(out) > RUNS // 2, driver, patience_s=HOURS)
        cluster.kill_worker(0)
        _output, errors = driver.communicate(timeout=HOURS)
        assert driver.returncode == 0, errors
    assert contents(out) == undisturbed


def finish(root: Path, master: str, scenario: str) -> int:
    """Sweep to the end; returns how many runs that took, and says how long."""
    began = time.monotonic()
    with sweeping(root, master, scenario, SEEDS) as driver:
        output, errors = driver.communicate(timeout=HOURS)
    assert driver.returncode == 0, errors
    runs = int(output.split()[0])
    print(f"{runs} runs on {master}: {time.monotonic() - began:.0f} s, load {os.getloadavg()[0]:.1f}")
    return runs


def written(root: Path) -> int:
    """How many runs count."""
    return len(finished_runs(root))


def contents(root: Path) -> Counter[str]:
    """Every row of every table, as text: how often it is there."""
    found: Counter[str] = Counter()
    data = open_data_set(root)
    for table in SCHEMAS:
        content = read_table(data, table)
        for batch in content.to_batches():
            found.update(f"{table} {row}" for row in batch.to_pylist())
    assert pc.count_distinct(read_table(data, "runs")["run_id"]).as_py() == RUNS
    return found
