"""The reads of consumers, from ``consume`` and ``consumer_lag``."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from scenarios.studies.spark.aggregations.percentiles import percentiles
from scenarios.studies.spark.aggregations.query import KEY, computes
from scenarios.studies.spark.aggregations.stretches import BESIDE, WEIGHT, known, weighted

PLACES = {"consume_p50_us": 0.5, "consume_p99_us": 0.99}
LAG_PLACES = {"consumer_lag_p50": 0.5, "consumer_lag_p95": 0.95, "consumer_lag_p99": 0.99, "consumer_lag_max": 1.0}


@computes("consume", "consumed_messages", default=0)
def reads(consume: DataFrame) -> DataFrame:
    """The number of messages that polls have returned."""
    return consume.groupBy(KEY).agg(F.sum(F.col("next_offset") - F.col("offset")).alias("consumed_messages"))


@computes(("consume", "leaps"), *PLACES, default=None)
def delays(consume: DataFrame, leaps: DataFrame) -> DataFrame:
    """Percentiles over the polls of the time since their last message could be read."""
    found = percentiles(weighted(consume, leaps), [KEY], {"delay_us": PLACES | BESIDE}, WEIGHT)
    return known(found, leaps, "consume_p50_us")


@computes("consumer_lag", *LAG_PLACES, default=None)
def consumer_lags(consumer_lag: DataFrame) -> DataFrame:
    """Percentiles and maximum over all consumers and partitions, each value weighted with the time it held."""
    return percentiles(consumer_lag, [KEY], {"lag": LAG_PLACES}, "w_us")
