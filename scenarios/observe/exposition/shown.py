"""A fold over the events of a run: the metrics that processes have, and their values.

A metric is identified by its node and Kafka's name. The metrics of a process end with it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from attrs import Factory, define

from emulator.metrics import mbean, short_name
from emulator.metrics.metric_events import GaugeSet, MeterMarked, MetricRegistered, MetricRemoved, TimerUpdated
from emulator.protocol.events import (
    BecameFollower,
    ConsumerLag,
    LastStableOffsetLag,
    NodeCrashed,
    PartitionGauges,
    ReplicaStopped,
)
from scenarios.observe.exposition.implied import ImpliedGauges, ImpliedMeters, Marked, with_version
from scenarios.observe.exposition.rates import Counted, one_minute_rate

_PARTITION_GAUGES = {
    "PartitionAvailable": "leads",
    "InSyncReplicasCount": "in_sync_replicas",
    "ReplicasCount": "replicas",
    "UnderReplicated": "under_replicated",
    "UnderMinIsr": "under_min_isr",
    "AtMinIsr": "at_min_isr",
}

IMPLIED_METER = "implied meter"


@define(eq=False)
class ShownMetric:
    """One metric.

    Attributes:
        kind: gauge, meter, timer, derived (computed from other metrics when it is read), or a gauge or meter that other
            events imply: implied, implied meter.
        value: a gauge's value; a meter's count.
        spans: a meter's counts as they were written.
        durations_us: the times that a timer has measured.
    """

    kind: str
    registered_us: int
    value: float = 0
    spans: list[Counted] = Factory(list)
    durations_us: list[int] = Factory(list)


class ShownMetrics:
    """The metrics that processes show after the events so far.

    Args:
        lacks: the names that the release does not have.
        versions: the versions in the names of RequestsPerSec, by the API's name.
        errors: other names of errors, in those of ErrorsPerSec.
    """

    def __init__(
        self,
        lacks: Collection[str] = (),
        versions: Mapping[str, int] = MappingProxyType({}),
        errors: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._lacks = lacks
        self._versions = versions
        self._errors = errors
        self._nodes: dict[int, dict[str, ShownMetric]] = {}
        self._see: dict[type, Any] = {
            MetricRegistered: self._registered,
            MetricRemoved: self._removed,
            GaugeSet: lambda event: self._set(event, event.metric, event.value),
            MeterMarked: self._marked,
            TimerUpdated: self._timed,
            PartitionGauges: self._partition,
            LastStableOffsetLag: lambda event: self._set(event, _of_partition("LastStableOffsetLag", event), event.lag),
            ConsumerLag: self._lag,
            ReplicaStopped: self._stopped,
            NodeCrashed: self._crashed,
            BecameFollower: self._follows,
        }
        self._implied = ImpliedGauges().see
        self._meters = ImpliedMeters(versions).see

    def see(self, events: Iterable[Any], at_us: int | None = None) -> None:
        """Process the events up to and including ``at_us``."""
        for event in events:
            if at_us is not None and event.t_us > at_us:
                return
            see = self._see.get(type(event))
            if see is not None:
                see(event)
            implied = self._implied.get(type(event))
            if implied is not None:
                for name, value in implied(event):
                    self._imply(event, name, value)
            counted = self._meters.get(type(event))
            if counted is not None:
                for marked in counted(event):
                    self._count(event, marked)

    @property
    def nodes(self) -> list[int]:
        """The nodes that show any metric, ascending."""
        return sorted(node for node, metrics in self._nodes.items() if metrics)

    def metrics(self, node: int, at_us: int) -> Iterator[tuple[str, ShownMetric]]:
        """The metrics of a node, ordered by name. Derived ones are computed for ``at_us``."""
        metrics = self._nodes.get(node, {})
        for name, metric in sorted(metrics.items()):
            if metric.kind == "derived":
                metric.value = _min_fetch_rate(metrics, name, at_us)
            yield name, metric

    def _changed(self, event: Any, name: str, metric: ShownMetric) -> None:
        """``event`` changed the metric's value, updated its timer, or created it. For subclasses."""

    def _ended(self, event: Any, name: str) -> None:
        """``event`` ended the metric. For subclasses."""

    def _metric(self, event: Any, name: str, kind: str) -> ShownMetric:
        metrics = self._nodes.setdefault(event.node, {})
        metric = metrics.get(name)
        if metric is None:
            metric = metrics[name] = ShownMetric(kind, event.t_us)
        return metric

    def _set(self, event: Any, name: str, value: float) -> None:
        if short_name(name) not in self._lacks:
            metric = self._metric(event, name, "gauge")
            metric.kind, metric.value = "gauge", value
            self._changed(event, name, metric)

    def _imply(self, event: Any, name: str, value: int | None) -> None:
        """A gauge that is not written by itself. It is shown, and is no row of the data set: the events are."""
        if value is None:
            self._nodes.get(event.node, {}).pop(name, None)
        elif short_name(name) not in self._lacks:
            self._metric(event, name, "implied").value = value

    def _count(self, event: Any, marked: Marked) -> None:
        """A meter that is not written by itself; it begins with its first count. A broker that is down has none."""
        metrics = self._nodes.get(marked.node)
        if metrics and short_name(marked.metric) not in self._lacks:
            meter = metrics.get(marked.metric)
            if meter is None:
                meter = metrics[marked.metric] = ShownMetric(IMPLIED_METER, marked.since_us)
            meter.spans.append((marked.since_us, event.t_us, marked.marks))
            meter.value += marked.marks

    def _registered(self, event: MetricRegistered) -> None:
        name = self._named(event.metric)
        metric = self._nodes.setdefault(event.node, {})[name] = ShownMetric(event.kind, event.t_us)
        self._changed(event, name, metric)

    def _named(self, metric: str) -> str:
        """The name of a metric as the release has it."""
        head, of, error = metric.partition(",error=")
        return f"{head}{of}{self._errors.get(error, error)}" if of else with_version(metric, self._versions)

    def _removed(self, event: MetricRemoved) -> None:
        self._end(event, self._named(event.metric))

    def _end(self, event: Any, name: str) -> None:
        if self._nodes.get(event.node, {}).pop(name, None) is not None:
            self._ended(event, name)

    def _crashed(self, event: NodeCrashed) -> None:
        for name in self._nodes.pop(event.node, {}):
            self._ended(event, name)

    def _timed(self, event: TimerUpdated) -> None:
        metric = self._metric(event, event.metric, "timer")
        metric.durations_us.append(event.duration_us)
        self._changed(event, event.metric, metric)

    def _marked(self, event: MeterMarked) -> None:
        name = self._named(event.metric)
        metric = self._metric(event, name, "meter")
        metric.spans.append((event.since_us, event.t_us, event.total - int(metric.value)))
        metric.value = event.total
        self._changed(event, name, metric)

    def _partition(self, event: PartitionGauges) -> None:
        for name, figure in _PARTITION_GAUGES.items():
            self._set(event, _of_partition(name, event), int(getattr(event, figure)))

    def _follows(self, event: BecameFollower) -> None:
        """A replica that has never led shows 0 (Partition.scala: each gauge is 0 where it does not lead)."""
        metrics = self._nodes.get(event.node, {})
        for name in _PARTITION_GAUGES:
            full = _of_partition(name, event)
            if full not in metrics:
                self._imply(event, full, 0)

    def _lag(self, event: ConsumerLag) -> None:
        tags = {"clientId": event.fetcher, "topic": event.topic, "partition": event.partition}
        name = mbean("kafka.server", "FetcherLagMetrics", "ConsumerLag", **tags)
        if event.lag < 0:
            self._end(event, name)
        else:
            self._set(event, name, event.lag)

    def _stopped(self, event: ReplicaStopped) -> None:
        """A replica that is deleted ends the gauges of its partition."""
        if event.deleted:
            for name in (*_PARTITION_GAUGES, "LastStableOffsetLag"):
                self._end(event, _of_partition(name, event))


def _of_partition(name: str, event: Any) -> str:
    return mbean("kafka.cluster", "Partition", name, topic=event.topic, partition=event.partition)


def _min_fetch_rate(metrics: dict[str, ShownMetric], name: str, at_us: int) -> float:
    """The lowest one-minute rate of requests among the manager's threads; 0 without threads. The names of a manager
    and its threads begin alike: ReplicaFetcherManager, ReplicaFetcherThread-0-1."""
    kind = name.partition("type=")[2].partition("Manager")[0]
    prefix = f"kafka.server:type=FetcherStats,name=RequestsPerSec,clientId={kind}Thread-"
    rates = [
        one_minute_rate(metric.spans, metric.registered_us, at_us)
        for other, metric in metrics.items()
        if other.startswith(prefix)
    ]
    return min(rates, default=0.0)
