"""Every figure that a fold declares has a second computation, and Spark computes nothing else."""

from __future__ import annotations

from scenarios.observe.measures.figures import declared
from scenarios.runs.dataset.table_schemas import SCHEMAS
from scenarios.studies.spark.aggregations import OBSERVED, QUERIES, tables_read


def test_each_declared_figure_is_computed_by_one_query() -> None:
    computed = [name for query in QUERIES for name in query.figures]
    assert sorted(computed) == sorted([*declared(), OBSERVED])


def test_queries_read_tables_that_there_are() -> None:
    assert set(tables_read()) <= set(SCHEMAS)
