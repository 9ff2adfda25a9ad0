"""Series over virtual time for each arm, small enough to be drawn: lag and under-replicated partitions with bands over
the seeds, and the share of finished moves.

All are pure functions from tables to a DataFrame of a few hundred rows for each arm. An arm is a combination of the
columns ``by`` of the table ``runs``. A run that had ended by some time is not in the bands of that time; the column
``runs`` says how many are.
"""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from scenarios.studies.spark.aggregations.isr import in_states
from scenarios.studies.spark.aggregations.query import KEY

ARM = ("strategy", "profile", "grid")
"""The columns of ``runs`` that make an arm."""

POINTS = 200
"""The number of intervals that the longest run is divided into."""

BANDS = {"p10": 0.1, "p50": 0.5, "p90": 0.9}


def lag_over_time(
    replica_lag: DataFrame, runs: DataFrame, *, by: Sequence[str] = ARM, lag: str = "true_lag", points: int = POINTS
) -> DataFrame:
    """The largest lag of any follower at each time, with bands over the seeds.

    Args:
        lag: ``true_lag``, the distance of the two logs, or ``lag``, Kafka's MaxLag, which leaves followers out that do
            not fetch.

    Returns: the columns ``by``; ``t_us``, virtual time; ``runs``, how many lasted so long; ``p10``, ``p50`` and ``p90``
    in records.
    """
    instants = _instants(runs, by, points)
    there = _at_instants(replica_lag.where(f"{lag} > 0"), instants, F.max(lag))
    return _bands(instants, there, by)


def under_replicated_over_time(
    isr_events: DataFrame, runs: DataFrame, *, by: Sequence[str] = ARM, points: int = POINTS
) -> DataFrame:
    """The number of under-replicated partitions (KIP-352) at each time, with bands over the seeds.

    Returns: as ``lag_over_time``; ``p10``, ``p50`` and ``p90`` in partitions.
    """
    instants = _instants(runs, by, points)
    there = _at_instants(in_states(isr_events).where("state = 'under_replicated'"), instants, F.count("*"))
    return _bands(instants, there, by)


def completion(moves: DataFrame, runs: DataFrame, *, by: Sequence[str] = ARM, points: int = POINTS) -> DataFrame:
    """The share of moves that had finished within each time since the first request of their run, over all seeds. Moves
    that never finished are in the denominator.

    Returns: the columns ``by``; ``t_us``, since the first request; ``moves``, the number of all moves; ``done``, the
    share that had finished by then. A row for each time at which the share grows, one at 0, and one at the end.
    """
    first_us = F.min("t_us").over(Window.partitionBy(KEY))
    took = moves.join(runs.select(KEY, *_without(by, moves)), KEY).select(
        *by, "finished", (F.col("t_us") + F.col("w_us") - first_us).alias("took_us")
    )
    whole = took.agg(F.greatest(F.ceil(F.max("took_us") / points), F.lit(1)).alias("step_us"))
    counted = (
        took.crossJoin(whole)
        .groupBy(*by, (F.ceil(F.col("took_us") / F.col("step_us")) * F.col("step_us")).alias("t_us"))
        .agg(F.count("*").alias("ended"), F.count_if("finished").alias("finished"))
    )
    zero = counted.select(*by).distinct().select(
        *by, F.lit(0).cast("long").alias("t_us"), F.lit(0).cast("long").alias("ended"),
        F.lit(0).cast("long").alias("finished"),
    )  # fmt: skip
    arm = Window.partitionBy(*by)
    so_far = arm.orderBy("t_us")
    return (
        counted.unionByName(zero)
        .groupBy(*by, "t_us")
        .agg(F.sum("ended").alias("ended"), F.sum("finished").alias("finished"))
        .select(
            *by,
            "t_us",
            F.sum("ended").over(arm).alias("moves"),
            (F.sum("finished").over(so_far) / F.sum("ended").over(arm)).alias("done"),
        )
    )


def _instants(runs: DataFrame, by: Sequence[str], points: int) -> DataFrame:
    """A row for each run that is done and each time before its end: ``run_id``, ``by``, ``point``, ``step_us``."""
    done = runs.where("virtual_us > 0")
    step = done.agg(F.greatest(F.ceil(F.max("virtual_us") / points), F.lit(1)).alias("step_us"))
    each = F.explode(F.sequence(F.lit(0).cast("long"), F.ceil(F.col("virtual_us") / F.col("step_us")) - 1))
    return done.crossJoin(F.broadcast(step)).select(KEY, *by, "step_us", each.alias("point"))


def _at_instants(rows: DataFrame, instants: DataFrame, value: Column) -> DataFrame:
    """The value of each run's rows at each time, ``run_id``, ``point``, ``value``; rows that hold at no such time are
    dropped early."""
    step = instants.select("step_us").limit(1)
    first, end = (F.ceil(time / F.col("step_us")) for time in (F.col("t_us"), F.col("t_us") + F.col("w_us")))
    held = rows.crossJoin(F.broadcast(step)).withColumn("first", first).withColumn("end", end).where("end > first")
    at = held.withColumn("point", F.explode(F.sequence(F.col("first"), F.col("end") - 1)))
    return at.groupBy(KEY, "point").agg(value.alias("value"))


def _bands(instants: DataFrame, there: DataFrame, by: Sequence[str]) -> DataFrame:
    """Percentiles over the runs at each time; a run without a value has 0."""
    values = instants.join(there, [KEY, "point"], "left").select(
        *by, (F.col("point") * F.col("step_us")).alias("t_us"), F.coalesce("value", F.lit(0)).alias("value")
    )
    found = values.groupBy(*by, "t_us").agg(
        F.count("*").alias("runs"), F.percentile("value", F.array(*map(F.lit, BANDS.values()))).alias("bands")
    )
    return found.select(
        *by, "t_us", "runs", *(F.col("bands")[place].alias(name) for place, name in enumerate(BANDS))
    ).orderBy(*by, "t_us")


def _without(columns: Sequence[str], frame: DataFrame) -> list[str]:
    return [column for column in columns if column not in frame.columns]
