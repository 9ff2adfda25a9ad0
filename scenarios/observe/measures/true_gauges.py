"""The true values of some of Kafka's gauges: from ZooKeeper and from events, written when they change.

They are the values that brokers would show if they knew everything; ``broker_metrics``
(``scenarios.observe.exposition``) has the values that brokers do show. Per broker: ``UnderReplicatedPartitions`` (all
assigned replicas) and ``UnderMinIsrPartitionCount`` over the partitions that it leads per ZooKeeper,
``ActiveControllerCount``, ``FailedPartitionsCount`` (over both kinds of fetcher). Of the cluster (node -1):
``OfflinePartitionsCount``, which Kafka's active controller shows. A crashed broker's own gauges fall to 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple

from attrs import frozen

from emulator.protocol.events import (
    ControllerElected,
    ControllerResigned,
    NodeCrashed,
    PartitionFailed,
    PartitionFailureCleared,
)
from emulator.protocol.types import TopicPartition
from scenarios.observe.mbeans import ACTIVE_CONTROLLERS, FAILED_PARTITIONS, OFFLINE, UNDER_MIN_ISR, UNDER_REPLICATED
from scenarios.observe.measures.fold import Fold, RunParts, Table
from scenarios.observe.measures.isr_times import IsrTimes

CLUSTER = -1


@frozen
class Gauge:
    """A gauge on which a scenario may set limits: its name there, its meaning and unit, and Kafka's MBean."""

    name: str
    text: str
    unit: str
    jmx: str


GAUGES: Mapping[str, Gauge] = {
    gauge.name: gauge
    for gauge in (
        Gauge("offline_partitions", "partitions for which ZooKeeper names no leader", "partitions", OFFLINE),
        Gauge(
            "under_replicated_partitions",
            "partitions whose ISR lacks an assigned replica",
            "partitions",
            UNDER_REPLICATED,
        ),
        Gauge(
            "under_min_isr_partitions", "partitions whose ISR is below min.insync.replicas", "partitions", UNDER_MIN_ISR
        ),
        Gauge("failed_partitions", "partitions that a fetcher gave up on (KIP-461)", "partitions", FAILED_PARTITIONS),
        Gauge("active_controllers", "live brokers that act as the controller", "controllers", ACTIVE_CONTROLLERS),
    )
}
"""The gauges by name."""


class TrueGaugeRow(NamedTuple):
    """A gauge's true value from ``t_us`` on, for ``w_us``. ``node`` -1: of the cluster as a whole."""

    t_us: int
    w_us: int
    node: int
    name: str
    value: int


class TrueGauges(Fold):
    """The fold over one run; its rows are closed intervals. A gauge that was never set is 0."""

    TABLES: ClassVar[Mapping[str, Table]] = {"true_gauges": Table(TrueGaugeRow)}

    def __init__(self, source: RunParts, isr: IsrTimes) -> None:
        super().__init__(source)
        self._rows: list[TrueGaugeRow] = []
        self._open: dict[tuple[int, str], TrueGaugeRow] = {}
        self._totals: dict[str, int] = {}
        self._failed: dict[int, dict[TopicPartition, None]] = {}
        self._keep_rows = source.measured.keep_rows
        isr.on_change.append(self._partition_changed)

    def total(self, name: str) -> int:
        """The present value of an MBean, summed over the brokers."""
        return self._totals.get(name, 0)

    def finish(self, end_us: int) -> None:
        for row in self._open.values():
            self._close(row, end_us)
        self._open.clear()

    def tables(self) -> Mapping[str, list[Any]]:
        return {"true_gauges": self._rows}

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
        self._open[node, name] = TrueGaugeRow(t_us, 0, node, name, value)

    def _close(self, row: TrueGaugeRow, t_us: int) -> None:
        if self._keep_rows and t_us > row.t_us:
            self._rows.append(row._replace(w_us=t_us - row.t_us))

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

    def on_elected(self, event: ControllerElected) -> None:
        self._set(event.t_us, event.node, ACTIVE_CONTROLLERS, 1)

    def on_resigned(self, event: ControllerResigned) -> None:
        self._set(event.t_us, event.node, ACTIVE_CONTROLLERS, 0)

    def on_partition_failed(self, event: PartitionFailed) -> None:
        failed = self._failed.setdefault(event.node, {})
        failed[TopicPartition(event.topic, event.partition)] = None
        self._set(event.t_us, event.node, FAILED_PARTITIONS, len(failed))

    def on_partition_failure_cleared(self, event: PartitionFailureCleared) -> None:
        failed = self._failed.setdefault(event.node, {})
        failed.pop(TopicPartition(event.topic, event.partition), None)
        self._set(event.t_us, event.node, FAILED_PARTITIONS, len(failed))

    def on_crashed(self, event: NodeCrashed) -> None:
        self._failed.pop(event.node, None)
        for name in (ACTIVE_CONTROLLERS, FAILED_PARTITIONS):
            if self._value(event.node, name):
                self._set(event.t_us, event.node, name, 0)
