"""Changes of ISRs by leaders, and elections, from ``isr_changes`` and ``elections``."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from scenarios.studies.spark.aggregations.query import KEY, computes


@computes("isr_changes", "isr_shrinks", "isr_expands", "isr_update_failures", default=0)
def isr_changes(changes: DataFrame) -> DataFrame:
    """Changes of ISRs by their kind."""
    kind = F.col("kind")
    return changes.groupBy(KEY).agg(
        F.count_if(kind == "shrink").alias("isr_shrinks"),
        F.count_if(kind == "expand").alias("isr_expands"),
        F.count_if(kind == "failed").alias("isr_update_failures"),
    )


@computes("elections", "leader_elections", "unclean_elections", default=0)
def elections(rows: DataFrame) -> DataFrame:
    """Elections, without those of a new partition's first leader."""
    return rows.groupBy(KEY).agg(
        F.count_if(F.col("selector") != "new").alias("leader_elections"),
        F.count_if(F.col("unclean")).alias("unclean_elections"),
    )
