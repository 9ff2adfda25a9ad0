"""The traffic of brokers, from ``broker_traffic``."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from emulator.metrics.grid import METERS_US
from scenarios.studies.spark.aggregations.query import KEY, computes


@computes("broker_traffic", "peak_broker_egress", "peak_broker_ingress", default=None)
def peaks(broker_traffic: DataFrame) -> DataFrame:
    """The most that a broker sent and received in a second, in bytes; null where the release does not measure
    replication. Longer rows are those of leaps."""
    return (
        broker_traffic.where(F.col("w_us") == METERS_US)
        .groupBy(KEY)
        .agg(
            F.max(F.col("bytes_out") + F.col("replication_bytes_out")).alias("peak_broker_egress"),
            F.max(F.col("bytes_in") + F.col("replication_bytes_in")).alias("peak_broker_ingress"),
        )
    )
