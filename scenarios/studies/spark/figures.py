"""The second computation of every figure: by Spark, from the tables of the data set.

Each query names the figures that it computes; ``scenarios.observe.measures`` declares them, beside the folds that
compute them during the run. The two share no code: the flags of replication are derived again from the replica lists,
and percentiles are Spark's own. Times are integers of microseconds up to the end, so both computations must agree
exactly; tests compare them on random histories, and check that every figure has both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from attrs import frozen
from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from emulator.protocol.api import control_apis

KEY = "run_id"
OBSERVED = "observed_us"
"""Beside the figures: the time of the moves, unfinished ones up to the run's end."""

Computation = Callable[[DataFrame], DataFrame]


@frozen
class Query:
    """The computation of some figures from one table.

    Attributes:
        figures: the columns that it computes, besides ``KEY``.
        compute: from the table to one row per run that has rows in it.
        default: the figures of a run without a row in the table: 0 for what is counted, None for other values.
    """

    table: str
    figures: tuple[str, ...]
    compute: Computation
    default: int | None


QUERIES: list[Query] = []
"""All of them; ``computes`` adds to it."""


def computes(table: str, *figures: str, default: int | None) -> Callable[[Computation], Computation]:
    """Declare that a function computes these figures from ``table`` (``Query``)."""

    def add(compute: Computation) -> Computation:
        QUERIES.append(Query(table, figures, compute, default))
        return compute

    return add


def tables_read() -> tuple[str, ...]:
    """The tables of the data set that ``figures`` reads."""
    return tuple(dict.fromkeys(("runs", *(query.table for query in QUERIES))))


def figures(tables: Mapping[str, DataFrame]) -> DataFrame:
    """One row per run: its identity, ``completed``, ``metrics`` (as the run itself computed them), all figures, and
    ``OBSERVED``."""
    identity = tables["runs"].select(KEY, "strategy", "seed", "completed", "metrics")
    found = [query.compute(tables[query.table]) for query in QUERIES]
    counts = [name for query in QUERIES if query.default == 0 for name in query.figures]
    return _side_by_side([identity, *found]).fillna(0, counts)


def _side_by_side(frames: Sequence[DataFrame]) -> DataFrame:
    """Frames with at most one row per run as one frame: twice as fast as joins, which would be a dozen."""
    stacked = frames[0]
    for frame in frames[1:]:
        stacked = stacked.unionByName(frame, allowMissingColumns=True)
    columns = [name for name in stacked.columns if name != KEY]
    return stacked.groupBy(KEY).agg(*(F.max(name).alias(name) for name in columns))


@computes(
    "isr_events",
    "under_replicated_by_moves_us", "under_replicated_assigned_us", "under_replicated_draft_us",
    "under_replicated_final_us", "under_min_isr_us",
    "offline_us", "excess_isr_us", "extra_replica_us", "peak_replicas",
    default=0,
)  # fmt: skip
def isr_times(isr_events: DataFrame) -> DataFrame:
    """Time under each definition of readings §8, below min.insync.replicas, without a leader; excess replicas."""
    isr, assignment, original, target = (F.col(name) for name in ("isr", "assignment", "original", "target"))
    in_sync = F.size(isr)
    current = F.when(F.size(original) > 0, original).otherwise(assignment)
    settled = _settled()
    wanted = F.when(F.size(target) > 0, F.size(target)).otherwise(F.size(assignment))
    return isr_events.groupBy(KEY).agg(
        _time((in_sync < F.size(assignment)) & (F.size(settled) <= in_sync)).alias("under_replicated_by_moves_us"),
        _time(in_sync < F.size(assignment)).alias("under_replicated_assigned_us"),
        _time(F.size(F.array_intersect(current, isr)) < F.size(current)).alias("under_replicated_draft_us"),
        _time(F.size(settled) > in_sync).alias("under_replicated_final_us"),
        _time(in_sync < F.col("min_isr")).alias("under_min_isr_us"),
        _time(F.col("leader") == -1).alias("offline_us"),
        F.sum(F.greatest(F.lit(0), in_sync - wanted) * F.col("w_us")).alias("excess_isr_us"),
        F.sum(F.greatest(F.lit(0), F.size(assignment) - wanted) * F.col("w_us")).alias("extra_replica_us"),
        F.max(F.size(assignment)).alias("peak_replicas"),
    )


@computes("isr_events", "under_replicated_any_us", "under_replicated_peak", "under_replicated_until_us", default=0)
def under_replicated_at_once(isr_events: DataFrame) -> DataFrame:
    """For how long any partition was under-replicated, until when, and how many at once: intervals as steps up and
    down."""
    rows = isr_events.where((F.size(_settled()) > F.size("isr")) & (F.col("w_us") > 0))
    up = rows.select(KEY, "t_us", F.lit(1).alias("step"))
    down = rows.select(KEY, (F.col("t_us") + F.col("w_us")).alias("t_us"), F.lit(-1).alias("step"))
    steps = up.unionByName(down).groupBy(KEY, "t_us").agg(F.sum("step").alias("step"))
    in_order = Window.partitionBy(KEY).orderBy("t_us")
    counted = steps.select(
        KEY,
        "t_us",
        F.sum("step").over(in_order).alias("count"),
        (F.lead("t_us").over(in_order) - F.col("t_us")).alias("w_us"),
    )
    return counted.groupBy(KEY).agg(
        _time(F.col("count") > 0).alias("under_replicated_any_us"),
        F.max("count").alias("under_replicated_peak"),
        F.max("t_us").alias("under_replicated_until_us"),
    )


@computes("isr_events", "under_replicated_worst_us", default=0)
def under_replicated_worst(isr_events: DataFrame) -> DataFrame:
    """For how long the partition was under-replicated that was so longest."""
    each = isr_events.groupBy(KEY, "topic", "partition").agg(_time(F.size(_settled()) > F.size("isr")).alias("w_us"))
    return each.groupBy(KEY).agg(F.max("w_us").alias("under_replicated_worst_us"))


@computes(
    "replica_lag",
    *(f"{lag}_{place}" for lag in ("lag", "true_lag") for place in ("p50", "p95", "p99", "max")),
    default=None,
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


@computes("isr_changes", "isr_shrinks", "isr_expands", "isr_update_failures", default=0)
def isr_changes(changes: DataFrame) -> DataFrame:
    """Changes of ISRs by their kind."""
    kind = F.col("kind")
    return changes.groupBy(KEY).agg(
        F.count_if(kind == "shrink").alias("isr_shrinks"),
        F.count_if(kind == "expand").alias("isr_expands"),
        F.count_if(kind == "failed").alias("isr_update_failures"),
    )


@computes("moves", "moves", "moves_finished", default=0)
def move_counts(moves: DataFrame) -> DataFrame:
    """Moves, and those that were done."""
    return moves.groupBy(KEY).agg(F.count("*").alias("moves"), F.count_if(F.col("finished")).alias("moves_finished"))


@computes("moves", "time_to_complete_us", OBSERVED, default=None)
def move_times(moves: DataFrame) -> DataFrame:
    """``time_to_complete_us`` is null when a move is unfinished; ``OBSERVED`` is its lower bound then."""
    took = F.max(F.col("t_us") + F.col("w_us")) - F.min("t_us")
    return moves.groupBy(KEY).agg(
        F.when(F.bool_and("finished"), took).alias("time_to_complete_us"), took.alias(OBSERVED)
    )


@computes("elections", "leader_elections", "unclean_elections", default=0)
def elections(rows: DataFrame) -> DataFrame:
    """Elections, without those of a new partition's first leader."""
    return rows.groupBy(KEY).agg(
        F.count_if(F.col("selector") != "new").alias("leader_elections"),
        F.count_if(F.col("unclean")).alias("unclean_elections"),
    )


@computes(
    "losses",
    *(f"lost_acks_{acks}_{what}" for acks in ("all", "1") for what in ("batches", "records")),
    default=0,
)
def losses(rows: DataFrame) -> DataFrame:
    """Acknowledged data that was lost."""
    sums = [
        F.sum(F.when(F.col("acks") == value, F.col(what)).otherwise(0)).alias(f"lost_acks_{acks}_{what}")
        for acks, value in (("all", -1), ("1", 1))
        for what in ("batches", "records")
    ]
    return rows.groupBy(KEY).agg(*sums)


@computes("produce", "acked_batches", "failed_batches", default=0)
def batches(produce: DataFrame) -> DataFrame:
    """With acks=0 nothing is ever acknowledged."""
    return produce.groupBy(KEY).agg(
        F.count_if(_acknowledged()).alias("acked_batches"),
        F.count_if(F.col("error") != "NONE").alias("failed_batches"),
    )


@computes("produce", "unfinished_batches", "unfinished_wait_us", default=0)
def unfinished(produce: DataFrame) -> DataFrame:
    """Batches without an outcome when the run ended, and how long the oldest of them had waited."""
    return (
        produce.where(_unfinished())
        .groupBy(KEY)
        .agg(F.count("*").alias("unfinished_batches"), F.max("latency_us").alias("unfinished_wait_us"))
    )


@computes("produce", "produce_p50_us", "produce_p99_us", "produce_max_us", default=None)
def latencies(produce: DataFrame) -> DataFrame:
    """Percentiles and maximum of the produce latency of acknowledged batches, and of the wait of unfinished ones."""
    found = (
        produce.where(_acknowledged() | (_unfinished() & (F.col("acks") != 0)))
        .groupBy(KEY)
        .agg(
            F.expr("percentile(latency_us, array(0.5D, 0.99D))").alias("latency"),
            F.max("latency_us").alias("produce_max_us"),
        )
    )
    latency = F.col("latency")
    return found.select(KEY, latency[0].alias("produce_p50_us"), latency[1].alias("produce_p99_us"), "produce_max_us")


@computes("consume", "consumed_messages", default=0)
def reads(consume: DataFrame) -> DataFrame:
    """How many messages polls have returned."""
    return consume.groupBy(KEY).agg(F.sum(F.col("next_offset") - F.col("offset")).alias("consumed_messages"))


@computes("consume", "consume_p50_us", "consume_p99_us", default=None)
def delays(consume: DataFrame) -> DataFrame:
    """Percentiles over the polls of the time since their last message could be read."""
    found = consume.groupBy(KEY).agg(F.expr("percentile(delay_us, array(0.5D, 0.99D))").alias("delay"))
    delay = F.col("delay")
    return found.select(KEY, delay[0].alias("consume_p50_us"), delay[1].alias("consume_p99_us"))


@computes("consumer_lag", *(f"consumer_lag_{place}" for place in ("p50", "p95", "p99", "max")), default=None)
def consumer_lags(consumer_lag: DataFrame) -> DataFrame:
    """Percentiles over all consumers and partitions, each value weighted with the time it held."""
    found = consumer_lag.groupBy(KEY).agg(
        F.expr("percentile(lag, array(0.5D, 0.95D, 0.99D), w_us)").alias("lag"),
        F.max("lag").alias("consumer_lag_max"),
    )
    lag = F.col("lag")
    names = (lag[i].alias(f"consumer_lag_{name}") for i, name in enumerate(("p50", "p95", "p99")))
    return found.select(KEY, *names, "consumer_lag_max")


@computes(
    "requests",
    *(f"{api.snake_name}_{counted}" for api in control_apis() for counted in ("requests", "partitions")),
    default=0,
)
def requests(rows: DataFrame) -> DataFrame:
    """Control requests and the partition states in them."""
    columns = []
    for api in control_apis():
        this = F.col("api") == api.name
        columns.append(F.count_if(this).alias(f"{api.snake_name}_requests"))
        columns.append(F.sum(F.when(this, F.col("partitions")).otherwise(0)).alias(f"{api.snake_name}_partitions"))
    return rows.groupBy(KEY).agg(*columns)


@computes("zk_writes", "zk_writes", default=0)
def zk_writes(rows: DataFrame) -> DataFrame:
    """Writes that ZooKeeper applied."""
    return _number(rows, "zk_writes")


@computes("steps", "steps", default=0)
def steps(rows: DataFrame) -> DataFrame:
    """Protocol steps done: their ``after`` edges."""
    return _number(rows.where("edge = 'after'"), "steps")


@computes("fetchers", "failed_partitions", default=0)
def failed_partitions(rows: DataFrame) -> DataFrame:
    """Times a fetcher gave up on a partition."""
    return _number(rows.where("kind = 'failed'"), "failed_partitions")


@computes("violations", "violations", default=0)
def violations(rows: DataFrame) -> DataFrame:
    """Violations of invariants."""
    return _number(rows, "violations")


def _number(frame: DataFrame, name: str) -> DataFrame:
    """How many rows each run has."""
    return frame.groupBy(KEY).agg(F.count("*").alias(name))


def _acknowledged() -> Column:
    return (F.col("error") == "NONE") & (F.col("acks") != 0) & ~_unfinished()


def _unfinished() -> Column:
    return F.col("outcome") == "unfinished"


def _settled() -> Column:
    """The replicas that are not being added."""
    return F.array_except("assignment", F.array_except("target", "original"))


def _time(condition: Column) -> Column:
    return F.sum(F.when(condition, F.col("w_us")).otherwise(0))
