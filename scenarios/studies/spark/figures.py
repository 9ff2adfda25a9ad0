"""The figures of every run, computed by Spark from the tables: pure functions from DataFrames to DataFrames.

They share no code with the folds that compute the same figures during the run (scenarios/observe/measures): the flags
of replication are derived again from the replica lists, percentiles are Spark's own. Times are integers of
microseconds up to the end, so both computations must agree exactly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from emulator.protocol.api import control_apis

TABLES = (
    "runs",
    "isr_events",
    "replica_lag",
    "isr_changes",
    "moves",
    "requests",
    "elections",
    "produce",
    "consume",
    "consumer_lag",
    "steps",
    "zk_writes",
    "fetchers",
    "violations",
)
"""What ``figures`` reads."""

KEY = "run_id"


def figures(tables: Mapping[str, DataFrame]) -> DataFrame:
    """One row per run: its identity, ``completed``, ``metrics`` (its own account), all fields of ``Figures``,
    and ``observed_us``, the moves' time with the unfinished ones up to the run's end."""
    counted = [
        isr_times(tables["isr_events"]),
        isr_changes(tables["isr_changes"]),
        move_counts(tables["moves"]),
        elections(tables["elections"]),
        batches(tables["produce"]),
        reads(tables["consume"]),
        requests(tables["requests"]),
        rows(tables["zk_writes"], "zk_writes"),
        rows(tables["steps"].where("edge = 'after'"), "steps"),
        rows(tables["fetchers"].where("kind = 'failed'"), "failed_partitions"),
        rows(tables["violations"], "violations"),
    ]
    valued = [
        lags(tables["replica_lag"]),
        move_times(tables["moves"]),
        latencies(tables["produce"]),
        delays(tables["consume"]),
        consumer_lags(tables["consumer_lag"]),
    ]
    identity = tables["runs"].select(KEY, "strategy", "seed", "completed", "metrics")
    # A run without a row in a table has none to count; of what has a value, it has none.
    counts = [name for frame in counted for name in frame.columns if name != KEY]
    return _side_by_side([identity, *counted, *valued]).fillna(0, counts)


def _side_by_side(frames: Sequence[DataFrame]) -> DataFrame:
    """Frames with at most one row per run as one frame: twice as fast as joins, which would be a dozen."""
    stacked = frames[0]
    for frame in frames[1:]:
        stacked = stacked.unionByName(frame, allowMissingColumns=True)
    columns = [name for name in stacked.columns if name != KEY]
    return stacked.groupBy(KEY).agg(*(F.max(name).alias(name) for name in columns))


def isr_times(isr_events: DataFrame) -> DataFrame:
    """Time under each definition of readings §8, below min.insync.replicas, without a leader; excess
    replicas."""
    isr, assignment, original, target = (F.col(name) for name in ("isr", "assignment", "original", "target"))
    in_sync = F.size(isr)
    current = F.when(F.size(original) > 0, original).otherwise(assignment)
    settled = F.array_except(assignment, F.array_except(target, original))
    wanted = F.when(F.size(target) > 0, F.size(target)).otherwise(F.size(assignment))
    return isr_events.groupBy(KEY).agg(
        _time(in_sync < F.size(assignment)).alias("under_replicated_assigned_us"),
        _time(F.size(F.array_intersect(current, isr)) < F.size(current)).alias("under_replicated_draft_us"),
        _time(F.size(settled) > in_sync).alias("under_replicated_final_us"),
        _time(in_sync < F.col("min_isr")).alias("under_min_isr_us"),
        _time(F.col("leader") == -1).alias("offline_us"),
        F.sum(F.greatest(F.lit(0), in_sync - wanted) * F.col("w_us")).alias("excess_isr_us"),
        F.sum(F.greatest(F.lit(0), F.size(assignment) - wanted) * F.col("w_us")).alias("extra_replica_us"),
        F.max(F.size(assignment)).alias("peak_replicas"),
    )


def lags(replica_lag: DataFrame) -> DataFrame:
    """Percentiles over all followers, each value weighted with the time it held."""
    names = ("p50", "p95", "p99")
    both = replica_lag.groupBy(KEY).agg(
        *(F.expr(f"percentile({lag}, array(0.5D, 0.95D, 0.99D), w_us)").alias(lag) for lag in ("lag", "true_lag")),
        *(F.max(lag).alias(f"{lag}_max") for lag in ("lag", "true_lag")),
    )
    return both.select(
        KEY,
        *(F.col(lag)[i].alias(f"{lag}_{name}") for lag in ("lag", "true_lag") for i, name in enumerate(names)),
        "lag_max",
        "true_lag_max",
    )


def isr_changes(changes: DataFrame) -> DataFrame:
    kind = F.col("kind")
    return changes.groupBy(KEY).agg(
        F.count_if(kind == "shrink").alias("isr_shrinks"),
        F.count_if(kind == "expand").alias("isr_expands"),
        F.count_if(kind == "failed").alias("isr_update_failures"),
    )


def move_counts(moves: DataFrame) -> DataFrame:
    return moves.groupBy(KEY).agg(F.count("*").alias("moves"), F.count_if(F.col("finished")).alias("moves_finished"))


def move_times(moves: DataFrame) -> DataFrame:
    """``time_to_complete_us`` is null when a move is unfinished; ``observed_us`` is its lower bound then."""
    took = F.max(F.col("t_us") + F.col("w_us")) - F.min("t_us")
    return moves.groupBy(KEY).agg(
        F.when(F.bool_and("finished"), took).alias("time_to_complete_us"), took.alias("observed_us")
    )


def elections(rows: DataFrame) -> DataFrame:
    """Elections, those of a new partition's first leader apart."""
    return rows.groupBy(KEY).agg(
        F.count_if(F.col("selector") != "new").alias("leader_elections"),
        F.count_if(F.col("unclean")).alias("unclean_elections"),
    )


def batches(produce: DataFrame) -> DataFrame:
    """With acks=0 nothing is ever acknowledged."""
    return produce.groupBy(KEY).agg(
        F.count_if(_acknowledged()).alias("acked_batches"),
        F.count_if(F.col("error") != "NONE").alias("failed_batches"),
    )


def latencies(produce: DataFrame) -> DataFrame:
    """Percentiles of the produce latency of acknowledged batches."""
    found = (
        produce.where(_acknowledged())
        .groupBy(KEY)
        .agg(F.expr("percentile(latency_us, array(0.5D, 0.99D))").alias("latency"))
    )
    latency = F.col("latency")
    return found.select(KEY, latency[0].alias("produce_p50_us"), latency[1].alias("produce_p99_us"))


def reads(consume: DataFrame) -> DataFrame:
    """How many messages were given out."""
    return consume.groupBy(KEY).agg(F.sum(F.col("next_offset") - F.col("offset")).alias("consumed_messages"))


def delays(consume: DataFrame) -> DataFrame:
    """Percentiles over the polls of how long after messages could be read they were."""
    found = consume.groupBy(KEY).agg(F.expr("percentile(delay_us, array(0.5D, 0.99D))").alias("delay"))
    delay = F.col("delay")
    return found.select(KEY, delay[0].alias("consume_p50_us"), delay[1].alias("consume_p99_us"))


def consumer_lags(consumer_lag: DataFrame) -> DataFrame:
    """Percentiles over all consumers and partitions, each value weighted with the time it held."""
    found = consumer_lag.groupBy(KEY).agg(
        F.expr("percentile(lag, array(0.5D, 0.95D, 0.99D), w_us)").alias("lag"),
        F.max("lag").alias("consumer_lag_max"),
    )
    lag = F.col("lag")
    names = (lag[i].alias(f"consumer_lag_{name}") for i, name in enumerate(("p50", "p95", "p99")))
    return found.select(KEY, *names, "consumer_lag_max")


def requests(rows: DataFrame) -> DataFrame:
    """Control requests and the partition states in them."""
    columns = []
    for api in control_apis():
        this = F.col("api") == api.name
        columns.append(F.count_if(this).alias(f"{api.snake_name}_requests"))
        columns.append(F.sum(F.when(this, F.col("partitions")).otherwise(0)).alias(f"{api.snake_name}_partitions"))
    return rows.groupBy(KEY).agg(*columns)


def rows(frame: DataFrame, name: str) -> DataFrame:
    """How many rows each run has."""
    return frame.groupBy(KEY).agg(F.count("*").alias(name))


def _acknowledged() -> Column:
    return (F.col("error") == "NONE") & (F.col("acks") != 0)


def _time(condition: Column) -> Column:
    return F.sum(F.when(condition, F.col("w_us")).otherwise(0))
