"""The gauges of KafkaController. As in Kafka they are updated after each event; here only for the partitions that the
event touched."""

from collections.abc import Callable

from controller.context import ControllerContext
from controller.states import PartitionState, ReplicaState
from emulator.metrics import Gauge, mbean
from emulator.nodes import Process
from emulator.protocol.types import TopicPartition

IsOffline = Callable[[ControllerContext, TopicPartition], bool]

GAUGES = (
    "ActiveControllerCount",
    "OfflinePartitionsCount",
    "PreferredReplicaImbalanceCount",
    "GlobalTopicCount",
    "GlobalPartitionCount",
    "TopicsToDeleteCount",
    "ReplicasToDeleteCount",
    "TopicsIneligibleToDeleteCount",
    "ReplicasIneligibleToDeleteCount",
)
"""The gauges, in the order in which they are registered."""


def is_offline_by_state(context: ControllerContext, tp: TopicPartition) -> bool:
    """Whether a partition is in state Offline and the deletion of its topic has not begun (Kafka 2.x)."""
    offline = context.partition_state(tp) is PartitionState.OFFLINE
    return offline and tp.topic not in context.deletions.begun


def is_offline_by_leader(context: ControllerContext, tp: TopicPartition) -> bool:
    """Whether the last known leader of a partition is not a live broker and its topic is not queued for deletion (up to
    Kafka 1.1)."""
    known = context.leadership_info.get(tp)
    return known is not None and known.leader not in context.brokers and not context.is_deleting(tp.topic)


def is_imbalanced(context: ControllerContext, tp: TopicPartition) -> bool:
    """Whether the leader of a partition is not its preferred replica. While a reassignment adds the preferred replica,
    the partition counts as imbalanced once that replica is in the ISR (KAFKA-8345, 2.4)."""
    return not context.is_deleting(tp.topic) and lacks_preferred_leader(context, tp)


def lacks_preferred_leader(context: ControllerContext, tp: TopicPartition) -> bool:
    """Whether a partition counts as imbalanced, as long as its topic is not to be deleted
    (ControllerContext.hasPreferredLeader, 2.7)."""
    known, replicas = context.leadership_info.get(tp), context.replicas(tp)
    if known is None or not replicas:
        return False
    preferred = replicas[0]
    if context.reassigning and preferred in context.adding_and_removing(tp).adding:
        return preferred in known.isr
    return known.leader != preferred


class ControllerMetrics:
    """The gauges of one broker's controller; all are 0 while it is not the active one.

    Attributes:
        context: the memory of the controller, which is counted.
        keeps_offline: whether OfflinePartitionsCount stays as it was when the controller resigns (before KAFKA-1068,
            0.8.0).
        offline: the partitions that OfflinePartitionsCount counts.
        imbalanced: the partitions that PreferredReplicaImbalanceCount counts.
        gauges: the gauges by their name in the MBean.
    """

    def __init__(
        self, process: Process, context: ControllerContext, is_offline: IsOffline, *, keeps_offline: bool
    ) -> None:
        self.process = process
        self.context = context
        self.is_offline = is_offline
        self.keeps_offline = keeps_offline
        self.offline: dict[TopicPartition, None] = {}
        self.imbalanced: dict[TopicPartition, None] = {}
        self.gauges: dict[str, Gauge] = {
            name: process.metrics.gauge(mbean("kafka.controller", "KafkaController", name)) for name in GAUGES
        }
        self._epoch = 0
        self._brokers: dict[int, int] = {}

    def show(self, *, active: bool) -> None:
        """Update all gauges after an event. ``active``: whether this is the active controller."""
        context, gauges = self.context, self.gauges
        if context.epoch != self._epoch:
            self._epoch = context.epoch
            self.offline.clear()
            self.imbalanced.clear()
        if context.brokers is not self._brokers:
            self._brokers = context.brokers
            context.touched.update(self.offline)
        self._count_touched(context)
        gauges["ActiveControllerCount"].set(int(active))
        if active or not self.keeps_offline:
            gauges["OfflinePartitionsCount"].set(active * len(self.offline))
        gauges["PreferredReplicaImbalanceCount"].set(active * (len(self.imbalanced) - context.deletions.discounted))
        gauges["GlobalTopicCount"].set(active * len(context.assignments))
        gauges["GlobalPartitionCount"].set(active * len(context.leadership_info))
        self._show_deletions(context)

    def show_active(self, *, active: bool) -> None:
        """Update ActiveControllerCount at once, in the middle of an event."""
        self.gauges["ActiveControllerCount"].set(int(active))

    def _count_touched(self, context: ControllerContext) -> None:
        touched, offline, imbalanced, is_offline = context.touched, self.offline, self.imbalanced, self.is_offline
        for tp in touched:
            if is_offline(context, tp):
                offline[tp] = None
            elif offline:
                offline.pop(tp, None)
            if is_imbalanced(context, tp):
                imbalanced[tp] = None
            elif imbalanced:
                imbalanced.pop(tp, None)
        touched.clear()

    def _show_deletions(self, context: ControllerContext) -> None:
        """Set the gauges of topics and replicas to delete, and of those that cannot be deleted now (KIP-503, Kafka
        2.4). Replicas are counted only after the state of one or the queue has changed while there is a topic in the
        queue."""
        deletions, gauges = context.deletions, self.gauges
        gauges["TopicsToDeleteCount"].set(len(deletions.queued))
        gauges["TopicsIneligibleToDeleteCount"].set(len(deletions.ineligible))
        if not deletions.queued:
            gauges["ReplicasToDeleteCount"].set(0)
            gauges["ReplicasIneligibleToDeleteCount"].set(0)
        elif context.replicas_changed:
            replicas = [replica for topic in deletions.queued for replica in context.replicas_of(topic)]
            states = [context.replica_state(*replica) for replica in replicas]
            deleted = states.count(ReplicaState.DELETION_SUCCESSFUL)
            gauges["ReplicasToDeleteCount"].set(len(states) - deleted)
            gauges["ReplicasIneligibleToDeleteCount"].set(states.count(ReplicaState.DELETION_INELIGIBLE))
        context.replicas_changed = False
