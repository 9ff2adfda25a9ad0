"""Moves and their bytes, from ``moves`` and ``added_replicas``."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from scenarios.studies.spark.aggregations.query import KEY, OBSERVED, computes


@computes("moves", "moves", "moves_finished", "moves_returned", "moves_failed", "moves_never_begun", default=0)
def move_counts(moves: DataFrame) -> DataFrame:
    """Moves, and how they ended."""
    return moves.groupBy(KEY).agg(
        F.count("*").alias("moves"),
        F.count_if(F.col("finished")).alias("moves_finished"),
        F.count_if(F.col("finished") & (F.col("target") == F.col("original"))).alias("moves_returned"),
        F.count_if(F.col("failed")).alias("moves_failed"),
        F.count_if(~F.col("finished") & ~F.col("begun")).alias("moves_never_begun"),
    )


@computes("moves", "time_to_complete_us", OBSERVED, default=None)
def move_times(moves: DataFrame) -> DataFrame:
    """The times of moves. ``time_to_complete_us`` is null when a move is unfinished; ``OBSERVED`` is its lower bound
    then."""
    took = F.max(F.col("t_us") + F.col("w_us")) - F.min("t_us")
    return moves.groupBy(KEY).agg(
        F.when(F.bool_and("finished"), took).alias("time_to_complete_us"), took.alias(OBSERVED)
    )


@computes("added_replicas", "bytes_moved", "bytes_wasted", default=0)
def bytes_moved(added_replicas: DataFrame) -> DataFrame:
    """The bytes that added replicas received, and how many of them were wasted."""
    wasted = F.when(F.col("assigned"), F.col("lost_bytes")).otherwise(F.col("bytes"))
    return added_replicas.groupBy(KEY).agg(F.sum("bytes").alias("bytes_moved"), F.sum(wasted).alias("bytes_wasted"))
