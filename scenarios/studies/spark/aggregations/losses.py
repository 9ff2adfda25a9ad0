"""Acknowledged data that was lost, from ``losses``."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from scenarios.studies.spark.aggregations.query import KEY, computes


@computes(
    "losses",
    *(f"lost_acks_{acks}_{what}" for acks in ("all", "1") for what in ("batches", "records")),
    "lost_unflushed_batches",
    "lost_unflushed_records",
    default=0,
)
def losses(rows: DataFrame) -> DataFrame:
    """Acknowledged data that was lost."""
    sums = [
        F.sum(F.when(F.col("acks") == value, F.col(what)).otherwise(0)).alias(f"lost_acks_{acks}_{what}")
        for acks, value in (("all", -1), ("1", 1))
        for what in ("batches", "records")
    ]
    unflushed = [
        F.sum(F.when(F.col("unflushed"), F.col(what)).otherwise(0)).alias(f"lost_unflushed_{what}")
        for what in ("batches", "records")
    ]
    return rows.groupBy(KEY).agg(*sums, *unflushed)
