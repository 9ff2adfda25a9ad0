"""Tables written by hand: rows of the data set with the columns that matter, and null in the others."""

from __future__ import annotations

from typing import Any

from pyspark.sql import DataFrame, Row, SparkSession

from scenarios.studies.spark.tables import spark_schema

RUN = "run-a"


def table(spark: SparkSession, name: str, *rows: dict[str, Any]) -> DataFrame:
    """The table ``name`` with these rows; of the run ``RUN``, topic ``orders`` and partition 0 where a row says no
    other."""
    schema = spark_schema(name)
    usual = {"run_id": RUN, "topic": "orders", "partition": 0}
    full = [{**usual, **row} for row in rows]
    unknown = {column for row in rows for column in row} - set(schema.names)
    assert not unknown, f"{name} has no columns {unknown}"
    return spark.createDataFrame([tuple(row.get(column) for column in schema.names) for row in full], schema)


def values(*found: Any) -> Row:
    """A row without names: ``assertDataFrameEqual`` compares values."""
    return Row(*found)
