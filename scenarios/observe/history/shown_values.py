"""Values that processes show: gauges that are checked when a cluster has settled, and positions of consumers."""

from __future__ import annotations

from emulator.metrics.metric_events import GaugeSet
from emulator.protocol.events import ConsumerFailed, NodeCrashed, PollReturned, PositionReset
from emulator.protocol.types import TopicPartition
from scenarios.observe.mbeans import ACTIVE_CONTROLLERS, OFFLINE, REASSIGNING, UNDER_REPLICATED

AT_REST = {
    UNDER_REPLICATED: "UnderReplicatedPartitions",
    OFFLINE: "OfflinePartitionsCount",
    REASSIGNING: "ReassigningPartitions",
}
"""Gauges that are 0 when nothing is left to do, with their names in short."""

_WANTED = (*AT_REST, ACTIVE_CONTROLLERS)


class ShownValues:
    """The current gauges of brokers and positions of consumers, folded from their events.

    Attributes:
        gauges: values by broker and name, of the gauges that are checked when the cluster has settled.
        positions: offset of the next record in each partition, by consumer.
        given_up: partitions that consumers have reported to their applications as unreadable.
    """

    def __init__(self) -> None:
        self.gauges: dict[int, dict[str, int]] = {}
        self.positions: dict[int, dict[TopicPartition, int]] = {}
        self.given_up: dict[tuple[int, TopicPartition], None] = {}

    def on_crashed(self, event: NodeCrashed) -> None:
        self.gauges.pop(event.node, None)
        self.positions.pop(event.node, None)

    def on_gauge(self, event: GaugeSet) -> None:
        if event.metric in _WANTED:
            self.gauges.setdefault(event.node, {})[event.metric] = event.value

    def on_reset(self, event: PositionReset) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        self.positions.setdefault(event.node, {})[tp] = event.offset

    def on_returned(self, event: PollReturned) -> None:
        positions, topic = self.positions.setdefault(event.node, {}), event.topic
        for partition, offset in zip(event.partitions, event.next_offsets, strict=True):
            positions[TopicPartition.of(topic, partition)] = offset

    def on_consumer_failed(self, event: ConsumerFailed) -> None:
        self.given_up[event.node, TopicPartition.of(event.topic, event.partition)] = None
