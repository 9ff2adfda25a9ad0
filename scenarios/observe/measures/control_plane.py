"""Counts of the control plane: requests of controllers, ZooKeeper writes, protocol steps, failed partitions.

A step of a reassignment protocol is *done again* if it was done for the same partition, broker and hop under an earlier
controller epoch. The last step of the protocol ends the move; a later move is counted by itself.

Faults, violations and the lives of fetcher threads become rows here as well.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

from controller.shapes import SHAPES
from emulator.protocol.api import control_apis
from emulator.protocol.events import (
    ControlRequest,
    Fault,
    FetcherStarted,
    FetcherStopped,
    PartitionFailed,
    PartitionFailureCleared,
    Violated,
)
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import CONTROLLER_EPOCH
from emulator.trace.events import Step, ZkWritten
from scenarios.observe.measures.figure import Better, Compared, Figure, Limit
from scenarios.observe.measures.fold import Fold, RunParts, Table

_STEMS = {api.name: api.snake_name for api in control_apis()}
"""The stem of the figures of each ``ControlRequest.api``."""


def last_steps() -> dict[str, str]:
    """The step that ends a move, by reassignment protocol."""
    return {shape.protocol: shape.procedure.phases["move.done"].last for shape in SHAPES.values()}


class FetcherRow(NamedTuple):
    """``kind``: started, stopped, failed or failure_cleared (KIP-461); columns that a kind lacks are null."""

    t_us: int
    seq: int
    cause: int
    node: int
    kind: str
    fetcher: str | None
    leader: int | None
    topic: str | None
    partition: int | None
    reason: str | None
    error: str | None


class ControlPlane(Fold):
    """The fold over one run.

    Three kinds of its figures are computed, online and by Spark, and are no rows of the comparison. Requests are costs
    by the partition states in them, and how these are grouped into requests depends on timing. ``failed_partitions``
    and ``violations`` are 0 in a run that is worth comparing: a violation fails the run, and a partition that has
    failed shows in the times of its ISR. Both are in each run's own metrics.
    """

    FIGURES = (
        *(
            Figure(
                name=f"{stem}_{counted}",
                text=f"{api} requests sent by controllers" if counted == "requests" else f"partition states in {api}",
                unit=counted,
                better=Better.LOWER,
                compared=Compared.YES if counted == "partitions" else Compared.NO,
            )
            for api, stem in _STEMS.items()
            for counted in ("requests", "partitions")
        ),
        Figure(name="zk_writes", text="writes that ZooKeeper applied", unit="writes", better=Better.LOWER),
        Figure(name="steps", text="protocol steps done", unit="steps"),
        Figure(
            name="steps_again",
            text="steps of moves that a controller did again after an earlier controller had done them",
            unit="steps",
            better=Better.LOWER,
            limit=Limit.AT_THE_END,
        ),
        Figure(
            name="failed_partitions",
            text="times a fetcher gave up on a partition (KIP-461)",
            unit="events",
            better=Better.LOWER,
            compared=Compared.NO,
        ),
        Figure(
            name="violations",
            text="violations of invariants",
            unit="violations",
            better=Better.LOWER,
            compared=Compared.NO,
        ),
    )
    TABLES: ClassVar[Mapping[str, Table]] = {
        "requests": Table(ControlRequest, without=("detail",)),
        "faults": Table(Fault),
        "steps": Table(Step),
        "violations": Table(Violated),
        "fetchers": Table(FetcherRow),
        "zk_writes": Table(ZkWritten, without=("data",)),
    }

    def __init__(self, source: RunParts) -> None:
        super().__init__(source)
        self.counts = {figure.name: 0 for figure in self.FIGURES}
        self._rows: dict[str, list[Any]] = {table: [] for table in self.TABLES}
        self._keep_rows = source.measured.keep_rows
        self._epoch = 0
        self._last_steps = last_steps()
        self._done: dict[TopicPartition, dict[tuple[str, int, int], int]] = {}
        """The epoch in which each step was done first, by step, broker and hop, for each partition that is moved."""

    def tables(self) -> Mapping[str, list[Any]]:
        return self._rows

    def _keep(self, table: str, row: object) -> None:
        if self._keep_rows:
            self._rows[table].append(row)

    def on_fault(self, event: Fault) -> None:
        self._keep("faults", event)

    def on_requested(self, event: ControlRequest) -> None:
        stem = _STEMS[event.api]
        self.counts[f"{stem}_requests"] += 1
        self.counts[f"{stem}_partitions"] += event.partitions
        self._keep("requests", event[:-1])

    def on_written(self, event: ZkWritten) -> None:
        self.counts["zk_writes"] += 1
        self._epoch += event.path == CONTROLLER_EPOCH and event.op != "delete"
        self._keep("zk_writes", event[:-1])

    def on_stepped(self, event: Step) -> None:
        if event.edge == "after":
            self.counts["steps"] += 1
            if event.partition >= 0:
                self._stepped_on(event)
        self._keep("steps", event)

    def _stepped_on(self, event: Step) -> None:
        last = self._last_steps.get(event.step.partition(".")[0])
        if last is not None:
            tp = TopicPartition.of(event.topic, event.partition)
            done = self._done.setdefault(tp, {})
            first = done.setdefault((event.step, event.broker, event.hop), self._epoch)
            self.counts["steps_again"] += first < self._epoch
            if event.step == last:
                del self._done[tp]

    def on_violated(self, event: Violated) -> None:
        self.counts["violations"] += 1
        self._keep("violations", event)

    def on_fetcher_started(self, event: FetcherStarted) -> None:
        at, node = event[:3], event.node
        self._keep("fetchers", FetcherRow(*at, node, "started", event.fetcher, event.leader, None, None, None, None))

    def on_fetcher_stopped(self, event: FetcherStopped) -> None:
        at, node, tp = event[:3], event.node, (event.topic, event.partition)
        where = (*tp, event.reason, event.error) if event.error else (None, None, event.reason, None)
        self._keep("fetchers", FetcherRow(*at, node, "stopped", event.fetcher, event.leader, *where))

    def on_failed(self, event: PartitionFailed) -> None:
        self.counts["failed_partitions"] += 1
        at, node, tp = event[:3], event.node, (event.topic, event.partition)
        self._keep("fetchers", FetcherRow(*at, node, "failed", event.fetcher, None, *tp, event.reason, event.error))

    def on_unfailed(self, event: PartitionFailureCleared) -> None:
        at, node, tp = event[:3], event.node, (event.topic, event.partition)
        self._keep("fetchers", FetcherRow(*at, node, "failure_cleared", None, None, *tp, event.reason, None))
