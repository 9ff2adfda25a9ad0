"""Times of partitions in states of their ISR, from ``isr_events``."""

from __future__ import annotations

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from scenarios.studies.spark.aggregations.query import KEY, computes

STATES = ("under_replicated", "under_min_isr", "at_min_isr", "offline", "excess_isr", "last_replica")


@computes(
    "isr_events",
    "under_replicated_by_moves_us", "under_replicated_assigned_us", "under_replicated_draft_us",
    "under_replicated_final_us", "under_min_isr_us", "at_min_isr_us", "last_replica_us",
    "offline_us", "excess_isr_us", "extra_replica_us", "peak_replicas",
    default=0,
)  # fmt: skip
def isr_times(isr_events: DataFrame) -> DataFrame:
    """Time under each definition of readings §8, below or at min.insync.replicas, with one replica left, without a
    leader; excess replicas. In partition-microseconds or replica-microseconds."""
    isr, assignment, original = (F.col(name) for name in ("isr", "assignment", "original"))
    in_sync, states = F.size(isr), _states()
    current = F.when(F.size(original) > 0, original).otherwise(assignment)
    return isr_events.groupBy(KEY).agg(
        _time((in_sync < F.size(assignment)) & ~states["under_replicated"]).alias("under_replicated_by_moves_us"),
        _time(in_sync < F.size(assignment)).alias("under_replicated_assigned_us"),
        _time(F.size(F.array_intersect(current, isr)) < F.size(current)).alias("under_replicated_draft_us"),
        _time(states["under_replicated"]).alias("under_replicated_final_us"),
        *(
            _time(states[state]).alias(f"{state}_us")
            for state in ("under_min_isr", "at_min_isr", "last_replica", "offline")
        ),
        F.sum(F.greatest(F.lit(0), in_sync - _factor()) * F.col("w_us")).alias("excess_isr_us"),
        F.sum(F.greatest(F.lit(0), F.size(assignment) - _factor()) * F.col("w_us")).alias("extra_replica_us"),
        F.max(F.size(assignment)).alias("peak_replicas"),
    )


@computes(
    "isr_events",
    "under_replicated_any_us", "under_replicated_peak", "under_replicated_until_us",
    *(f"{state}_any_us" for state in STATES[1:]),
    default=0,
)  # fmt: skip
def any_partition(isr_events: DataFrame) -> DataFrame:
    """The time that any partition was in each state; for under-replicated ones also the end of the last such time, and
    the most at once."""
    counted = at_once(in_states(isr_events))
    under_replicated = F.col("state") == "under_replicated"
    return counted.groupBy(KEY).agg(
        *(_time((F.col("state") == state) & (F.col("count") > 0)).alias(f"{state}_any_us") for state in STATES),
        F.max(F.when(under_replicated, F.col("count"))).alias("under_replicated_peak"),
        F.max(F.when(under_replicated, F.col("t_us"))).alias("under_replicated_until_us"),
    )


@computes("isr_events", "under_replicated_worst_us", default=0)
def under_replicated_worst(isr_events: DataFrame) -> DataFrame:
    """The longest time for which one partition was under-replicated, in sum."""
    rows = isr_events.where(_states()["under_replicated"])
    each = rows.groupBy(KEY, "topic", "partition").agg(F.sum("w_us").alias("w_us"))
    return each.groupBy(KEY).agg(F.max("w_us").alias("under_replicated_worst_us"))


def in_states(isr_events: DataFrame) -> DataFrame:
    """A row for each interval of a partition in a state: ``run_id, state, t_us, w_us``."""
    names = (F.when(condition, F.lit(state)) for state, condition in _states().items())
    states = F.explode(F.array_compact(F.array(*names)))
    return isr_events.where("w_us > 0").select(KEY, states.alias("state"), "t_us", "w_us")


def at_once(intervals: DataFrame) -> DataFrame:
    """The number of intervals (``run_id, state, t_us, w_us``) at a time: a row for each time at which it changes, with
    the ``count`` from then on, and ``w_us``, its length; null after the last."""
    up = intervals.select(KEY, "state", "t_us", F.lit(1).alias("step"))
    down = intervals.select(KEY, "state", (F.col("t_us") + F.col("w_us")).alias("t_us"), F.lit(-1).alias("step"))
    steps = up.unionByName(down).groupBy(KEY, "state", "t_us").agg(F.sum("step").alias("step"))
    in_order = Window.partitionBy(KEY, "state").orderBy("t_us")
    return steps.select(
        KEY,
        "state",
        "t_us",
        F.sum("step").over(in_order).alias("count"),
        (F.lead("t_us").over(in_order) - F.col("t_us")).alias("w_us"),
    )


def _states() -> dict[str, Column]:
    """The condition of each of ``STATES``, from the replica lists."""
    in_sync = F.size("isr")
    return {
        "under_replicated": F.size(_settled()) > in_sync,
        "under_min_isr": in_sync < F.col("min_isr"),
        "at_min_isr": in_sync == F.col("min_isr"),
        "offline": F.col("leader") == -1,
        "excess_isr": in_sync > _factor(),
        "last_replica": (in_sync == 1) & (F.size("assignment") > 1),
    }


def _settled() -> Column:
    """The replicas that are not being added."""
    return F.array_except("assignment", F.array_except("target", "original"))


def _factor() -> Column:
    """The replication factor: of the target while a move is open."""
    return F.when(F.size("target") > 0, F.size("target")).otherwise(F.size("assignment"))


def _time(condition: Column) -> Column:
    return F.sum(F.when(condition, F.col("w_us")).otherwise(0))
