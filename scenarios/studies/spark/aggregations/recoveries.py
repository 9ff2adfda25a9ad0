"""The times that a cluster took to recover from each fault, from ``faults``, ``isr_events`` and ``runs``."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from scenarios.observe.measures.recoveries import NO_FAULTS
from scenarios.studies.spark.aggregations.isr import at_once, in_states
from scenarios.studies.spark.aggregations.query import KEY, computes


@computes(("faults", "isr_events", "runs"), "recovery_max_us", "unrecovered_faults", default=0)
def worst(faults: DataFrame, isr_events: DataFrame, runs: DataFrame) -> DataFrame:
    """The longest recovery of each run, and the number of faults from which it did not recover."""
    each = recoveries(faults, isr_events, runs)
    return each.groupBy(KEY).agg(
        F.max("recovery_us").alias("recovery_max_us"),
        F.count_if(~F.col("recovered")).alias("unrecovered_faults"),
    )


def recoveries(faults: DataFrame, isr_events: DataFrame, runs: DataFrame) -> DataFrame:
    """A row for each fault: ``run_id, t_us, seq, action, target``, ``recovery_us`` (until no partition was
    under-replicated by KIP-352's rule; 0 where none was) and ``recovered`` (false: up to the end of the run)."""
    struck = faults.where(~F.col("action").isin(*NO_FAULTS))
    distinct = struck.select(KEY, "t_us").distinct()
    next_us = F.lead("t_us").over(Window.partitionBy(KEY).orderBy("t_us"))
    spans = distinct.select(KEY, "t_us", next_us.alias("next_us"))
    rows = struck.join(spans, [KEY, "t_us"]).join(runs.select(KEY, "virtual_us"), KEY)
    times = episodes(isr_events)
    follows = (F.col("end_us") > F.col("t_us")) & (F.col("next_us").isNull() | (F.col("begin_us") < F.col("next_us")))
    until_us = F.max(F.when(follows, F.col("end_us")))
    found = rows.join(times, KEY, "left").groupBy(KEY, "t_us", "seq", "action", "target", "virtual_us")
    return found.agg(until_us.alias("until_us")).select(
        KEY,
        "t_us",
        "seq",
        "action",
        "target",
        F.coalesce(F.col("until_us") - F.col("t_us"), F.lit(0)).alias("recovery_us"),
        (F.coalesce("until_us", F.lit(0)) < F.col("virtual_us")).alias("recovered"),
    )


def episodes(isr_events: DataFrame) -> DataFrame:
    """The times with any partition under-replicated: ``run_id, begin_us, end_us``."""
    counted = at_once(in_states(isr_events).where("state = 'under_replicated'"))
    in_order = Window.partitionBy(KEY).orderBy("t_us")
    turns = counted.select(
        KEY, "t_us", "count", F.coalesce(F.lag("count").over(in_order), F.lit(0)).alias("before")
    ).where("(count > 0) <> (before > 0)")
    return (
        turns.select(KEY, F.col("t_us").alias("begin_us"), F.lead("t_us").over(in_order).alias("end_us"), "count")
        .where("count > 0")
        .drop("count")
    )
