"""The figures of ``compare`` equal those that each run has computed, and those of ``run --format json``, on scenarios
that Hypothesis draws, and on sampled ones."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from pyspark.sql import SparkSession

from scenarios.language import Scenario
from scenarios.runs import Run, run_record, run_scenario
from scenarios.runs.dataset.arm import Arm
from scenarios.runs.dataset.manifest import Manifest, write_manifest
from scenarios.runs.dataset.reader import open_data_set, read_table
from scenarios.runs.dataset.run_record import RunRecord, RunSpec
from scenarios.runs.dataset.writer import chunk_name, write_chunk
from scenarios.runs.leaping import gain
from scenarios.studies.design import Design
from scenarios.studies.spark.compare import compare, run_figures
from scenarios.studies.spark.sweep import sweep
from scenarios.studies.statistics.of_data_set import compare_folders
from tests.scenarios.runs.building import EXECUTE
from tests.scenarios.runs.leaping.test_sampled_runs import throttled
from tests.scenarios.studies.spark.drawn import scenarios

pytestmark = pytest.mark.spark

RUNS, AGAIN = 30, 5
"""Scenarios that are drawn; one of how many is also played as ``run`` does it."""
STRATEGIES = ("wiki+throttle-2MB", "kafka-6794+throttle-2MB")


Played = tuple[Run | None, RunRecord]
"""A scenario as ``run`` does it, and as a task of a sweep does."""


def drawn() -> list[Played]:
    pairs: list[Played] = []

    @settings(
        max_examples=RUNS, database=None, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
    )
    @given(scenarios())
    def draw(scenario: Scenario) -> None:
        pairs.append(played(scenario, len(pairs), again=len(pairs) % AGAIN == 0))

    draw()
    return pairs


def played(scenario: Scenario, number: int, *, again: bool) -> Played:
    spec = RunSpec.plan(
        scenario=json.dumps(scenario.to_table()),
        scenario_digest=f"{number} {scenario.digest()}",
        arm=Arm(scenario.strategy.name, scenario.profile),
        seed=scenario.seed,
        code="code",
    )
    return run_scenario(scenario) if again else None, run_record(spec)


def figures_that_agree(spark: SparkSession, root: Path, pairs: Sequence[Played]) -> list[Mapping[str, Any]]:
    """Write the records as a data set; Spark's figures of each are those of its run."""
    records = [record for _, record in pairs]
    write_manifest(
        root,
        Manifest(experiment="e", scenario="drawn", title="drawn", arms=(Arm("wiki", "kafka-2.3"),), seeds=(0,)),
    )
    write_chunk(root, "e", "wiki", chunk_name([record.spec.run_id for record in records]), records)
    found = {run.run_id: run for run in run_figures(spark, open_data_set(root))}
    assert len(found) == len(pairs)
    for run, record in pairs:
        assert found[record.spec.run_id].agrees
        if run is not None:
            assert record.digest == run.digest, "the same scenario, the same events"
            assert found[record.spec.run_id].metrics == run.to_json()["metrics"], run.replay
    return [found[record.spec.run_id].metrics for _, record in pairs]


def test_compare_agrees_with_run_on_real_runs(spark: SparkSession, tmp_path: Path) -> None:
    pairs = drawn()
    assert len(pairs) == RUNS
    assert sum(run is not None for run, _ in pairs) == RUNS / AGAIN
    figures = figures_that_agree(spark, tmp_path, pairs)
    assert any(each["time_to_complete_s"] is not None for each in figures), "some move has to finish"
    assert any(each["moves_failed"] for each in figures), "some move has to fail"
    assert any(each["isr_shrinks"] for each in figures), "some ISR has to shrink"
    assert any(each["lag_max"] for each in figures), "some follower has to lag"


def test_compare_agrees_with_sampled_runs(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that is read, one whose producers want no acknowledgement, and one in which a broker dies."""
    monkeypatch.setattr(gain, "CHEAP_EVENTS", 0)
    silent = {"topic": "orders", "producerRate": 300, "linger": "500ms", "acks": "0"}
    dies = {"at": "30s", "action": "broker.crash", "target": 0, "duration": "9s"}
    drawn = (
        throttled(consumers=[{"topic": "orders", "name": "reader"}]),
        throttled(workloads=[silent]),
        throttled(moves=2, method=[EXECUTE, dies]),
    )
    pairs = [played(each, number, again=True) for number, each in enumerate(drawn)]
    figures = figures_that_agree(spark, tmp_path, pairs)
    for run, record in pairs:
        assert run is not None
        assert run.leaping is not None
        assert run.leaping.leaps == sum(row.w_us > 0 for row in record.tables["leaps"])
        assert run.leaping.leaps
    assert figures[0]["produce_max_ms"] is None


@pytest.mark.slow
def test_a_sampled_file_is_swept_and_compared(spark: SparkSession, tmp_path: Path) -> None:
    done = sweep(Design.of(throttled("800MiB"), seeds=range(2), strategies=STRATEGIES), tmp_path)
    assert (done.runs, done.failures) == (4, ())
    assert read_table(open_data_set(tmp_path), "leaps").num_rows
    comparison = compare(tmp_path)
    assert all(run.agrees for run in comparison.runs)
    assert comparison == compare_folders(tmp_path), "the figures that each run computed itself"
    assert all(run.completed for run in comparison.runs)
