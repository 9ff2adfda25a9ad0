"""A figure that comes from outside the package needs its two computations, and nothing else knows of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from scenarios.language.files import load
from scenarios.observe.measures.figures import FOLDS, declared
from scenarios.runs.dataset.reader import open_data_set
from scenarios.studies.spark.aggregations import QUERIES
from scenarios.studies.spark.compare import run_figures
from scenarios.studies.statistics.study_comparison import compared
from tests.scenarios.studies.plugins.fetcher_starts import QUERY, FetcherStarts


@pytest.fixture
def added(monkeypatch: pytest.MonkeyPatch) -> str:
    """The figure's name, while the plug-in is there."""
    monkeypatch.setattr("scenarios.observe.measures.figures.FOLDS", folds := [*FOLDS, FetcherStarts])
    monkeypatch.setattr("scenarios.observe.measures.measures.FOLDS", folds)
    monkeypatch.setattr("scenarios.studies.spark.aggregations.query.QUERIES", [*QUERIES, QUERY])
    return "fetcher_starts"


def test_it_is_in_the_account_of_a_run_and_in_the_comparison(added: str) -> None:
    run = load("quick-move").run()
    value = run.metrics[added]
    assert isinstance(value, int)
    assert value > 0
    assert list(declared())[-1] == added
    assert compared(consumers=False)[-1] == added


@pytest.mark.spark
def test_spark_computes_it_from_the_tables(added: str, spark: SparkSession, tmp_path: Path) -> None:
    run = load("quick-move").run(trace_dir=tmp_path)
    [found] = run_figures(spark, open_data_set(tmp_path))
    assert found.metrics[added] == run.metrics[added]
    assert found.agrees
