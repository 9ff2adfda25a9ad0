"""Spark reads what brokers showed: carried forward, a gauge can be asked at any time."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from scenarios.language.files import load
from scenarios.runs import run_scenario
from scenarios.runs.dataset.reader import open_data_set
from scenarios.studies.spark.tables import table

pytestmark = pytest.mark.spark


def test_the_under_replicated_partitions_of_each_broker_at_a_moment(spark: SparkSession, tmp_path: Path) -> None:
    run = run_scenario(load("quick-move"), trace_dir=tmp_path)
    shown = table(spark, open_data_set(tmp_path), "broker_metrics")
    at_us = round(run.virtual_s * 1e6) - 1
    found = (
        shown.where("name = 'kafka.server:type=ReplicaManager,name=UnderReplicatedPartitions'")
        .groupBy("node")
        .agg(F.max("value").alias("most"), F.expr(f"sum(value) FILTER (WHERE {at_us} < t_us + w_us)").alias("last"))
        .collect()
    )
    assert {row["node"] for row in found} == set(range(load("quick-move").cluster.brokers))
    assert max(row["most"] for row in found) > 0
    assert [row["last"] for row in found] == [0] * len(found)
