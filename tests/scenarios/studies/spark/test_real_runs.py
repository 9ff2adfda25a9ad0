"""The figures of ``compare`` equal those of ``run --format json``, run by run, on scenarios that Hypothesis draws."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from pyspark.sql import SparkSession

from scenarios.language import Scenario
from scenarios.runs import Run, run_record, run_scenario
from scenarios.runs.dataset.arm import Arm
from scenarios.runs.dataset.manifest import Manifest, write_manifest
from scenarios.runs.dataset.reader import open_data_set
from scenarios.runs.dataset.run_record import RunRecord, RunSpec
from scenarios.runs.dataset.writer import chunk_name, write_chunk
from scenarios.studies.spark.compare import run_figures
from tests.scenarios.studies.spark.drawn import scenarios

pytestmark = pytest.mark.spark

RUNS = 50


def drawn() -> list[tuple[Run, RunRecord]]:
    """Each scenario run twice: as ``run`` does it, and as a task of a sweep does."""
    pairs: list[tuple[Run, RunRecord]] = []

    @settings(
        max_examples=RUNS, database=None, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
    )
    @given(scenarios())
    def draw(scenario: Scenario) -> None:
        spec = RunSpec.plan(
            scenario=json.dumps(scenario.to_table()),
            scenario_digest=f"{len(pairs)} {scenario.digest()}",
            arm=Arm(scenario.strategy.name, scenario.profile),
            seed=scenario.seed,
            code="code",
        )
        pairs.append((run_scenario(scenario), run_record(spec)))

    draw()
    return pairs


def test_compare_agrees_with_run_on_real_runs(spark: SparkSession, tmp_path: Path) -> None:
    pairs = drawn()
    assert len(pairs) == RUNS
    records = [record for _, record in pairs]
    write_manifest(
        tmp_path,
        Manifest(experiment="e", scenario="drawn", title="drawn", arms=(Arm("wiki", "kafka-2.3"),), seeds=(0,)),
    )
    write_chunk(tmp_path, "e", "wiki", chunk_name([record.spec.run_id for record in records]), records)
    found = {run.run_id: run for run in run_figures(spark, open_data_set(tmp_path))}
    assert len(found) == RUNS
    for run, record in pairs:
        assert record.digest == run.digest, "the same scenario, the same events"
        assert found[record.spec.run_id].metrics == run.to_json()["metrics"], run.replay
    moved = [run for run, _ in pairs if run.metrics["time_to_complete_s"] is not None]
    shrunk = [run for run, _ in pairs if run.metrics["isr_shrinks"]]
    late = [run for run, _ in pairs if run.metrics["lag_max"]]
    assert moved, "some move has to finish"
    assert any(run.metrics["moves_failed"] for run, _ in pairs), "some move has to fail"
    assert shrunk, "some ISR has to shrink"
    assert late, "some follower has to lag"
