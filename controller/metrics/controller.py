"""The gauges of KafkaController. As in Kafka they are brought up to date after each event; here only for the partitions
that the event touched."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from controller.context import Context
from controller.states.names import PartitionState, ReplicaState
from emulator.metrics import Gauge, mbean
from emulator.protocol.types import TopicPartition

if TYPE_CHECKING:
    from controller.controller import Controller

IsOffline = Callable[[Context, TopicPartition], bool]


def is_offline_by_state(context: Context, tp: TopicPartition) -> bool:
    """It is in state Offline, and the deletion of its topic has not begun (Kafka 2.x)."""
    offline = context.partition_state(tp) is PartitionState.OFFLINE
    return offline and tp.topic not in context.deletions.begun


def is_offline_by_leader(context: Context, tp: TopicPartition) -> bool:
    """Its last known leader is no live broker, and its topic is not queued for deletion (up to Kafka 1.1)."""
    known = context.leadership.get(tp)
    return known is not None and known.leader not in context.brokers and not context.is_deleting(tp.topic)


def is_imbalanced(context: Context, tp: TopicPartition) -> bool:
    """It is led by another than its preferred replica. While a reassignment adds that one, it counts for imbalanced
    once it is in the ISR (KAFKA-8345, 2.4)."""
    known, replicas = context.leadership.get(tp), context.replicas(tp)
    if known is None or not replicas or context.is_deleting(tp.topic):
        return False
    adding, _removing = context.motion(tp)
    return replicas[0] in known.isr if replicas[0] in adding else known.leader != replicas[0]


class ControllerMetrics:
    """Of one broker's controller; all are 0 while it is not the active one."""

    def __init__(self, controller: "Controller", is_offline: IsOffline) -> None:
        def gauge(name: str) -> Gauge:
            return controller.process.metrics.gauge(mbean("kafka.controller", "KafkaController", name))

        self._controller = controller
        self._is_offline = is_offline
        self._epoch = 0
        self._brokers: dict[int, int] = {}
        self._offline: dict[TopicPartition, None] = {}
        self._imbalanced: dict[TopicPartition, None] = {}
        self._active_count = gauge("ActiveControllerCount")
        self._offline_count = gauge("OfflinePartitionsCount")
        self._imbalanced_count = gauge("PreferredReplicaImbalanceCount")
        self._topics = gauge("GlobalTopicCount")
        self._partitions = gauge("GlobalPartitionCount")
        self._deletions = DeletionGauges(gauge)

    def show(self) -> None:
        """An event is over."""
        c = self._controller
        context = c.context
        if context.epoch != self._epoch:
            self._epoch = context.epoch
            self._offline.clear()
            self._imbalanced.clear()
        if context.brokers is not self._brokers:
            self._brokers = context.brokers
            context.touched.update(self._offline)
        self._look_again(context)
        active = int(c.is_active)
        self._active_count.set(active)
        self._offline_count.set(active * len(self._offline))
        self._imbalanced_count.set(active * len(self._imbalanced))
        self._topics.set(active * len(context.assignments))
        self._partitions.set(active * len(context.leadership))
        self._deletions.show(context)

    def show_active(self) -> None:
        """Whether it is the active controller can be seen at once, in the middle of an event."""
        self._active_count.set(int(self._controller.is_active))

    def _look_again(self, context: Context) -> None:
        touched = context.touched
        for tp in touched:
            for found, now in (
                (self._offline, self._is_offline(context, tp)),
                (self._imbalanced, is_imbalanced(context, tp)),
            ):
                if now:
                    found[tp] = None
                else:
                    found.pop(tp, None)
        touched.clear()


class DeletionGauges:
    """What is to be deleted and what cannot be now (KIP-503, Kafka 2.4). Looked at only after a state of a replica or
    the queue has changed while there is something in it."""

    def __init__(self, gauge: Callable[[str], Gauge]) -> None:
        self._topics = gauge("TopicsToDeleteCount")
        self._replicas = gauge("ReplicasToDeleteCount")
        self._ineligible_topics = gauge("TopicsIneligibleToDeleteCount")
        self._ineligible_replicas = gauge("ReplicasIneligibleToDeleteCount")

    def show(self, context: Context) -> None:
        deletions = context.deletions
        self._topics.set(len(deletions.queued))
        self._ineligible_topics.set(len(deletions.ineligible))
        if not deletions.queued:
            self._replicas.set(0)
            self._ineligible_replicas.set(0)
        elif context.replicas_changed:
            replicas = [replica for topic in deletions.queued for replica in context.replicas_of(topic)]
            states = [context.replica_state(*replica) for replica in replicas]
            self._replicas.set(sum(state is not ReplicaState.DELETION_SUCCESSFUL for state in states))
            self._ineligible_replicas.set(sum(state is ReplicaState.DELETION_INELIGIBLE for state in states))
        context.replicas_changed = False
