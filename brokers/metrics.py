"""The metrics of a broker, under Kafka's names (kafka-behaviour §9): the gauges of ReplicaManager, which are
sums over its partitions, the gauges of each partition, LastStableOffsetLag, and BrokerTopicMetrics.

A partition reports each change; no sum is ever computed from all partitions. What changes with every batch is written
once a second.
"""

from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple, Protocol

from attrs import define

from brokers.request_rates import PRODUCES, ProducePurgatory, RequestRates, TopicRequests
from brokers.under_replication import LedPartition, UnderReplication
from emulator.metrics import Meter, Metrics, mbean
from emulator.nodes import Process
from emulator.protocol.events import LastStableOffsetLag, PartitionGauges
from emulator.protocol.types import TopicPartition


class MeasuredPartition(LedPartition, Protocol):
    """A partition, as far as its metrics use it (``brokers.partition.partition.Partition``).

    Attributes:
        figures: the values of its gauges, kept for comparison.
    """

    figures: "PartitionGaugeValues"

    @property
    def tp(self) -> TopicPartition: ...
    @property
    def is_leader(self) -> bool: ...
    @property
    def removing(self) -> tuple[int, ...]: ...
    @property
    def impending(self) -> tuple[int, ...]: ...
    @property
    def last_stable_offset_lag(self) -> int: ...
    def effective_min_isr(self, min_isr: int) -> int: ...


class CountingRules(Protocol):
    """A release's rules and settings, as far as metrics use them (``brokers.broker_policies.BrokerPolicies``)."""

    @property
    def under_replication(self) -> UnderReplication: ...
    @property
    def followers_show_stability(self) -> bool: ...
    @property
    def all_min_insync_replicas(self) -> object: ...
    def min_insync_replicas(self, topic: str) -> int: ...


class MeasuredReplicas(Protocol):
    """The replica manager, as far as metrics use it (``brokers.replica_manager.ReplicaManager``)."""

    @property
    def policies(self) -> CountingRules: ...
    @property
    def partitions(self) -> Mapping[TopicPartition, MeasuredPartition]: ...
    @property
    def offline(self) -> Mapping[TopicPartition, None]: ...


# -- one partition -----------------------------------------------------------------------------------------------------


class PartitionGaugeValues(NamedTuple):
    """The values of a partition's gauges: the columns of ``emulator.protocol.events.PartitionGauges``."""

    leads: bool = False
    in_sync_replicas: int = 0
    replicas: int = 0
    under_replicated: bool = False
    under_min_isr: bool = False
    at_min_isr: bool = False
    reassigning: bool = False
    reassigned: int = 0


NOT_LEADING = PartitionGaugeValues()

shared = lru_cache(1024)(PartitionGaugeValues)
"""Partitions with equal figures share them: there are many partitions and few different figures."""


def figures(partition: MeasuredPartition, rule: UnderReplication, min_isr: int) -> PartitionGaugeValues:
    """The current values of a partition's gauges; ``min_isr``: the topic's min.insync.replicas."""
    if not partition.is_leader:
        return NOT_LEADING
    in_sync = len(partition.isr)
    return shared(
        True,
        in_sync,
        rule.replicas(partition),
        rule.missing(partition) > 0,
        in_sync < min_isr,
        in_sync == min_isr,
        bool(partition.adding or partition.removing),
        reassigned(partition),
    )


def reassigned(partition: MeasuredPartition) -> int:
    """|impending - current|, of which ReassignedCount is the sum: it counts replicas, not partitions (KIP-352's draft;
    readings §8)."""
    return sum(replica not in partition.current for replica in partition.impending)


class LastStableOffsetLags:
    """LastStableOffsetLag of every partition of a broker (KIP-98, 1.0): how many committed records are held back from
    readers of committed transactions. Only logs that have transactions have any; theirs change with each batch, and are
    computed once a second, for partitions that had one.

    Attributes:
        lags: the lags that are not 0, as last written.
        pending: the partitions whose lag is computed at the end of the second.
    """

    def __init__(self, process: Process, manager: MeasuredReplicas) -> None:
        self._process = process
        self._manager = manager
        self.pending: dict[MeasuredPartition, None] = {}
        self.lags: dict[MeasuredPartition, int] = {}

    def changed(self, partition: MeasuredPartition) -> None:
        """Take note of a change: the log of ``partition`` has transactions and has grown, its high watermark has moved,
        or it has a lag and its role has changed."""
        pending = self.pending
        if not pending:
            self._process.metrics.meters.add(self)
        pending[partition] = None

    def write(self) -> None:
        """Write the lags that have changed; called once a second."""
        changed, self.pending = self.pending, {}
        node = self._process.node.id
        for partition in changed:
            shown = partition.is_leader or self._manager.policies.followers_show_stability
            lag = partition.last_stable_offset_lag if shown else 0
            if lag == self.lags.get(partition, 0):
                continue
            if lag:
                self.lags[partition] = lag
            else:
                del self.lags[partition]
            self._process.emit(LastStableOffsetLag, node, partition.tp.topic, partition.tp.partition, lag)


# -- topics ------------------------------------------------------------------------------------------------------------


def _meter(metrics: Metrics, name: str, topic: str = "") -> Meter:
    return metrics.meter(mbean("kafka.server", "BrokerTopicMetrics", name, topic=topic))


class ClientMeters:
    """The meters of clients' bytes and messages, of one topic or (``""``) of all."""

    def __init__(self, metrics: Metrics, topic: str) -> None:
        self._metrics = metrics
        self._topic = topic
        self._in: tuple[Meter, Meter] | None = self._counted_in()
        self._bytes_out = _meter(metrics, "BytesOutPerSec", topic)

    def _counted_in(self) -> tuple[Meter, Meter]:
        names = ("MessagesInPerSec", "BytesInPerSec")
        messages, size = (_meter(self._metrics, name, self._topic) for name in names)
        return messages, size

    def add_since(self, messages_in: int, bytes_in: int, bytes_out: int, since_us: int) -> None:
        if self._in is None and messages_in:
            self._in = self._counted_in()
        if self._in is not None:
            self._in[0].add_since(messages_in, since_us)
            self._in[1].add_since(bytes_in, since_us)
        self._bytes_out.add_since(bytes_out, since_us)

    def stop_leading(self) -> None:
        """End the meters of produced bytes and messages: only a leader has them."""
        for meter in self._in or ():
            self._metrics.remove(meter)
        self._in = None

    def remove(self) -> None:
        self.stop_leading()
        self._metrics.remove(self._bytes_out)


@define(eq=False)
class Moved:
    """The counts of bytes and messages of one topic since the last second."""

    meters: ClientMeters
    messages_in: int = 0
    bytes_in: int = 0
    bytes_out: int = 0


class BrokerTopicMetrics:
    """BrokerTopicMetrics: the meters of one broker. Those of a topic exist from its first use on, as long as the broker
    has replicas of it. The bytes and messages of clients are counted with every batch, and given to the meters once a
    second.

    Attributes:
        requests: the counts of produce requests and fetches.
        replication_in, replication_out: the bytes that this broker appended as a follower, and sent to followers.
        reassignment_in, reassignment_out: the part of these bytes that belongs to replicas which are being added
            (KIP-352, 2.5).
    """

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._all = ClientMeters(metrics, "")
        self.requests = TopicRequests(metrics)
        self._topics: dict[str, ClientMeters] = {}
        self._moved: dict[str, Moved] = {}
        self._since_us = 0
        self._due = False
        self._hosted: dict[str, int] = {}
        """The number of replicas of each topic on the broker."""
        self.replication_in = _meter(metrics, "ReplicationBytesInPerSec")
        self.replication_out = _meter(metrics, "ReplicationBytesOutPerSec")
        self.reassignment_in = _meter(metrics, "ReassignmentBytesInPerSec")
        self.reassignment_out = _meter(metrics, "ReassignmentBytesOutPerSec")

    # -- which topics there are -----------------------------------------------------------------------------------

    def begin_replica(self, topic: str) -> None:
        """Count one replica more of ``topic``."""
        self._hosted[topic] = self._hosted.get(topic, 0) + 1

    def end_replica(self, topic: str) -> None:
        """Count one replica less. With the last one the topic's meters end (ReplicaManager.maybeRemoveTopicMetrics)."""
        self._hosted[topic] -= 1
        if not self._hosted[topic]:
            del self._hosted[topic]
            self.requests.end(topic)
            meters = self._counted(topic)
            if meters is not None:
                meters.remove()
                del self._topics[topic]

    def stop_leading(self, topic: str) -> None:
        """End the meters that only leaders have: the broker leads no partition of ``topic`` any more (KAFKA-8392,
        2.4)."""
        self.requests.end(topic, PRODUCES)
        meters = self._counted(topic)
        if meters is not None:
            meters.stop_leading()

    def measures(self, topic: str) -> bool:
        """Whether ``topic`` has meters that end with its last leader here."""
        return topic in self._topics or self.requests.counts_produces(topic)

    def _counted(self, topic: str) -> ClientMeters | None:
        """The meters of ``topic``, if it has any, with all counts up to now."""
        moved = self._moved.pop(topic, None)
        if moved is not None:
            for meters in (moved.meters, self._all):
                meters.add_since(moved.messages_in, moved.bytes_in, moved.bytes_out, self._since_us)
        return self._topics.get(topic)

    # -- what clients do --------------------------------------------------------------------------------------------

    def produced(self, topic: str, messages: int, size: int) -> None:
        """Count a producer's batch, which was appended."""
        moved = self._moved.get(topic) or self._begin(topic)
        moved.messages_in += messages
        moved.bytes_in += size

    def consumed(self, topic: str, size: int) -> None:
        """Count records that a consumer was sent."""
        moved = self._moved.get(topic) or self._begin(topic)
        moved.bytes_out += size

    def _begin(self, topic: str) -> Moved:
        if not self._due:
            self._due = True
            self._since_us = self._metrics.time_us()
            self._metrics.meters.add(self)
        meters = self._topics.get(topic)
        if meters is None:
            meters = self._topics[topic] = ClientMeters(self._metrics, topic)
        moved = self._moved[topic] = Moved(meters)
        return moved

    def write(self) -> None:
        """Give the counts to the meters; called once a second."""
        all_moved, self._moved, self._due = self._moved.values(), {}, False
        for moved in all_moved:
            moved.meters.add_since(moved.messages_in, moved.bytes_in, moved.bytes_out, self._since_us)
        self._all.add_since(
            sum(moved.messages_in for moved in all_moved),
            sum(moved.bytes_in for moved in all_moved),
            sum(moved.bytes_out for moved in all_moved),
            self._since_us,
        )


# -- the broker --------------------------------------------------------------------------------------------------------


def _name(name: str) -> str:
    return mbean("kafka.server", "ReplicaManager", name)


SUMS = {
    "leads": "LeaderCount",
    "under_replicated": "UnderReplicatedPartitions",
    "under_min_isr": "UnderMinIsrPartitionCount",
    "at_min_isr": "AtMinIsrPartitionCount",
    "reassigning": "ReassigningPartitions",
    "reassigned": "ReassignedCount",
}
"""The gauges of the broker that are sums, by the figure of a partition that each sums up."""
_REASSIGNING = PartitionGaugeValues._fields.index("reassigning")
_SUMMED = tuple((PartitionGaugeValues._fields.index(figure), name) for figure, name in SUMS.items())


class ReplicaManagerMetrics:
    """The gauges and meters of one broker.

    Attributes:
        topics: BrokerTopicMetrics.
        rates: of the requests that are answered.
        produces: the produce requests that wait.
        stable: LastStableOffsetLag of each partition.
    """

    def __init__(self, process: Process, manager: MeasuredReplicas) -> None:
        metrics = process.metrics
        self._process = process
        self._manager = manager
        self._partitions = metrics.gauge(_name("PartitionCount"))
        self._sums = tuple((index, metrics.gauge(_name(name))) for index, name in _SUMMED)
        self._totals = [0] * len(PartitionGaugeValues._fields)
        self._offline = metrics.gauge(_name("OfflineReplicaCount"))
        self._isr_writes = {
            "expand": metrics.meter(_name("IsrExpandsPerSec")),
            "shrink": metrics.meter(_name("IsrShrinksPerSec")),
        }
        self._failed_isr_writes = metrics.meter(_name("FailedIsrUpdatesPerSec"))
        self.topics = BrokerTopicMetrics(metrics)
        self.rates = RequestRates(metrics)
        self.produces = ProducePurgatory(metrics)
        self.stable = LastStableOffsetLags(process, manager)

    def changed(self, partition: MeasuredPartition) -> None:
        """Recompute the figures of ``partition`` after its ISR, replicas or role changed. Call ``show`` at the end of
        the transition."""
        if not partition.is_leader and partition.figures is NOT_LEADING:
            return
        policies = self._manager.policies
        least = partition.effective_min_isr(policies.min_insync_replicas(partition.tp.topic))
        now = figures(partition, policies.under_replication, least)
        before = partition.figures
        if now is before or now == before:
            return
        partition.figures = now
        for index, _gauge in self._sums:
            self._totals[index] += now[index] - before[index]
        tp = partition.tp
        self._process.emit(PartitionGauges, self._process.node.id, tp.topic, tp.partition, *now)
        if partition in self.stable.lags:
            self.stable.changed(partition)

    @property
    def reassigning(self) -> bool:
        """Whether a reassignment adds or removes a replica of any partition that this broker leads."""
        return self._totals[_REASSIGNING] > 0

    def show(self) -> None:
        """Write the broker's gauges; called at the end of a transition."""
        manager = self._manager
        self._offline.set(len(manager.offline))
        self._partitions.set(len(manager.partitions) + len(manager.offline))
        for index, gauge in self._sums:
            gauge.set(self._totals[index])

    def configured(self, before: CountingRules) -> None:
        """Recompute the gauges that depend on min.insync.replicas, because settings have changed."""
        manager = self._manager
        if manager.policies.all_min_insync_replicas != before.all_min_insync_replicas:
            for partition in manager.partitions.values():
                self.changed(partition)
            self.show()

    def isr_written(self, partition: MeasuredPartition, kind: str) -> None:
        """Count an ISR change that took effect. ``kind``: ``expand`` or ``shrink``."""
        self._isr_writes[kind].mark()
        self.changed(partition)
        self.show()

    def isr_write_failed(self) -> None:
        """Count an ISR change that failed because the partition's state has a newer version."""
        self._failed_isr_writes.mark()
