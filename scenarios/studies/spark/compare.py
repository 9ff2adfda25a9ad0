"""The comparison of a sweep with Spark: every figure of every run is computed from the tables, and held against the one
that the run computed itself. The statistics over the figures are in ``scenarios.studies.statistics.comparison``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from scenarios.observe.measures.figures import Figures, declared
from scenarios.runs.dataset.reader import DataSet, open_data_set
from scenarios.studies.spark.figures import OBSERVED, figures, tables_read
from scenarios.studies.spark.session import LOCAL, compile_queries, session
from scenarios.studies.spark.tables import table
from scenarios.studies.statistics.comparison import comparison
from scenarios.studies.statistics.comparison_table import Comparison, RunFigures

_SMALL_BYTES = 16 * 1024 * 1024
"""Of Parquet, about two million rows. With twice as many, compiled and interpreted queries took about the same time
(benchmarks/spark); where they cross was not measured."""


def compare(directory: str | Path, *, master: str = LOCAL) -> Comparison:
    """Compare the strategies of a data set. Raises: BadInput for a folder without one; JavaMissing."""
    data_set = open_data_set(Path(directory))
    with session(master, brief=_is_small(data_set)) as spark:
        return comparison(data_set.manifest, run_figures(spark, data_set))


def run_figures(spark: SparkSession, data_set: DataSet) -> list[RunFigures]:
    """The figures of every run, computed by Spark, in the order of strategy and seed."""
    compile_queries(spark, not _is_small(data_set))
    frames = {name: table(spark, data_set, name) for name in tables_read()}
    rows = [_run(row.asDict()) for row in figures(frames).collect()]
    return sorted(rows, key=lambda run: (run.strategy, run.seed, run.run_id))


def _is_small(data_set: DataSet) -> bool:
    """Whether compiling the queries would take longer than it saves. The results are the same."""
    return sum(path.stat().st_size for name in tables_read() for path in data_set.parts[name]) < _SMALL_BYTES


def _run(row: Mapping[str, Any]) -> RunFigures:
    metrics = Figures({name: row[name] for name in declared()}).metrics()
    observed_us = row[OBSERVED]
    return RunFigures(
        run_id=row["run_id"],
        strategy=row["strategy"],
        seed=row["seed"],
        completed=row["completed"],
        observed_s=None if observed_us is None else observed_us / 1_000_000,
        metrics=metrics,
        agrees=metrics == json.loads(row["metrics"]),
    )
