"""The outcomes of producers' batches, and the latency of acknowledgements."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from emulator.protocol.events import BatchesProduced, BatchesUnfinished, Produced
from emulator.protocol.types import NO_LEADER
from scenarios.observe.measures.figure import Figure, Limit, Value
from scenarios.observe.measures.fold import Fold, Source, Table
from scenarios.observe.measures.percentile import weighted_percentiles

NO_ERROR = "NONE"
UNFINISHED = "unfinished"
"""The outcome in the table ``produce`` of a batch without one: it was neither acknowledged nor given up."""


class Produces(Fold):
    """The fold over one run. A batch with acks=0 is never acknowledged. In the latencies a batch that is unfinished
    when the run ends counts with the time that it has waited: its latency is censored there, and would be longer."""

    FIGURES = (
        Figure(
            name="acked_batches",
            text="batches acknowledged to producers",
            unit="batches",
            limit=Limit.AT_ANY_TIME,
        ),
        Figure(name="failed_batches", text="batches that producers gave up", unit="batches", limit=Limit.AT_ANY_TIME),
        Figure(
            name="unfinished_batches",
            text="batches neither acknowledged nor given up when the run ended",
            unit="batches",
            limit=Limit.AT_THE_END,
        ),
        Figure(
            name="unfinished_wait_us",
            text="time that the oldest of the unfinished batches had waited",
            unit="s",
            limit=Limit.AT_THE_END,
        ),
        Figure(
            name="produce_p50_us",
            text="median latency of batches; of unfinished ones their wait so far",
            unit="ms",
            limit=Limit.AT_THE_END,
        ),
        Figure(
            name="produce_p99_us",
            text="99th percentile of the latency of batches; of unfinished ones their wait so far",
            unit="ms",
            limit=Limit.AT_THE_END,
        ),
        Figure(
            name="produce_max_us",
            text="longest latency of a batch; of an unfinished one its wait so far",
            unit="ms",
            limit=Limit.AT_THE_END,
        ),
    )
    TABLES: ClassVar[Mapping[str, Table]] = {"produce": Table(Produced)}

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self.counts = {"acked_batches": 0, "failed_batches": 0}
        self._latency_us: dict[int, int] = {}  # latency of batches with acks -> their number
        self._unfinished_batches = self._unfinished_wait_us = 0
        self._keep_rows = source.measured.keep_rows
        self._rows: list[Produced] = []
        source.trace.fold(BatchesProduced, self._produced)
        source.trace.fold(BatchesUnfinished, self._unfinished)

    def figures(self) -> Mapping[str, Value]:
        p50, p99 = weighted_percentiles(self._latency_us, (0.5, 0.99))
        return {
            **self.counts,
            "unfinished_batches": self._unfinished_batches,
            "unfinished_wait_us": self._unfinished_wait_us,
            "produce_p50_us": p50,
            "produce_p99_us": p99,
            "produce_max_us": max(self._latency_us, default=None),
        }

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

    def _unfinished(self, event: BatchesUnfinished) -> None:
        self._unfinished_batches += len(event.ids)
        self._unfinished_wait_us = max(self._unfinished_wait_us, *event.waits_us)
        if event.acks != 0:
            found = self._latency_us
            for wait_us in event.waits_us:
                found[wait_us] = found.get(wait_us, 0) + 1
        if self._keep_rows:
            self._rows += [
                Produced(
                    row.t_us, row.seq, row.cause, row.node, row.topic, row.partition, row.id, row.acks, NO_ERROR,
                    -1, -1, NO_LEADER, row.wait_us, row.attempts, UNFINISHED,
                )
                for row in event.rows()
            ]  # fmt: skip
