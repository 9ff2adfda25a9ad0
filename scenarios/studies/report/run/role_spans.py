"""Roles of each broker over time: in the cluster, in each partition, and the machines that it was cut off from.

The letters are those of the timeline (``scenarios.observe.timeline.roles``).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from emulator.protocol.events import (
    ControllerElected,
    ControllerResigned,
    Fault,
    NodeCrashed,
    NodeStarted,
    PartitionFailed,
    PartitionFailureCleared,
    RoutesChanged,
)
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import TOPICS, state_path_partition
from emulator.trace.events import ZkWritten
from scenarios.observe.past.cluster_past import Past, PastReplay
from scenarios.observe.past.cluster_state import FoldedState
from scenarios.observe.timeline.moment_words import cuts
from scenarios.observe.timeline.roles import ClusterRoles, PartitionRoles

NOTHING = "."
DOWN = "x"
_BROKERS = (NodeStarted, NodeCrashed, Fault)
_CLUSTER = (*_BROKERS, ControllerElected, ControllerResigned)


class TimeSpan(NamedTuple):
    """Something that held from ``t_us`` until ``end_us``; ``what``: a role's letter, or words."""

    t_us: int
    end_us: int
    what: str


class _Spans:
    """Collects what holds, by key; a span begins where it changes."""

    def __init__(self) -> None:
        self.done: dict[Any, list[TimeSpan]] = {}
        self._open: dict[Any, tuple[int, str]] = {}

    def now(self, t_us: int, key: Any, what: str) -> None:
        _, before = self._open.get(key, (t_us, None))
        if before == what:
            return
        self._close(t_us, key)
        self._open[key] = (t_us, what)

    def finish(self, end_us: int) -> Mapping[Any, list[TimeSpan]]:
        for key in self._open:
            self._close(end_us, key)
        return self.done

    def _close(self, t_us: int, key: Any) -> None:
        if key in self._open:
            since, what = self._open[key]
            if what and t_us > since:
                self.done.setdefault(key, []).append(TimeSpan(since, t_us, what))


def of_brokers(events: Iterable[Any], end_us: int) -> dict[int, list[TimeSpan]]:
    """Broker to its roles in the cluster: controller, up, down, paused; brokers in ascending order."""
    spans, known = _Spans(), dict[int, None]()
    for event, cluster in _followed(events):
        if type(event) in _CLUSTER:
            if type(event) is NodeStarted and event.node >= 0:
                known[event.node] = None
            for broker in known:
                spans.now(event.t_us, broker, ClusterRoles(cluster).letter(broker))
    return dict(sorted(spans.finish(end_us).items()))


def of_cuts(events: Iterable[Any], end_us: int) -> dict[int, list[TimeSpan]]:
    """Broker to what it was cut off from, in words."""
    spans, known = _Spans(), dict[int, None]()
    for event, cluster in _followed(events):
        if type(event) is RoutesChanged:
            known |= dict.fromkeys(machine for machine in (*event.sources, *event.targets) if machine >= 0)
            for broker in known:
                own = [route for route in cluster.cut if broker in route]
                spans.now(event.t_us, broker, "; ".join(cuts(own)))
    return dict(sorted(spans.finish(end_us).items()))


def of_partitions(
    events: Iterable[Any], partitions: Sequence[TopicPartition], brokers: Sequence[int], end_us: int
) -> dict[TopicPartition, dict[int, list[TimeSpan]]]:
    """Partition to its brokers to their roles in it. Brokers that never had a replica of it are left out."""
    spans = _Spans()
    for event, cluster in _followed(events):
        for tp in _concerned(event, partitions):
            for broker in brokers:
                spans.now(event.t_us, (tp, broker), PartitionRoles(cluster, tp).letter(broker))
    found = spans.finish(end_us)
    return {tp: dict(_rows(found, tp, brokers)) for tp in partitions}


def _followed(events: Iterable[Any]) -> Iterator[tuple[Any, FoldedState]]:
    """Each event, and the cluster after it."""
    replay = PastReplay()
    past = Past(replay)
    for event in events:
        replay.play((event,))
        yield event, past.now


def _concerned(event: Any, partitions: Sequence[TopicPartition]) -> Sequence[TopicPartition]:
    """The partitions in which an event can change a role."""
    kind = type(event)
    if kind is ZkWritten:
        if not event.path.startswith(TOPICS):
            return ()
        tp = state_path_partition(event.path)
        if tp is not None:
            return (tp,) if tp in partitions else ()
        topic = event.path.rpartition("/")[2]
        return [tp for tp in partitions if tp.topic == topic]
    if kind in (PartitionFailed, PartitionFailureCleared):
        tp = TopicPartition.of(event.topic, event.partition)
        return (tp,) if tp in partitions else ()
    return partitions if kind in _BROKERS else ()


def _rows(
    found: Mapping[Any, list[TimeSpan]], tp: TopicPartition, brokers: Sequence[int]
) -> Iterator[tuple[int, list[TimeSpan]]]:
    for broker in brokers:
        spans = [span for span in found.get((tp, broker), ()) if span.what != NOTHING]
        if any(span.what != DOWN for span in spans):
            yield broker, spans
