"""The outcomes of producers' batches, from ``produce``."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from scenarios.observe.measures.producers import GIVEN_UP_FOR
from scenarios.studies.spark.aggregations.percentiles import percentiles
from scenarios.studies.spark.aggregations.query import KEY, computes
from scenarios.studies.spark.aggregations.stretches import BESIDE, WEIGHT, known, weighted

PLACES = {"produce_p50_us": 0.5, "produce_p99_us": 0.99, "produce_p999_us": 0.999, "produce_max_us": 1.0}
TOO_RARE = ("produce_p999_us", "produce_max_us", "longest_gap_us")
"""The figures that the stretches of a run with leaps do not show."""
PARTITION = (KEY, "topic", "partition")


@computes(
    ("produce", "leaps"),
    "acked_batches", "failed_batches", "unfinished_batches", "unfinished_wait_us",
    *(f"failed_batches_{error.lower()}" for error in GIVEN_UP_FOR),
    default=0,
)  # fmt: skip
def batches(produce: DataFrame, leaps: DataFrame) -> DataFrame:
    """The number of batches with each outcome (with acks=0 no batch is ever acknowledged), those of leaps included, and
    the longest wait of a batch that had no outcome when the run ended."""
    leapt = leaps.groupBy(KEY).agg(F.sum("batches").alias("leapt"))
    found = produce.groupBy(KEY).agg(
        F.count_if(_acknowledged()).alias("acked"),
        F.count_if(F.col("error") != "NONE").alias("failed_batches"),
        F.count_if(_unfinished()).alias("unfinished_batches"),
        F.max(F.when(_unfinished(), F.col("latency_us"))).alias("unfinished_wait_us"),
        *(F.count_if(F.col("error") == error).alias(f"failed_batches_{error.lower()}") for error in GIVEN_UP_FOR),
    )
    acked = (F.coalesce("acked", F.lit(0)) + F.coalesce("leapt", F.lit(0))).alias("acked_batches")
    return found.join(leapt, KEY, "full").select(acked, *(name for name in found.columns if name != "acked"))


def errors_by_code(produce: DataFrame) -> DataFrame:
    """The batches that failed, by the last error: ``run_id, error, batches``."""
    return produce.where("error <> 'NONE'").groupBy(KEY, "error").agg(F.count("*").alias("batches"))


@computes(("produce", "leaps"), *PLACES, default=None)
def latencies(produce: DataFrame, leaps: DataFrame) -> DataFrame:
    """Percentiles and maximum of the latency of acknowledged batches, and of the wait of unfinished ones. What is too
    rare for the stretches of a run with leaps is not known, nor a median between two groups of latencies."""
    waited = produce.where(_acknowledged() | (_unfinished() & (F.col("acks") != 0)))
    found = percentiles(weighted(waited, leaps), [KEY], {"latency_us": PLACES | BESIDE}, WEIGHT)
    return known(found, leaps, "produce_p50_us")


@computes("produce", "longest_gap_us", default=0)
def longest_gap(produce: DataFrame) -> DataFrame:
    """The longest gap of each run."""
    return gaps(produce).groupBy(KEY).agg(F.max("gap_us").alias("longest_gap_us"))


def gaps(produce: DataFrame) -> DataFrame:
    """The longest gap of each partition, ``run_id, topic, partition, gap_us``: a time in which batches waited and none
    was acknowledged.

    The batches between two acknowledgements, with the one that is acknowledged next, are a group. Its gap begins with
    the acknowledgement before it, or when the first of them was closed, whichever is later; it ends with their last
    outcome.
    """
    before = Window.partitionBy(*PARTITION).orderBy("seq").rowsBetween(Window.unboundedPreceding, -1)
    rows = produce.where("acks <> 0").select(
        *PARTITION,
        "t_us",
        (F.col("t_us") - F.col("latency_us")).alias("closed_us"),
        F.count_if(_acknowledged()).over(before).alias("group"),
        F.max(F.when(_acknowledged(), F.col("t_us"))).over(before).alias("acked_us"),
    )
    found = rows.groupBy(*PARTITION, "group").agg(
        (F.max("t_us") - F.greatest(F.max("acked_us"), F.min("closed_us"))).alias("gap_us")
    )
    return found.groupBy(*PARTITION).agg(F.max("gap_us").alias("gap_us"))


def _acknowledged() -> Column:
    return (F.col("error") == "NONE") & (F.col("acks") != 0) & ~_unfinished()


def _unfinished() -> Column:
    return F.col("outcome") == "unfinished"
