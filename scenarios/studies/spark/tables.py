"""The data set's tables as DataFrames, of the parts that count."""

from __future__ import annotations

from functools import reduce

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema
from pyspark.sql.types import StringType, StructType

from scenarios.runs.dataset.reader import DataSet, Folder
from scenarios.runs.dataset.table_schemas import SCHEMAS


def table(spark: SparkSession, data_set: DataSet, name: str) -> DataFrame:
    """One table, with the columns ``experiment`` and ``strategy`` from the folders' names."""
    schema = spark_schema(name)
    frames = [_read(spark, folder, name, schema) for folder in data_set.folders if folder.parts[name]]
    if not frames:
        # The optimizer sees the filter: it drops the frame, and everything that is computed from it.
        return spark.createDataFrame([], schema).where("false")
    return reduce(DataFrame.unionByName, frames)


def _read(spark: SparkSession, folder: Folder, name: str, schema: StructType) -> DataFrame:
    # Hadoop uses the name after file:// unchanged, percent signs included.
    base = f"file://{(folder.root / name).absolute()}"
    places = [f"file://{path.absolute()}" for path in folder.parts[name]]
    frame = spark.read.schema(schema).option("basePath", base).parquet(*places)
    return frame.where(~F.col("run_id").isin(sorted(folder.hidden))) if folder.hidden else frame


def spark_schema(name: str) -> StructType:
    """The table's columns as Spark's types."""
    schema: StructType = from_arrow_schema(SCHEMAS[name])
    return schema.add("experiment", StringType()).add("strategy", StringType())


def source_schema(name: str) -> StructType:
    """The table's columns with those that describe the arm of a row, as the data source has them."""
    schema = spark_schema(name)
    for column in ("profile", "grid"):
        if column not in schema.names:
            schema = schema.add(column, StringType())
    return schema
