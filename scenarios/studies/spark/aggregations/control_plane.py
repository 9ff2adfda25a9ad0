"""Counts of the control plane, from ``requests``, ``zk_writes``, ``steps``, ``fetchers`` and ``violations``."""

from __future__ import annotations

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from emulator.protocol.api import control_apis
from emulator.protocol.znodes import CONTROLLER_EPOCH
from scenarios.observe.measures.control_plane import last_steps
from scenarios.studies.spark.aggregations.query import KEY, computes


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


@computes(("steps", "zk_writes"), "steps_again", default=0)
def steps_again(steps: DataFrame, zk_writes: DataFrame) -> DataFrame:
    """Steps of moves that were done again under a later controller epoch, which begins with a write to
    /controller_epoch."""
    last = list(last_steps().values())
    protocol = F.split_part("step", F.lit("."), F.lit(1))
    done = steps.where("edge = 'after' AND partition >= 0").where(protocol.isin(*last_steps()))
    epochs = zk_writes.where(f"path = '{CONTROLLER_EPOCH}' AND op <> 'delete'").select(
        KEY, "seq", F.lit(1).alias("begins")
    )
    stream = done.select(KEY, "seq", "topic", "partition", "step", "broker", "hop").unionByName(
        epochs, allowMissingColumns=True
    )
    so_far = Window.partitionBy(KEY).orderBy("seq").rowsBetween(Window.unboundedPreceding, Window.currentRow)
    partition = (KEY, "topic", "partition")
    before = Window.partitionBy(*partition).orderBy("seq").rowsBetween(Window.unboundedPreceding, -1)
    rows = (
        stream.withColumn("epoch", F.coalesce(F.sum("begins").over(so_far), F.lit(0)))
        .where(F.col("step").isNotNull())
        .withColumn("move", F.count_if(F.col("step").isin(*last)).over(before))
    )
    first = F.min("epoch").over(Window.partitionBy(*partition, "move", "step", "broker", "hop"))
    again = rows.select(KEY, (F.col("epoch") > first).alias("again"))
    return again.groupBy(KEY).agg(F.count_if("again").alias("steps_again"))


@computes("fetchers", "failed_partitions", default=0)
def failed_partitions(rows: DataFrame) -> DataFrame:
    """Times a fetcher gave up on a partition."""
    return _number(rows.where("kind = 'failed'"), "failed_partitions")


@computes("violations", "violations", default=0)
def violations(rows: DataFrame) -> DataFrame:
    """Violations of invariants."""
    return _number(rows, "violations")


def _number(frame: DataFrame, name: str) -> DataFrame:
    """The number of rows of each run."""
    return frame.groupBy(KEY).agg(F.count("*").alias(name))
