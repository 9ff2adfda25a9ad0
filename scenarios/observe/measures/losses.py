"""Acknowledged data that was lost, with acks=all and with acks=1 apart."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from emulator.protocol.events import AckedLost
from scenarios.observe.measures.figure import Better, Compared, Figure, Limit
from scenarios.observe.measures.fold import Fold, RunParts, Table

STEMS: Mapping[int, str] = {-1: "lost_acks_all", 1: "lost_acks_1"}
"""The stem of the figures for each ``acks``, in the order in which they are shown."""


UNFLUSHED = "of these that went with the machines of all in-sync replicas, which had not flushed them (KIP-966)"


def _lost(name: str, text: str, unit: str) -> Figure:
    return Figure(
        name=f"{name}_{unit}",
        text=text,
        unit=unit,
        better=Better.LOWER,
        limit=Limit.AT_ANY_TIME,
        compared=Compared.YES,
    )


class Losses(Fold):
    """The fold over one run: records that are found to be lost, whether or not Kafka promises to keep them."""

    FIGURES = (
        _lost("lost_acks_all", "batches acknowledged with acks=all that a later leader lacks", "batches"),
        _lost("lost_acks_all", "records acknowledged with acks=all that a later leader lacks", "records"),
        _lost("lost_acks_1", "batches acknowledged with acks=1 that a later leader lacks", "batches"),
        _lost("lost_acks_1", "records acknowledged with acks=1 that a later leader lacks", "records"),
        _lost("lost_unflushed", f"batches {UNFLUSHED}", "batches"),
        _lost("lost_unflushed", f"records {UNFLUSHED}", "records"),
    )
    TABLES: ClassVar[Mapping[str, Table]] = {"losses": Table(AckedLost)}

    def __init__(self, source: RunParts) -> None:
        super().__init__(source)
        self.counts = {figure.name: 0 for figure in self.FIGURES}
        self._keep_rows = source.measured.keep_rows
        self._rows: list[AckedLost] = []

    def tables(self) -> Mapping[str, list[Any]]:
        return {"losses": self._rows}

    def on_found_lost(self, event: AckedLost) -> None:
        stem = STEMS[event.acks]
        self.counts[f"{stem}_batches"] += event.batches
        self.counts[f"{stem}_records"] += event.records
        if event.unflushed:
            self.counts["lost_unflushed_batches"] += event.batches
            self.counts["lost_unflushed_records"] += event.records
        if self._keep_rows:
            self._rows.append(event)
