"""What is counted: ISR changes, elections, produced batches, control requests, ZooKeeper writes, steps, and
the rest that becomes one row per event."""

from __future__ import annotations

from typing import Any

from emulator.protocol.events import (
    ControlRequest,
    Fault,
    FetcherStarted,
    FetcherStopped,
    IsrChanged,
    IsrUpdateFailed,
    LeaderElected,
    PartitionFailed,
    PartitionUnfailed,
    Produced,
    Violated,
)
from emulator.trace import Trace
from emulator.trace.events import Step, ZkWritten
from scenarios.observe.measures.cluster import Measured
from scenarios.observe.measures.figures import CONTROL_APIS
from scenarios.observe.measures.rows import (
    ElectionRow,
    FaultRow,
    FetcherRow,
    IsrChangeRow,
    ProduceRow,
    RequestRow,
    StepRow,
    ViolationRow,
    ZkWriteRow,
)

COUNTED = (
    "isr_shrinks",
    "isr_expands",
    "isr_update_failures",
    "leader_elections",
    "unclean_elections",
    "acked_batches",
    "failed_batches",
    "zk_writes",
    "steps",
    "failed_partitions",
    "violations",
    *(f"{stem}_{what}" for stem in CONTROL_APIS.values() for what in ("requests", "partitions")),
)
"""The figures that are counts."""

NEW = "new"
"""The selector of a new partition's first leader, which is no election in the sense of the figure."""
NO_ERROR = "NONE"

_ISR_COUNT = {"shrink": "isr_shrinks", "expand": "isr_expands"}


class Counts:
    """The fold over one run.

    Attributes:
        counts: the figures in ``COUNTED``.
        latency_us: produce latency of acknowledged batches -> how many.
        rows: table -> its rows, in the order of the events.
    """

    def __init__(self, trace: Trace, measured: Measured) -> None:
        self.counts: dict[str, int] = dict.fromkeys(COUNTED, 0)
        self.latency_us: dict[int, int] = {}
        tables = (
            "isr_changes",
            "requests",
            "elections",
            "produce",
            "faults",
            "steps",
            "violations",
            "fetchers",
            "zk_writes",
        )
        self.rows: dict[str, list[Any]] = {table: [] for table in tables}
        self._keep_rows = measured.keep_rows
        trace.fold(IsrChanged, self._isr_changed)
        trace.fold(IsrUpdateFailed, self._isr_update_failed)
        trace.fold(LeaderElected, self._elected)
        trace.fold(Produced, self._produced)
        trace.fold(ControlRequest, self._requested)
        trace.fold(ZkWritten, self._written)
        trace.fold(Step, self._stepped)
        trace.fold(Fault, self._fault)
        trace.fold(Violated, self._violated)
        trace.fold(FetcherStarted, self._fetcher_started)
        trace.fold(FetcherStopped, self._fetcher_stopped)
        trace.fold(PartitionFailed, self._failed)
        trace.fold(PartitionUnfailed, self._unfailed)

    def _keep(self, table: str, row: object) -> None:
        if self._keep_rows:
            self.rows[table].append(row)

    def _isr_changed(self, event: IsrChanged) -> None:
        self.counts[_ISR_COUNT[event.kind]] += 1
        self._keep("isr_changes", IsrChangeRow(*event))

    def _isr_update_failed(self, event: IsrUpdateFailed) -> None:
        self.counts["isr_update_failures"] += 1
        self._keep("isr_changes", IsrChangeRow(*event, "failed", None, None))

    def _elected(self, event: LeaderElected) -> None:
        self.counts["leader_elections"] += event.selector != NEW
        self.counts["unclean_elections"] += event.unclean
        self._keep("elections", ElectionRow(*event))

    def _produced(self, event: Produced) -> None:
        if event.error != NO_ERROR:
            self.counts["failed_batches"] += 1
        elif event.acks != 0:
            self.counts["acked_batches"] += 1
            self.latency_us[event.latency_us] = self.latency_us.get(event.latency_us, 0) + 1
        if self._keep_rows:
            self.rows["produce"].append(ProduceRow(*event))

    def _requested(self, event: ControlRequest) -> None:
        stem = CONTROL_APIS[event.api]
        self.counts[f"{stem}_requests"] += 1
        self.counts[f"{stem}_partitions"] += event.partitions
        self._keep("requests", RequestRow(*event[:-1]))

    def _written(self, event: ZkWritten) -> None:
        self.counts["zk_writes"] += 1
        self._keep("zk_writes", ZkWriteRow(*event[:-1]))

    def _stepped(self, event: Step) -> None:
        self.counts["steps"] += event.edge == "after"
        self._keep("steps", StepRow(*event))

    def _fault(self, event: Fault) -> None:
        self._keep("faults", FaultRow(*event))

    def _violated(self, event: Violated) -> None:
        self.counts["violations"] += 1
        self._keep("violations", ViolationRow(*event))

    def _fetcher_started(self, event: FetcherStarted) -> None:
        at, node = event[:3], event.node
        self._keep("fetchers", FetcherRow(*at, node, "started", event.fetcher, event.leader, None, None, None))

    def _fetcher_stopped(self, event: FetcherStopped) -> None:
        at, node, reason = event[:3], event.node, event.reason
        self._keep("fetchers", FetcherRow(*at, node, "stopped", event.fetcher, event.leader, None, None, reason))

    def _failed(self, event: PartitionFailed) -> None:
        self.counts["failed_partitions"] += 1
        at, node, tp = event[:3], event.node, (event.topic, event.partition)
        self._keep("fetchers", FetcherRow(*at, node, "failed", event.fetcher, None, *tp, event.reason))

    def _unfailed(self, event: PartitionUnfailed) -> None:
        at, node, tp = event[:3], event.node, (event.topic, event.partition)
        self._keep("fetchers", FetcherRow(*at, node, "unfailed", None, None, *tp, event.reason))
