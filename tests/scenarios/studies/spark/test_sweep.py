"""A sweep on local Spark: everything is done once, and an error is reported in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from scenarios.errors import BadInput
from scenarios.runs.dataset.reader import open_data_set, read_table
from scenarios.runs.dataset.writer import chunk_name
from scenarios.studies.spark.chunk import plan
from scenarios.studies.spark.compare import compare
from scenarios.studies.spark.sweep import sweep
from scenarios.studies.statistics.of_data_set import compare_folders
from tests.scenarios.runs.dataset.runs import files
from tests.scenarios.studies.spark.synthetic import STRATEGIES, synthetic_design

RUNNER = "tests.scenarios.studies.spark.synthetic:run_record"


@pytest.mark.spark
def test_every_strategy_runs_every_seed_once(spark: SparkSession, tmp_path: Path) -> None:
    progress: list[str] = []
    done = sweep(synthetic_design(range(10)), tmp_path, runner=RUNNER, progress=progress.append)
    assert (done.runs, done.skipped) == (20, 0)
    assert progress[-1] == "sweep: 20 of 20 runs"
    before = files(tmp_path)
    runs = read_table(open_data_set(tmp_path), "runs").to_pylist()
    assert sorted(row["seed"] for row in runs) == sorted([*range(10), *range(10)])

    again = sweep(synthetic_design(range(10)), tmp_path, runner=RUNNER)
    assert (again.runs, again.skipped) == (0, 20)
    assert files(tmp_path) == before

    more = sweep(synthetic_design(range(12)), tmp_path, runner=RUNNER)
    assert (more.runs, more.skipped) == (4, 20)
    assert len(open_data_set(tmp_path).run_ids) == 24

    comparison = compare(tmp_path)
    assert all(run.agrees for run in comparison.runs)
    assert comparison == compare_folders(tmp_path), "the figures that each run computed itself"
    assert {doubt.kind for doubt in comparison.doubts}.isdisjoint({"failed", "incomplete", "disagree"})
    assert "kafka-6794 against wiki" in comparison.text or "than wiki" in comparison.text
    said = json.loads(comparison.to_json())
    assert [level["name"] for level in said["levels"]] == ["wiki", "kafka-6794"]
    assert len(said["runs"]) == 24
    assert not (tmp_path / "_staging").exists()


@pytest.mark.spark
def test_a_run_that_breaks_is_a_row_and_one_that_kills_its_worker_too(spark: SparkSession, tmp_path: Path) -> None:
    swept = sweep(synthetic_design(range(8), ("wiki",), fails_at=3, kills_at=5), tmp_path, runner=RUNNER)
    assert sorted(failure.item.seed for failure in swept.failures) == [3, 5]
    runs = {row["seed"]: row for row in read_table(open_data_set(tmp_path), "runs").to_pylist()}
    assert [runs[seed]["status"] for seed in range(8)] == [
        "done", "done", "done", "failed", "done", "failed", "done", "done",
    ]  # fmt: skip
    assert runs[3]["error"] == "ValueError: seed 3 is out of luck"
    assert "crashed" in runs[5]["error"]
    assert swept.errors is not None
    assert "in run_record" in swept.errors.read_text(), "the stack"
    again = sweep(synthetic_design(range(8), ("wiki",), fails_at=3, kills_at=5), tmp_path, runner=RUNNER)
    assert (again.runs, again.skipped) == (0, 8)


def test_a_folder_that_cannot_be_written_is_found_before_anything_runs(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(BadInput, match="cannot be written"):
        sweep(synthetic_design(range(2)), tmp_path / "file" / "out", runner=RUNNER)


def test_chunks_have_several_runs_and_pairs_are_neighbours(tmp_path: Path) -> None:
    chunks = plan(synthetic_design(range(20)), tmp_path, experiment="e", runner=RUNNER)
    assert len(chunks) == 14
    for one, other in zip(chunks[::2], chunks[1::2], strict=True):
        assert (one.common.strategy, other.common.strategy) == STRATEGIES
        assert [spec.seed for spec in one.items] == [spec.seed for spec in other.items]
    assert len({chunk_name([spec.run_id for spec in chunk.items]) for chunk in chunks}) == 14
