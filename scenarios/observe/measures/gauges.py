"""Kafka's gauges as far as ground truth gives them, written when they change.

Per broker: ``UnderReplicatedPartitions`` (all assigned replicas) and ``UnderMinIsrPartitionCount`` over the
partitions it leads per ZooKeeper, ``ActiveControllerCount``, ``FailedPartitionsCount``. Of the cluster (node
-1): ``OfflinePartitionsCount``, which Kafka's active controller shows. A crashed broker's own gauges fall to
0.

``FailedPartitionsCount`` counts fetchers' failed partitions per broker, over both kinds of fetcher.
"""

from __future__ import annotations

from emulator.protocol.events import (
    ControllerElected,
    ControllerResigned,
    NodeCrashed,
    PartitionFailed,
    PartitionUnfailed,
)
from emulator.protocol.types import TopicPartition
from emulator.trace import Trace
from scenarios.observe.mbeans import ACTIVE_CONTROLLERS, FAILED_PARTITIONS, OFFLINE, UNDER_MIN_ISR, UNDER_REPLICATED
from scenarios.observe.measures.cluster import Measured
from scenarios.observe.measures.isr import IsrTimes
from scenarios.observe.measures.rows import GaugeRow

CLUSTER = -1


class Gauges:
    """The fold over one run; ``rows`` holds the closed intervals. A gauge that was never set is 0."""

    def __init__(self, trace: Trace, isr: IsrTimes, measured: Measured) -> None:
        self.rows: list[GaugeRow] = []
        self._open: dict[tuple[int, str], GaugeRow] = {}
        self._totals: dict[str, int] = {}
        self._failed: dict[int, dict[TopicPartition, None]] = {}
        self._keep_rows = measured.keep_rows
        isr.on_change.append(self._partition_changed)
        trace.fold(ControllerElected, self._elected)
        trace.fold(ControllerResigned, self._resigned)
        trace.fold(PartitionFailed, self._partition_failed)
        trace.fold(PartitionUnfailed, self._partition_unfailed)
        trace.fold(NodeCrashed, self._crashed)

    def total(self, name: str) -> int:
        """The gauge now, summed over the brokers."""
        return self._totals.get(name, 0)

    def finish(self, end_us: int) -> None:
        for row in self._open.values():
            self._close(row, end_us)
        self._open.clear()

    def _value(self, node: int, name: str) -> int:
        row = self._open.get((node, name))
        return 0 if row is None else row.value

    def _set(self, t_us: int, node: int, name: str, value: int) -> None:
        before = self._open.get((node, name))
        if before is not None:
            if before.value == value:
                return
            self._close(before, t_us)
        self._totals[name] = self.total(name) + value - (0 if before is None else before.value)
        self._open[node, name] = GaugeRow(t_us, 0, node, name, value)

    def _close(self, row: GaugeRow, t_us: int) -> None:
        if self._keep_rows and t_us > row.t_us:
            self.rows.append(row._replace(w_us=t_us - row.t_us))

    def _partition_changed(
        self,
        t_us: int,
        tp: TopicPartition,
        before: tuple[int, tuple[bool, ...]],
        after: tuple[int, tuple[bool, ...]],
    ) -> None:
        steps: dict[tuple[int, str], int] = {}
        for (leader, (assigned, _, _, min_isr, offline)), sign in ((before, -1), (after, 1)):
            for node, name, up in (
                (leader, UNDER_REPLICATED, assigned and leader >= 0),
                (leader, UNDER_MIN_ISR, min_isr and leader >= 0),
                (CLUSTER, OFFLINE, offline),
            ):
                steps[node, name] = steps.get((node, name), 0) + sign * up
        for (node, name), step in steps.items():
            if step:
                self._set(t_us, node, name, self._value(node, name) + step)

    def _elected(self, event: ControllerElected) -> None:
        self._set(event.t_us, event.node, ACTIVE_CONTROLLERS, 1)

    def _resigned(self, event: ControllerResigned) -> None:
        self._set(event.t_us, event.node, ACTIVE_CONTROLLERS, 0)

    def _partition_failed(self, event: PartitionFailed) -> None:
        failed = self._failed.setdefault(event.node, {})
        failed[TopicPartition(event.topic, event.partition)] = None
        self._set(event.t_us, event.node, FAILED_PARTITIONS, len(failed))

    def _partition_unfailed(self, event: PartitionUnfailed) -> None:
        failed = self._failed.setdefault(event.node, {})
        failed.pop(TopicPartition(event.topic, event.partition), None)
        self._set(event.t_us, event.node, FAILED_PARTITIONS, len(failed))

    def _crashed(self, event: NodeCrashed) -> None:
        self._failed.pop(event.node, None)
        for name in (ACTIVE_CONTROLLERS, FAILED_PARTITIONS):
            if self._value(event.node, name):
                self._set(event.t_us, event.node, name, 0)
