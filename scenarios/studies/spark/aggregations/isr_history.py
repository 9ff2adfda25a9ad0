"""Changes of ISRs and leaders from one row of ``isr_events`` to the next."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window, WindowSpec
from pyspark.sql import functions as F

from scenarios.studies.spark.aggregations.query import KEY, computes

FLAP_US = 60_000_000
PARTITION = (KEY, "topic", "partition")


@computes("isr_events", "isr_flaps", default=0)
def flaps(isr_events: DataFrame) -> DataFrame:
    """The number of times that a replica left an ISR and was back within a minute."""
    before = F.lag("isr").over(_in_order(*PARTITION))
    rows = isr_events.select(*PARTITION, "t_us", "seq", "isr", before.alias("before"))
    nodes = F.explode(F.array_union(F.array_except("before", "isr"), F.array_except("isr", "before")))
    changes = rows.select(*PARTITION, "t_us", "seq", "isr", nodes.alias("node")).select(
        *PARTITION, "t_us", "seq", "node", F.array_contains("isr", F.col("node")).alias("joined")
    )
    of_replica = _in_order(*PARTITION, "node")
    since_us = F.col("t_us") - F.lag("t_us").over(of_replica)
    back = F.col("joined") & ~F.lag("joined").over(of_replica) & (since_us <= FLAP_US)
    return changes.select(KEY, back.alias("back")).groupBy(KEY).agg(F.count_if("back").alias("isr_flaps"))


@computes("isr_events", "unnecessary_elections", default=0)
def unnecessary_elections(isr_events: DataFrame) -> DataFrame:
    """The number of replaced leaders that stayed in the ISR, and in the target replicas."""
    rows = isr_events.select("*", F.lag("leader").over(_in_order(*PARTITION)).alias("before")).where(
        "before >= 0 AND leader >= 0 AND before <> leader"
    )
    wanted = F.when(F.size("target") > 0, F.col("target")).otherwise(F.col("assignment"))
    stayed = F.array_contains("isr", F.col("before")) & F.array_contains(wanted, F.col("before"))
    return rows.groupBy(KEY).agg(F.count_if(stayed).alias("unnecessary_elections"))


def _in_order(*group: str) -> WindowSpec:
    return Window.partitionBy(*group).orderBy("t_us", "seq")
