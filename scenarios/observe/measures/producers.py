"""The outcomes of producers' batches, and the latency of acknowledgements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from emulator.protocol.events import BatchesProduced, Produced
from scenarios.observe.measures.figure import Figure, Limit, Value
from scenarios.observe.measures.fold import Fold, Source, Table
from scenarios.observe.measures.percentile import weighted_percentiles

NO_ERROR = "NONE"


class Produces(Fold):
    """The fold over one run. A batch with acks=0 is never acknowledged."""

    FIGURES = (
        Figure(
            name="acked_batches",
            text="batches acknowledged to producers",
            unit="batches",
            limit=Limit.AT_ANY_TIME,
        ),
        Figure(name="failed_batches", text="batches that producers gave up", unit="batches", limit=Limit.AT_ANY_TIME),
        Figure(
            name="produce_p50_us",
            text="median latency of acknowledged batches",
            unit="ms",
            limit=Limit.AT_THE_END,
        ),
        Figure(
            name="produce_p99_us",
            text="99th percentile of the latency of acknowledged batches",
            unit="ms",
            limit=Limit.AT_THE_END,
        ),
    )
    TABLES: ClassVar[Mapping[str, Table]] = {"produce": Table(Produced)}

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.counts = {"acked_batches": 0, "failed_batches": 0}
        self._latency_us: dict[int, int] = {}  # latency of acknowledged batches -> their number
        self._keep_rows = source.measured.keep_rows
        self._rows: list[Produced] = []
        source.trace.fold(BatchesProduced, self._produced)

    def figures(self) -> Mapping[str, Value]:
        p50, p99 = weighted_percentiles(self._latency_us, (0.5, 0.99))
        return {**self.counts, "produce_p50_us": p50, "produce_p99_us": p99}

    def tables(self) -> Mapping[str, list[Any]]:
        return {"produce": self._rows}

    def _produced(self, event: BatchesProduced) -> None:
        if event.error != NO_ERROR:
            self.counts["failed_batches"] += len(event.ids)
        elif event.acks != 0:
            self.counts["acked_batches"] += len(event.ids)
            found = self._latency_us
            for latency_us in event.latencies_us:
                found[latency_us] = found.get(latency_us, 0) + 1
        if self._keep_rows:
            self._rows += event.rows()
