"""The metrics that belong to a part of a broker: a fetcher thread, a topic, or the controller's queue to a broker."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from emulator.metrics import tag
from emulator.metrics.metric_events import MetricRegistered, MetricRemoved
from emulator.protocol.events import LogLoaded, NodeCrashed, ReplicaOffline, ReplicaStopped

OF_THREADS = "kafka.server:type=Fetcher"


@lru_cache(4096)
def _part_of(metric: str) -> tuple[str, str]:
    """The thread or the broker that a metric is about, and the topic; ``""``: it is about none."""
    thread = tag(metric, "clientId") if metric.startswith(OF_THREADS) else ""
    return (thread if "Thread-" in thread else tag(metric, "broker-id")), tag(metric, "topic")


class MetricsOfParts:
    """The metrics that brokers have of such parts, and the topics of which they have replicas."""

    def __init__(self) -> None:
        self._of_parts: dict[int, dict[str, str]] = {}
        """By broker, the metrics of its threads and queues, with the name of the thread or the broker of the queue."""
        self._of_topics: dict[tuple[int, str], dict[str, None]] = {}
        """The metrics of a topic on a broker."""
        self._hosted: dict[tuple[int, str], dict[int, None]] = {}
        """The partitions of a topic of which a broker has replicas."""

    def on_registered(self, event: MetricRegistered) -> None:
        part, topic = _part_of(event.metric)
        if part:
            self._of_parts.setdefault(event.node, {})[event.metric] = part
        elif topic:
            self._of_topics.setdefault((event.node, topic), {})[event.metric] = None

    def on_removed(self, event: MetricRemoved) -> None:
        part, topic = _part_of(event.metric)
        if part:
            self._of_parts.get(event.node, {}).pop(event.metric, None)
        elif topic:
            self._of_topics.get((event.node, topic), {}).pop(event.metric, None)

    def on_loaded(self, event: LogLoaded) -> None:
        self._hosted.setdefault((event.node, event.topic), {})[event.partition] = None

    def gone(self, event: ReplicaStopped | ReplicaOffline) -> list[str]:
        """The metrics that are left of a topic with whose last replica they should have ended. They may come again: a
        request that names the topic counts. Call it at each of these events."""
        if isinstance(event, ReplicaStopped) and not event.deleted:
            return []
        key = event.node, event.topic
        hosted = self._hosted.get(key)
        if hosted is None:
            return []
        hosted.pop(event.partition, None)
        if hosted:
            return []
        del self._hosted[key]
        return list(self._of_topics.pop(key, ()))

    def on_crashed(self, event: NodeCrashed) -> None:
        self._of_parts.pop(event.node, None)
        for table in (self._of_topics, self._hosted):
            for key in [key for key in table if key[0] == event.node]:
                del table[key]

    def of_parts(self) -> Iterator[tuple[int, str, str]]:
        """Each metric of a thread or a queue, with its broker and its part."""
        for broker, metrics in self._of_parts.items():
            for metric, part in list(metrics.items()):
                yield broker, metric, part

    def drop(self, broker: int, metric: str) -> None:
        """Forget a metric, of which all is said."""
        self._of_parts[broker].pop(metric, None)
