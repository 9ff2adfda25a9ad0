"""A sweep on local Spark: everything is done once, and an error is reported in one line."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from scenarios.errors import BadInput
from scenarios.runs.dataset.reader import open_data_set, read_table
from scenarios.runs.dataset.writer import chunk_name
from scenarios.studies.spark.compare import compare
from scenarios.studies.spark.sweep import SweepFailed, plan, sweep
from scenarios.studies.statistics.own_figures import quick_comparison
from tests.scenarios.runs.dataset.runs import files
from tests.scenarios.studies.spark.synthetic import SyntheticScenario

RUNNER = "tests.scenarios.studies.spark.synthetic:run_record"
STRATEGIES = ("wiki", "kafka-6794")


@pytest.mark.spark
def test_every_strategy_runs_every_seed_once(spark: SparkSession, tmp_path: Path) -> None:
    progress: list[str] = []
    done = sweep(SyntheticScenario(), range(10), STRATEGIES, tmp_path, runner=RUNNER, progress=progress.append)
    assert (done.runs, done.skipped) == (20, 0)
    assert progress[-1] == "sweep: 20 of 20 runs"
    before = files(tmp_path)
    runs = read_table(open_data_set(tmp_path), "runs").to_pylist()
    assert sorted(row["seed"] for row in runs) == sorted([*range(10), *range(10)])

    again = sweep(SyntheticScenario(), range(10), STRATEGIES, tmp_path, runner=RUNNER)
    assert (again.runs, again.skipped) == (0, 20)
    assert files(tmp_path) == before

    more = sweep(SyntheticScenario(), range(12), STRATEGIES, tmp_path, runner=RUNNER)
    assert (more.runs, more.skipped) == (4, 20)
    assert len(open_data_set(tmp_path).run_ids) == 24

    comparison = compare(tmp_path)
    assert all(run.agrees for run in comparison.runs)
    assert comparison == quick_comparison(tmp_path), "the figures that each run computed itself"
    assert comparison.warnings == ()
    assert "kafka-6794 - wiki" in comparison.text
    said = json.loads(comparison.to_json())
    assert said["strategies"] == ["wiki", "kafka-6794"]
    assert len(said["runs"]) == 24
    assert not (tmp_path / "_staging").exists()


@pytest.mark.spark
def test_a_run_that_breaks_is_named_and_the_others_are_kept(spark: SparkSession, tmp_path: Path) -> None:
    scenario = SyntheticScenario(fails_at=3)
    with pytest.raises(SweepFailed, match="strategy wiki with seed 3 failed: ValueError: seed 3 is out of luck"):
        sweep(scenario, range(8), ("wiki",), tmp_path, runner=RUNNER)
    runs = read_table(open_data_set(tmp_path), "runs").to_pylist()
    assert sorted(row["seed"] for row in runs) == [0, 1, 2, 4, 5, 6, 7]


def test_a_folder_that_cannot_be_written_is_found_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="cannot be written"):
        sweep(SyntheticScenario(), range(2), STRATEGIES, tmp_path / "file" / "out", runner=RUNNER)


@pytest.mark.parametrize(
    ("seeds", "strategies", "what"),
    [
        ((), STRATEGIES, "--seeds: names none"),
        ((1, 2, 1), STRATEGIES, "--seeds: names 1 twice"),
        ((1,), ("wiki", "wiki"), "--strategy: names wiki twice"),
    ],
)
def test_seeds_and_strategies_are_named_once(
    tmp_path: Path, seeds: tuple[int, ...], strategies: tuple[str, ...], what: str
) -> None:
    with pytest.raises(BadInput, match=what):
        sweep(SyntheticScenario(), seeds, strategies, tmp_path, runner=RUNNER)
    assert os.listdir(tmp_path) == []


def test_chunks_have_several_runs_and_pairs_are_neighbours(tmp_path: Path) -> None:
    chunks = plan(SyntheticScenario(), range(20), STRATEGIES, tmp_path, experiment="e", runner=RUNNER)
    assert len(chunks) == 14
    for one, other in zip(chunks[::2], chunks[1::2], strict=True):
        assert (one.common.strategy, other.common.strategy) == STRATEGIES
        assert [spec.seed for spec in one.items] == [spec.seed for spec in other.items]
    assert len({chunk_name([spec.run_id for spec in chunk.items]) for chunk in chunks}) == 14
