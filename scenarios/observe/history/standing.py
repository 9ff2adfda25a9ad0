"""What stands in the cluster now, as events show it: processes, registrations, the controller, what operators have
asked for, what fetchers have given up, what gauges show, and how far consumers have read."""

from __future__ import annotations

from emulator.metrics.events import GaugeSet
from emulator.protocol import znodes
from emulator.protocol.events import (
    ConsumerFailed,
    CopyFailed,
    CopyFailureCleared,
    FetcherStarted,
    FetcherStopped,
    NodeCrashed,
    NodeStarted,
    PartitionFailed,
    PartitionFailureCleared,
    PollReturned,
    PositionReset,
)
from emulator.protocol.types import TopicPartition
from emulator.trace.events import ZkSession, ZkWritten
from scenarios.observe.mbeans import ACTIVE_CONTROLLERS, OFFLINE, REASSIGNING, UNDER_REPLICATED

AT_REST = {
    UNDER_REPLICATED: "UnderReplicatedPartitions",
    OFFLINE: "OfflinePartitionsCount",
    REASSIGNING: "ReassigningPartitions",
}
"""Gauges that are 0 when nothing is left to do, with their names in short."""

_WANTED = (*AT_REST, ACTIVE_CONTROLLERS)


class Standing:
    """The fold.

    Attributes:
        nodes: the brokers that were ever started; ``running``: those whose process runs.
        interrupted: brokers whose process has ended, or whose session has expired, at some time.
        registered: the brokers in /brokers/ids.
        controller: the broker in /controller; -1: none. controllers: how many there have been.
        requests: the znodes below /admin by which operators ask for something; ``moving``: the partitions that the one
            for moves names.
        failed: by broker, the partitions on which its fetchers have given up; ``dead``: its fetchers that have died.
        copies_failed: by broker, the partitions whose copy to another log directory has failed.
        gauges: by broker and name, of those that are looked at when the cluster is at rest.
        positions: by consumer, the offset of the next record in each partition.
        given_up: what consumers have reported to their applications that they cannot read.
    """

    def __init__(self) -> None:
        self.nodes: dict[int, None] = {}
        self.running: dict[int, None] = {}
        self.interrupted: dict[int, None] = {}
        self.registered: dict[int, None] = {}
        self.controller = -1
        self.controllers = 0
        self.requests: dict[str, None] = {}
        self.moving: tuple[TopicPartition, ...] = ()
        self.failed: dict[int, dict[TopicPartition, None]] = {}
        self.dead: dict[int, dict[str, None]] = {}
        self.copies_failed: dict[int, dict[TopicPartition, None]] = {}
        self.gauges: dict[int, dict[str, int]] = {}
        self.positions: dict[int, dict[TopicPartition, int]] = {}
        self.given_up: dict[tuple[int, TopicPartition], None] = {}

    # -- processes and ZooKeeper --------------------------------------------------------------------------------------

    def on_started(self, event: NodeStarted) -> None:
        self.nodes[event.node] = self.running[event.node] = None

    def on_crashed(self, event: NodeCrashed) -> None:
        self.interrupted[event.node] = None
        self.running.pop(event.node, None)
        for table in (self.failed, self.dead, self.copies_failed, self.gauges, self.positions):
            table.pop(event.node, None)

    def on_session(self, event: ZkSession) -> None:
        if event.state == "expired":
            self.interrupted[event.client] = None

    def on_written(self, event: ZkWritten) -> None:
        path, gone = event.path, event.op == "delete"
        if path == znodes.CONTROLLER:
            self.controller = -1 if gone else znodes.decode_controller(event.data)
            self.controllers += not gone
        elif path.startswith(f"{znodes.BROKER_IDS}/"):
            _put(self.registered, int(path.rpartition("/")[2]), gone)
        elif path in _REQUESTS or path.startswith(f"{znodes.DELETE_TOPICS}/"):
            _put(self.requests, path, gone)
            if path == znodes.REASSIGN_PARTITIONS:
                self.moving = () if gone else tuple(znodes.decode_reassignment(event.data))

    # -- what processes show ------------------------------------------------------------------------------------------

    def on_failed(self, event: PartitionFailed) -> None:
        self.failed.setdefault(event.node, {})[TopicPartition.of(event.topic, event.partition)] = None

    def on_cleared(self, event: PartitionFailureCleared) -> None:
        self.failed.get(event.node, {}).pop(TopicPartition.of(event.topic, event.partition), None)

    def on_copy_failed(self, event: CopyFailed) -> None:
        self.copies_failed.setdefault(event.node, {})[TopicPartition.of(event.topic, event.partition)] = None

    def on_copy_cleared(self, event: CopyFailureCleared) -> None:
        self.copies_failed.get(event.node, {}).pop(TopicPartition.of(event.topic, event.partition), None)

    def on_fetcher_started(self, event: FetcherStarted) -> None:
        self.dead.get(event.node, {}).pop(event.fetcher, None)

    def on_fetcher_stopped(self, event: FetcherStopped) -> None:
        if event.reason == "died":
            self.dead.setdefault(event.node, {})[event.fetcher] = None

    def on_gauge(self, event: GaugeSet) -> None:
        if event.metric in _WANTED:
            self.gauges.setdefault(event.node, {})[event.metric] = event.value

    # -- consumers ----------------------------------------------------------------------------------------------------

    def on_reset(self, event: PositionReset) -> None:
        tp = TopicPartition.of(event.topic, event.partition)
        self.positions.setdefault(event.node, {})[tp] = event.offset

    def on_returned(self, event: PollReturned) -> None:
        positions, topic = self.positions.setdefault(event.node, {}), event.topic
        for partition, offset in zip(event.partitions, event.next_offsets, strict=True):
            positions[TopicPartition.of(topic, partition)] = offset

    def on_consumer_failed(self, event: ConsumerFailed) -> None:
        self.given_up[event.node, TopicPartition.of(event.topic, event.partition)] = None


_REQUESTS = (znodes.REASSIGN_PARTITIONS, znodes.PREFERRED_REPLICA_ELECTION)


def _put(among: dict[int, None] | dict[str, None], what: int | str, gone: bool) -> None:
    if gone:
        among.pop(what, None)  # type: ignore[arg-type]
    else:
        among[what] = None  # type: ignore[index]
