"""Burrow's rules applied to followers, from ``replica_lag``; ``scenarios.observe.measures.burrow`` states them."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from scenarios.studies.spark.aggregations.query import KEY, computes

LOOK_US = 1_000_000
LOOKS = 10
STATUSES = ("stop", "rewind", "stall", "warn")
FIGURES = tuple(f"burrow_{status}_us" for status in STATUSES)
FOLLOWER = (KEY, "topic", "partition", "node")


@computes("replica_lag", *FIGURES, default=0)
def time_in_status(replica_lag: DataFrame) -> DataFrame:
    """The time that followers were in each status but OK, in sum. ``figures`` has none of a run with leaps."""
    each = status_of_followers(replica_lag)
    columns = (F.sum(F.when(F.col("status") == status, F.col("w_us")).otherwise(0)) for status in STATUSES)
    return each.groupBy(KEY).agg(*(column.alias(name) for name, column in zip(FIGURES, columns, strict=True)))


def status_of_followers(replica_lag: DataFrame) -> DataFrame:
    """The time that each follower was in each status but OK: ``run_id, topic, partition, node, status, w_us``."""
    looks = looks_at(replica_lag)
    in_order = Window.partitionBy(*FOLLOWER).orderBy("look")
    ten, nine = in_order.rowsBetween(1 - LOOKS, 0), in_order.rowsBetween(2 - LOOKS, 0)
    judged = looks.withColumn("fell", F.col("lag") < F.lag("lag").over(in_order)).select(
        *FOLLOWER,
        F.coalesce("lag", "true_lag").alias("now"),
        (F.col("look") - F.lag("look", LOOKS - 1).over(in_order) == LOOKS - 1).alias("complete"),
        F.count("lag").over(ten).alias("fetching"),
        F.min("lag").over(ten).alias("least"),
        F.min("true_lag").over(ten).alias("least_true"),
        F.min("fetch_offset").over(ten).alias("low"),
        F.max("fetch_offset").over(ten).alias("high"),
        F.last("fetch_offset", ignorenulls=True).over(ten).alias("offset"),
        F.count_if("fell").over(nine).alias("falls"),
    )
    lagged = (F.col("fetching") == LOOKS) & (F.col("least") > 0)
    status = (
        F.when((F.col("fetching") == 0) & (F.col("least_true") > 0), "stop")
        .when(F.col("offset") < F.col("high"), "rewind")
        .when(lagged & (F.col("low") == F.col("high")), "stall")
        .when(lagged & (F.col("falls") == 0), "warn")
    )
    found = judged.where("complete AND now > 0").select(*FOLLOWER, status.alias("status"))
    return found.where("status IS NOT NULL").groupBy(*FOLLOWER, "status").agg((F.count("*") * LOOK_US).alias("w_us"))


def looks_at(replica_lag: DataFrame) -> DataFrame:
    """The seconds in which a follower that lags at some time is checked, a row for each. In a time without a lag the
    last ten are enough: its other seconds are OK, and no later one looks back at them."""
    first, end = (F.ceil(time / LOOK_US) for time in (F.col("t_us"), F.col("t_us") + F.col("w_us")))
    even = F.coalesce("lag", "true_lag") == 0
    ever = F.bool_or(~even).over(Window.partitionBy(*FOLLOWER))
    rows = (
        replica_lag.select(*FOLLOWER, "lag", "true_lag", "fetch_offset", even.alias("even"), ever.alias("ever"),
                           first.alias("first"), end.alias("end"))
        .where("ever AND end > first")
    )  # fmt: skip
    begin = F.when(F.col("even"), F.greatest(F.col("first"), F.col("end") - LOOKS)).otherwise(F.col("first"))
    return rows.select(
        *FOLLOWER, "lag", "true_lag", "fetch_offset", F.explode(F.sequence(begin, F.col("end") - 1)).alias("look")
    )
