"""The comparison of a sweep with Spark: every figure of every run is computed again from the tables, and checked
against the figure that the run computed itself. The statistics over the figures are in
``scenarios.studies.statistics``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from scenarios.observe.measures.figure import Value
from scenarios.observe.measures.figures import Figures, declared
from scenarios.runs.dataset.joined import open_data_sets
from scenarios.runs.dataset.reader import DataSet, RunRead, read_figures, read_specs
from scenarios.studies.spark.aggregations import OBSERVED, figures, tables_read
from scenarios.studies.spark.session import LOCAL, compile_queries, session
from scenarios.studies.spark.tables import table
from scenarios.studies.statistics.of_data_set import compare_data_set
from scenarios.studies.statistics.result import Comparison
from scenarios.studies.statistics.run_figures import RunFigures, in_order
from scenarios.studies.statistics.study_comparison import ComparisonSpec

_INTERPRETED = 200_000
"""The most rows for which queries are interpreted. Over 1.2 million, 5,000 small runs, compiled ones took 37 s of CPU
and interpreted ones 51; where they cross was not measured."""
_BRIEF = 5_000_000
"""The most rows for which the JVM is tuned to start fast: over those 1.2 million it then took 37 s of CPU, and 61 if
not."""


def compare(*directories: str | Path, master: str = LOCAL, asked: ComparisonSpec | None = None) -> Comparison:
    """Compare the arms of a data set, or of several that share seeds. Raises: BadInput for a folder without one, and
    for a request that the data lack; JavaMissing."""
    return compare_with_spark(open_data_sets(directories), master=master, asked=asked)


def compare_with_spark(data_set: DataSet, *, master: str = LOCAL, asked: ComparisonSpec | None = None) -> Comparison:
    """Compare the arms of an open data set. Raises: BadInput for a request that the data lack; JavaMissing."""
    with session_for(data_set, master) as spark:
        return compare_data_set(data_set, run_figures(spark, data_set), asked=asked)


@contextmanager
def session_for(data_set: DataSet, master: str = LOCAL) -> Iterator[SparkSession]:
    """A session for the queries of a data set of this size. Raises: JavaMissing."""
    with session(master, brief=_rows(data_set) <= _BRIEF) as spark:
        yield spark


def run_figures(spark: SparkSession, data_set: DataSet) -> list[RunFigures]:
    """The figures of every run that is done, computed by Spark, in the order of arm and seed."""
    compile_queries(spark, _rows(data_set) > _INTERPRETED)
    frames = {name: table(spark, data_set, name) for name in tables_read()}
    runs, own = {run.row["run_id"]: run for run in read_specs(data_set)}, read_figures(data_set)
    computed = figures(frames, runs)
    found = [_run(run, computed[run_id], own[run_id]) for run_id, run in runs.items() if run.is_done]
    return in_order(found, data_set.manifest.arms)


def _rows(data_set: DataSet) -> int:
    """The number of rows that the queries read: bytes would measure the number of files, where these are small."""
    return sum(pq.read_metadata(path).num_rows for path in data_set.files(tables_read()))


def _run(run: RunRead, row: Mapping[str, Any], own: Mapping[str, Value]) -> RunFigures:
    metrics = Figures({name: row[name] for name in declared()}).metrics()
    observed_us = row[OBSERVED]
    return RunFigures(
        run_id=run.row["run_id"],
        arm=run.arm,
        seed=run.row["seed"],
        completed=run.row["completed"],
        observed_s=None if observed_us is None else observed_us / 1_000_000,
        metrics=metrics,
        agrees=metrics == own,
    )
