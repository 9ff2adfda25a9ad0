"""The lag of followers, from ``replica_lag``."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame

from scenarios.studies.spark.aggregations.percentiles import percentiles
from scenarios.studies.spark.aggregations.query import KEY, computes

LAGS = ("lag", "true_lag")
PLACES = {"p50": 0.5, "p95": 0.95, "p99": 0.99, "max": 1.0}


@computes("replica_lag", *(f"{lag}_{place}" for lag in LAGS for place in PLACES), default=None)
def lags(replica_lag: DataFrame) -> DataFrame:
    """Percentiles and maxima over all followers, each value weighted with the time it held."""
    return lag_percentiles(replica_lag, [KEY])


def lag_percentiles(replica_lag: DataFrame, by: Sequence[str]) -> DataFrame:
    """Percentiles and maxima of the lag for any groups, in records: ``by`` may be ``["strategy", "topic", "partition",
    "node"]`` for each replica of each strategy, over the seeds."""
    named = {lag: {f"{lag}_{place}": q for place, q in PLACES.items()} for lag in LAGS}
    return percentiles(replica_lag, by, named, "w_us")
