"""All figures of all runs, side by side."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pyspark.sql import DataFrame

from scenarios.studies.spark.aggregations.burrow import FIGURES as OF_LOOKS
from scenarios.studies.spark.aggregations.producers import TOO_RARE
from scenarios.studies.spark.aggregations.query import KEY, queries


def tables_read() -> tuple[str, ...]:
    """The tables of the data set that ``figures`` reads."""
    return tuple(dict.fromkeys(table for query in queries() for table in query.tables))


def figures(tables: Mapping[str, DataFrame], run_ids: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Each run's figures and ``OBSERVED``, by ``run_id``.

    Every aggregation is a query of its own, and its few rows are joined here: one query over all of them, by unions or
    by joins, takes Spark twice as long.
    """
    defaults = {name: query.default for query in queries() for name in query.figures}
    found: dict[str, dict[str, Any]] = {run_id: dict(defaults) for run_id in run_ids}
    for query in queries():
        frame = query.compute(*(tables[table] for table in query.tables))
        for row in frame.toArrow().to_pylist():
            run = found[row.pop(KEY)]
            run.update((name, query.default if value is None else value) for name, value in row.items())
    for row in tables["leaps"].where("w_us > 0").select(KEY).distinct().toArrow().to_pylist():
        found[row[KEY]].update(dict.fromkeys((*OF_LOOKS, *TOO_RARE)))  # followers are not looked at in leaps, either
    return found
