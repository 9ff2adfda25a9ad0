"""Two computations of every figure: the folds in the run and Spark from the tables give the same numbers."""

from __future__ import annotations

import random
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from scenarios.observe.measures import Figures
from scenarios.observe.measures.percentile import weighted_percentiles
from scenarios.runs.dataset.arm import Arm
from scenarios.runs.dataset.manifest import Manifest, write_manifest
from scenarios.runs.dataset.reader import open_data_set
from scenarios.runs.dataset.run_record import RunRecord, RunSpec
from scenarios.runs.dataset.writer import chunk_name, write_chunk
from scenarios.studies.spark.compare import run_figures
from scenarios.studies.spark.session import compile_queries
from scenarios.studies.statistics.run_figures import RunFigures
from tests.scenarios.studies.spark.synthetic import random_run

pytestmark = pytest.mark.spark

RUNS = 51
QUANTILES = (0.5, 0.95, 0.99)


def drawn_runs() -> list[RunRecord]:
    """Random histories from Hypothesis: all are compared in one query, since a query takes seconds. They are the same
    each time, so that all that is to be put to the test is among them."""
    records: list[RunRecord] = []

    @settings(
        max_examples=RUNS, database=None, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
    )
    @given(st.integers(0, 2**64), st.integers(0, 300))
    def draw(seed: int, steps: int) -> None:
        number = len(records)
        arm = Arm("wiki", "kafka-2.3")
        spec = RunSpec.plan(scenario="{}", scenario_digest="drawn", arm=arm, seed=number, code="code")
        records.append(random_run(spec, random.Random(seed), steps))

    draw()
    return records


def compared(spark: SparkSession, root: Path, records: list[RunRecord]) -> list[RunFigures]:
    seeds = tuple(record.spec.seed for record in records)
    write_manifest(
        root,
        Manifest(
            experiment="e",
            scenario="drawn",
            title="drawn",
            arms=(Arm("wiki", "kafka-2.3"),),
            seeds=seeds,
        ),
    )
    chunk = chunk_name([record.spec.run_id for record in records])
    write_chunk(root, "e", "wiki", chunk, records)
    return run_figures(spark, open_data_set(root))


def test_both_computations_agree_on_random_histories(spark: SparkSession, tmp_path: Path) -> None:
    """And one account that was falsified, so that it is known that a difference would be seen."""
    records = drawn_runs()
    last = records.pop()
    false = Figures({**last.figures, "under_min_isr_us": last.figures.whole("under_min_isr_us") + 1})
    *found, falsified = compared(spark, tmp_path, [*records, evolve(last, figures=false)])
    assert not falsified.agrees
    for record, run in zip(records, found, strict=True):
        assert run.metrics == record.figures.metrics(), f"run {record.spec.seed} of {record.events} events"
        assert run.agrees
    tested = ("under_min_isr_s", "offline_s", "lag_p99", "true_lag_max", "produce_p50_ms")
    states = ("isr_flaps", "recovery_max_s", "longest_gap_s", "bytes_moved", "peak_broker_egress")
    for metric in (*tested, *states, "consume_p99_ms", "consumer_lag_p95"):
        assert any(run.metrics[metric] for run in found), f"{metric} was never put to the test"
    assert {run.completed for run in found} == {True, False, None}


@pytest.mark.slow
def test_compiled_queries_answer_the_same(spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of a large data set; all others here are small."""
    records = drawn_runs()[-10:]
    interpreted = compared(spark, tmp_path, records)
    monkeypatch.setattr("scenarios.studies.spark.compare._INTERPRETED", 0)
    compiled = run_figures(spark, open_data_set(tmp_path))
    assert spark.conf.get("spark.sql.codegen.wholeStage") == "true"
    compile_queries(spark, False)  # as the session was
    assert compiled == interpreted
    assert all(run.agrees for run in compiled)


def test_percentiles_are_sparks_to_the_last_bit(spark: SparkSession) -> None:
    draw = random.Random(1)
    groups: dict[int, dict[int, int]] = {}
    rows = []
    for group in range(300):
        for _ in range(draw.randint(1, 12)):
            value, weight = draw.randrange(100_000), draw.choice((1, 1, 3, 100_000))
            rows.append((group, value, weight))
            weights = groups.setdefault(group, {})
            weights[value] = weights.get(value, 0) + weight
    frame = spark.createDataFrame(rows, "g long, v long, w long")
    percentiles = F.expr("percentile(v, array(0.5D, 0.95D, 0.99D), w)")
    found = {row["g"]: row["p"] for row in frame.groupBy("g").agg(percentiles.alias("p")).collect()}
    assert found == {group: weighted_percentiles(weights, QUANTILES) for group, weights in groups.items()}
