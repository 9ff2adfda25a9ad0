"""Series of a data set's report over virtual time: a line and a band for each level."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from attrs import frozen

from scenarios.runs.dataset.reader import DataSet
from scenarios.studies.statistics.result import Comparison

if TYPE_CHECKING:
    from pyspark.sql import Row, SparkSession

_LEVEL = "level"


@frozen
class Curve:
    """One level at some instants.

    Attributes:
        times_s: seconds of virtual time.
        runs: how many runs of the level lasted so long.
        low, middle, high: the 10th, 50th and 90th percentile over these.
    """

    times_s: tuple[float, ...]
    runs: tuple[int, ...]
    low: tuple[float, ...]
    middle: tuple[float, ...]
    high: tuple[float, ...]


@frozen(kw_only=True)
class Series:
    """One thing over time.

    Attributes:
        name: name, for people.
        levels: level's name to its curve.
    """

    name: str
    unit: str
    levels: Mapping[str, Curve]


def series(spark: SparkSession, data_set: DataSet, comparison: Comparison) -> list[Series]:
    """Lag and under-replicated partitions of the runs that were compared, by level, computed by Spark."""
    import pyarrow as pa

    from scenarios.studies.spark.aggregations.series import lag_over_time, under_replicated_over_time
    from scenarios.studies.spark.tables import table

    level_of = comparison.level_of
    compared = {run.run_id: level_of[run.arm.name] for run in comparison.runs}
    of_level = spark.createDataFrame(pa.table({"run_id": list(compared), _LEVEL: list(compared.values())}))
    runs, lags, isr = (table(spark, data_set, name) for name in ("runs", "replica_lag", "isr_events"))
    runs = runs.join(of_level, "run_id")
    lag = lag_over_time(lags, runs, by=[_LEVEL])
    under_replicated = under_replicated_over_time(isr, runs, by=[_LEVEL])
    return [
        Series(name="largest replica lag", unit="records", levels=curves(lag.collect())),
        Series(
            name="under-replicated partitions",
            unit="partitions",
            levels=curves(under_replicated.collect()),
        ),
    ]


def curves(bands: Iterable[Row]) -> dict[str, Curve]:
    """Level's name to its curve, from the rows of its bands in the order of their time."""
    by_level: dict[str, list[Row]] = {}
    for row in bands:
        by_level.setdefault(row[_LEVEL], []).append(row)
    return {level: _curve(rows) for level, rows in by_level.items()}


def _curve(rows: Sequence[Row]) -> Curve:
    times_s = tuple(row["t_us"] / 1_000_000 for row in rows)
    runs = tuple(row["runs"] for row in rows)
    return Curve(times_s, runs, *(tuple(row[name] for row in rows) for name in ("p10", "p50", "p90")))
