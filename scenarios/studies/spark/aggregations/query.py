"""The declaration of an aggregation: which figures it computes, and from which tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import frozen
from pyspark.sql import DataFrame

from scenarios.observe.measures.figures import BY_SPARK

KEY = "run_id"
OBSERVED = "observed_us"
"""The column beside the figures with the time of the moves, unfinished ones up to the run's end."""

Computation = Callable[..., DataFrame]


@frozen
class Query:
    """The computation of some figures from some tables.

    Attributes:
        tables: the tables that ``compute`` takes, in its order.
        figures: the columns that it computes, besides ``KEY``.
        compute: a function from the tables to one row for each run that has any of these.
        default: the figures of a run without such a row: 0 for counts, None for other values.
    """

    tables: tuple[str, ...]
    figures: tuple[str, ...]
    compute: Computation
    default: int | None


QUERIES: list[Query] = []
"""The declared queries; ``computes`` adds to it, ``queries`` has those of plug-ins too."""


def computes(tables: str | tuple[str, ...], *figures: str, default: int | None) -> Callable[[Computation], Computation]:
    """Declare that a function computes these figures from one table, or from several (``Query``)."""

    def add(compute: Computation) -> Computation:
        QUERIES.append(Query((tables,) if isinstance(tables, str) else tables, figures, compute, default))
        return compute

    return add


def queries() -> Sequence[Query]:
    """All queries, after plug-ins have declared theirs."""
    while BY_SPARK:
        BY_SPARK.pop(0)()
    return QUERIES
