"""A figure from outside the package: how often a replica fetcher thread was started. Its two computations, no more."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from emulator.protocol.events import FetcherStarted
from scenarios.observe.measures.figure import Figure
from scenarios.observe.measures.fold import Fold, RunParts
from scenarios.studies.spark.aggregations import KEY, Query


class FetcherStarts(Fold):
    """Online: a fold over the events."""

    FIGURES = (Figure(name="fetcher_starts", text="replica fetcher threads started", unit="threads"),)

    def __init__(self, source: RunParts) -> None:
        super().__init__(source)
        self.counts = {"fetcher_starts": 0}
        source.trace.fold(FetcherStarted, self._started)

    def _started(self, event: FetcherStarted) -> None:
        self.counts["fetcher_starts"] += 1


def started(fetchers: DataFrame) -> DataFrame:
    """By Spark: from the table ``fetchers``."""
    return fetchers.where("kind = 'started'").groupBy(KEY).agg(F.count("*").alias("fetcher_starts"))


QUERY = Query(("fetchers",), ("fetcher_starts",), started, 0)
