"""The data set's tables as DataFrames, of the parts that count only."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StringType, StructType

from scenarios.runs.dataset.reader import DataSet
from scenarios.runs.dataset.schema import SCHEMAS


def table(spark: SparkSession, data_set: DataSet, name: str) -> DataFrame:
    """One table, with the columns ``experiment`` and ``strategy`` from the folders' names."""
    paths = data_set.parts[name]
    schema = spark_schema(name)
    if not paths:
        # The optimizer sees the filter: it drops the frame, and everything that is computed from it.
        return spark.createDataFrame([], schema).where("false")
    # Hadoop uses the name after file:// unchanged, percent signs included.
    base = f"file://{(data_set.root / name).absolute()}"
    places = [f"file://{path.absolute()}" for path in paths]
    return spark.read.schema(schema).option("basePath", base).parquet(*places)


def spark_schema(name: str) -> StructType:
    """The table's columns as Spark's types."""
    schema: StructType = from_arrow_schema(SCHEMAS[name])
    return schema.add("experiment", StringType()).add("strategy", StringType())
