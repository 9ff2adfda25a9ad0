"""The weights of what is seen in the stretches of sampled runs, from ``leaps``."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from scenarios.observe.measures.stretches import HIGH, LOW, NEAR, SCALE
from scenarios.studies.spark.aggregations.query import KEY, computes

WEIGHT = "weight"
BESIDE = {"_low": LOW, "_high": HIGH}
"""The percentiles beside a median that say whether it is known, see ``known``."""


def weighted(rows: DataFrame, leaps: DataFrame) -> DataFrame:
    """``rows`` with their weights: 1 in a run without leaps; else as ``scenarios.observe.measures.stretches`` has it.
    A run has few stretches."""
    leapt = leaps.where("w_us > 0")
    stretches = leapt.groupBy(F.col(KEY).alias("_run"), "stretch_us", "stretch_until_us").agg(
        F.sum("w_us").alias("_leapt_us")
    )
    within = (
        (F.col(KEY) == F.col("_run"))
        & (F.col("t_us") > F.col("stretch_us"))
        & (F.col("t_us") < F.col("stretch_until_us"))
    )
    runs = leapt.select(F.col(KEY).alias("_leapt_run")).distinct()
    more = F.expr(f"{SCALE} * _leapt_us div (stretch_until_us - stretch_us)")
    weight = F.when(F.col("_leapt_run").isNull(), F.lit(1)).otherwise(SCALE + F.coalesce(more, F.lit(0)))
    return (
        rows.join(F.broadcast(runs), F.col(KEY) == F.col("_leapt_run"), "left")
        .join(F.broadcast(stretches), within, "left")
        .select(*rows.columns, weight.alias(WEIGHT))
    )


def known(found: DataFrame, leaps: DataFrame, median: str) -> DataFrame:
    """``found``, which has ``BESIDE``, without them; null for the medians of runs with leaps that are not known."""
    runs = leaps.where("w_us > 0").select(KEY).distinct().withColumn("_leapt", F.lit(True))
    value = F.col(median)
    apart = (F.col("_low") < (1 - NEAR) * value) | (F.col("_high") > (1 + NEAR) * value)
    unknown = F.coalesce("_leapt", F.lit(False)) & apart
    return (
        found.join(F.broadcast(runs), KEY, "left").withColumn(median, F.when(~unknown, value)).drop("_leapt", *BESIDE)
    )


@computes("leaps", "leapt_us", default=0)
def leapt(leaps: DataFrame) -> DataFrame:
    """The time in leaps."""
    return leaps.groupBy(KEY).agg(F.sum("w_us").alias("leapt_us"))
