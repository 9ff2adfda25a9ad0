"""The state of a cluster as a test reads it: ZooKeeper's tree, a broker's metadata cache, a broker's logs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from attrs import define, field, frozen

from brokers.log.directory import log_path
from emulator.metrics import short_name
from emulator.protocol.metadata import NO_CONTROLLER, MetadataRequest, MetadataResponse
from emulator.protocol.types import NO_LEADER, Batch, TopicPartition
from emulator.protocol.update_metadata import PartitionMetadata
from emulator.protocol.znodes import (
    CONTROLLER,
    CONTROLLER_EPOCH,
    TOPICS,
    LeaderAndIsr,
    decode_controller,
    decode_topic,
    state_path,
    topic_path,
)
from scenarios.cluster.cluster import Cluster
from scenarios.errors import BadInput, did_you_mean, nearest
from scenarios.language import split_partition
from scenarios.observe.exposition.shown import ShownMetric

Partition = str | TopicPartition
"""A partition: ``"orders-0"``, or the ``TopicPartition``."""


@frozen
class ClusterMetadata:
    """The metadata cache of one broker, from which it answers a client's Metadata request.

    Attributes:
        live_brokers: their ids, ascending.
        controller: the broker that sent the last UpdateMetadata; -1 before the first.
    """

    live_brokers: tuple[int, ...]
    controller: int
    _partitions: dict[TopicPartition, PartitionMetadata]
    _parse: Callable[[Partition], TopicPartition] = field(repr=False)

    @classmethod
    def of(cls, response: MetadataResponse, parse: Callable[[Partition], TopicPartition]) -> ClusterMetadata:
        live = tuple(sorted(response.live_brokers))
        return cls(live, response.controller, {each.tp: each for each in response.partitions}, parse)

    def partition(self, partition: Partition) -> PartitionMetadata | None:
        """All that the broker knows of a partition; None if it does not know it."""
        return self._partitions.get(self._parse(partition))

    @property
    def partitions(self) -> list[str]:
        """The partitions that the broker knows, by topic and number."""
        return [str(tp) for tp in sorted(self._partitions)]

    def leader(self, partition: Partition) -> int:
        """The leader of a partition; -1 where there is none, or the broker does not know the partition."""
        known = self.partition(partition)
        return NO_LEADER if known is None else known.leader

    def leader_epoch(self, partition: Partition) -> int:
        """The leader epoch of a partition; -1 where the broker does not know the partition."""
        known = self.partition(partition)
        return -1 if known is None else known.leader_epoch

    def isr(self, partition: Partition) -> list[int]:
        known = self.partition(partition)
        return [] if known is None else list(known.isr)

    def replicas(self, partition: Partition) -> list[int]:
        known = self.partition(partition)
        return [] if known is None else list(known.replicas)

    def offline_replicas(self, partition: Partition) -> list[int]:
        known = self.partition(partition)
        return [] if known is None else list(known.offline_replicas)


@frozen
class ReplicaLog:
    """One replica's log, as it is on the broker's disk at the moment of the call.

    Attributes:
        start_offset, end_offset: it has the records of ``[start_offset, end_offset)``.
        epochs: the leader epochs in it, each with the offset at which it begins.
        high_watermark: None while the broker is down, or does not serve the partition.
        batches: oldest first.
    """

    start_offset: int
    end_offset: int
    epochs: tuple[tuple[int, int], ...]
    high_watermark: int | None
    batches: tuple[Batch, ...]


@define(eq=False)
class ClusterState:
    """Reads the state of ``cluster``; changes nothing.

    Attributes:
        topics: the topics that exist, or existed at some time.
    """

    cluster: Cluster
    topics: dict[str, None]

    # -- names --------------------------------------------------------------------------------------------------------

    def tp(self, partition: Partition) -> TopicPartition:
        """The partition of that name. Raises: BadInput where there never was one."""
        topic, number = partition if isinstance(partition, TopicPartition) else split_partition(partition)
        data = self.znode(topic_path(topic))
        if data is None and topic in self.topics:
            return TopicPartition(topic, number)  # it was deleted, or its creation is under way
        if data is None or number not in decode_topic(data):
            known = [str(tp) for tp in self.partitions()]
            raise BadInput(f"unknown partition '{topic}-{number}'; {did_you_mean(f'{topic}-{number}', known)}")
        return TopicPartition(topic, number)

    def broker(self, id: int) -> int:
        """``id``, if there is such a broker. Raises: BadInput."""
        if id not in self.cluster.nodes:
            raise BadInput(f"unknown broker {id}; the brokers are 0 to {len(self.cluster.nodes) - 1}")
        return id

    def running(self, id: int) -> int:
        """``id``, if the broker runs. Raises: BadInput."""
        if not self.cluster.nodes[self.broker(id)].running:
            raise BadInput(f"broker {id} is down; start it, or ask another")
        return id

    # -- ZooKeeper ----------------------------------------------------------------------------------------------------

    def znode(self, path: str) -> str | None:
        """The data of a znode; None where there is none."""
        return self.cluster.zookeeper.tree.get(path)

    def children(self, path: str) -> tuple[str, ...]:
        """The names of a znode's children; none where there is no such znode."""
        tree = self.cluster.zookeeper.tree
        return tuple(tree.children(path)) if tree.get(path) is not None else ()

    def partitions(self) -> list[TopicPartition]:
        """All partitions that there are now, by topic and number."""
        return [TopicPartition(topic, number) for topic in self.children(TOPICS) for number in self._assigned(topic)]

    def _assigned(self, topic: str) -> dict[int, tuple[int, ...]]:
        data = self.znode(topic_path(topic))
        return {} if data is None else dict(sorted(decode_topic(data).items()))

    def replicas(self, tp: TopicPartition) -> list[int]:
        """The assignment; empty where the partition is gone."""
        return list(self._assigned(tp.topic).get(tp.partition, ()))

    def leader_and_isr(self, tp: TopicPartition) -> LeaderAndIsr | None:
        """The state znode; None where there is none (yet)."""
        path = state_path(tp)
        data, stat = self.znode(path), self.cluster.zookeeper.tree.stat(path)
        return None if data is None or stat is None else LeaderAndIsr.decode(data, stat.version)

    def controller(self) -> int:
        """The broker that /controller names; -1 for none."""
        data = self.znode(CONTROLLER)
        return NO_CONTROLLER if data is None else decode_controller(data)

    def controller_epoch(self) -> int:
        return int(self.znode(CONTROLLER_EPOCH) or 0)

    # -- brokers ------------------------------------------------------------------------------------------------------

    def health(self, id: int) -> str:
        """``up``, ``down`` or ``paused``."""
        process = self.cluster.nodes[id].process
        if process is None or not process.alive:
            return "down"
        return "paused" if process.paused else "up"

    def metadata(self, id: int) -> ClusterMetadata:
        """The metadata cache of a broker; empty while the broker is starting. Raises: BadInput where it is down."""
        broker, response = self.cluster.brokers[self.running(id)], MetadataResponse((), (), NO_CONTROLLER)
        if broker.started:
            response = broker.replicas.metadata.answer(MetadataRequest(None))
        return ClusterMetadata.of(response, self.tp)

    def log(self, id: int, tp: TopicPartition) -> ReplicaLog | None:
        """The log of a replica, even if its broker is down; None where the broker has none."""
        node, path = self.cluster.nodes[self.broker(id)], log_path(tp)
        if node.running and self.cluster.brokers[id].started:
            partition = self.cluster.brokers[id].replicas.partitions.get(tp)
            if partition is not None and partition.log is not None:
                log = partition.log
                return ReplicaLog(
                    log.start_offset, log.end_offset, log.epochs.entries, partition.high_watermark, tuple(log.batches)
                )
        files = [disk.open(path) for disk in node.disks if disk.exists(path)]
        return _stored(files[0].entries) if files else None


def _stored(batches: Sequence[Batch]) -> ReplicaLog:
    epochs: dict[int, int] = {}
    for batch in batches:
        epochs.setdefault(batch.leader_epoch, batch.base_offset)
    start, end = (batches[0].base_offset, batches[-1].next_offset) if batches else (0, 0)
    return ReplicaLog(start, end, tuple(epochs.items()), None, tuple(batches))


def value_of(metrics: Mapping[str, ShownMetric], broker: int, name: str) -> float:
    """The value of one of a broker's metrics. For a meter it is the count, for a timer the number of measured
    durations.

    Raises: BadInput with the nearest name, also where only the part after ``name=`` was given.
    """
    if name not in metrics:
        names = {short_name(full) or full: full for full in metrics}
        near = nearest(short_name(name) or name, names)
        hint = f"it has {len(metrics)} others" if near is None else f"did you mean {names[near]!r}?"
        raise BadInput(f"broker {broker} has no metric {name!r}; {hint}")
    metric = metrics[name]
    return len(metric.durations_us) if metric.kind == "timer" else metric.value
