"""The controller's memory: brokers, assignments, leaders, states and reassignments.

It is loaded at failover and updated by the controller's own writes and by events. It can be stale (an ISR that a leader
has changed and not announced yet), which is why elections read ZooKeeper again (kafka-behaviour §4).
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeVar

from attrs import define, field, fields

from controller.move import Move
from controller.states import PartitionState, ReplicaState
from emulator.protocol.assignments import NOT_REASSIGNED, ReassigningReplicas, ReplicaAssignment, Replicas
from emulator.protocol.types import NO_LEADER, TopicPartition
from emulator.protocol.znodes import LeaderAndIsr

Replica = tuple[TopicPartition, int]
"""One replica: its partition and its broker."""
NO_CONTROLLER = -1
"""The controller's id where no broker is the controller."""

V = TypeVar("V")


class Tracked(dict[TopicPartition, V]):
    """A dictionary by partition that records in ``touched`` each partition whose entry is written or removed, so that
    totals over all partitions need not be counted again."""

    __slots__ = ("touched",)

    def __init__(self, touched: dict[TopicPartition, None]) -> None:
        super().__init__()
        self.touched = touched

    def __setitem__(self, tp: TopicPartition, value: V) -> None:
        self.touched[tp] = None
        super().__setitem__(tp, value)

    def __delitem__(self, tp: TopicPartition) -> None:
        self.touched[tp] = None
        super().__delitem__(tp)

    def pop(self, tp: TopicPartition, *default: Any) -> Any:
        self.touched[tp] = None
        return super().pop(tp, *default)

    def update(self, values: Mapping[TopicPartition, V]) -> None:  # type: ignore[override]
        self.touched.update(dict.fromkeys(values))
        super().update(values)


Topics = dict[str, None]
"""Topics in the order in which they were added."""


@define(eq=False)
class Deletions:
    """The topics that are being deleted. What has to survive this controller is in ZooKeeper.

    Attributes:
        queued: the topics to be deleted (Kafka's topicsToBeDeleted).
        begun: those of them whose partitions have left the partition state machine (topicsWithDeletionStarted). From
            then on the brokers' responses to StopReplica matter.
        ineligible: those of them that wait for a broker to start or a reassignment to end
            (topicsIneligibleForDeletion).
        retrying: those of them with replicas that could not be deleted and none that is being deleted. They are checked
            again whenever any deletion is.
        discounted: how much lower than the truth PreferredReplicaImbalanceCount is (KAFKA-13572).
    """

    queued: Topics = field(factory=dict)
    begun: Topics = field(factory=dict)
    ineligible: Topics = field(factory=dict)
    retrying: Topics = field(factory=dict)
    discounted: int = 0

    def discard(self, topic: str) -> None:
        """Remove the topic, which is deleted in memory."""
        for topics in (self.queued, self.begun, self.ineligible, self.retrying):
            topics.pop(topic, None)


@define(eq=False, repr=False)
class ControllerContext:
    """The memory of one controller epoch.

    Attributes:
        epoch: the controller epoch, 0 while this controller is not active.
        epoch_zk_version: the version of /controller_epoch that every write is checked against.
        brokers: live and shutting-down brokers with their broker epochs, in ascending order.
        assignments: topic -> partition -> replicas in order of preference.
        reassigning: the adding and removing replicas, by topic and partition, of those that KIP-455 is reassigning.
        topic_ids: the ids of the topics; empty before KIP-516 (2.8).
        leadership_info: the last known content of each state znode.
        replica_states: broker -> partition -> state: with a key for each replica it would be the largest table.
        offline_dirs: broker -> partitions whose log directory there is offline.
        reassignments: the requested moves that are not done, of /admin/reassign_partitions or the API.
        touched: the partitions whose assignment, leadership or state has changed since the gauges were last updated.
        replicas_changed: whether the state of any replica or the queue of deletions has changed since then.
        deletions: the topics that /admin/delete_topics names and that are not deleted yet.
    """

    epoch: int = 0
    epoch_zk_version: int = -1
    brokers: dict[int, int] = field(factory=dict)
    shutting_down: dict[int, None] = field(factory=dict)
    assignments: dict[str, dict[int, Replicas]] = field(factory=dict)
    reassigning: dict[str, dict[int, ReassigningReplicas]] = field(factory=dict)
    topic_ids: dict[str, str] = field(factory=dict)
    touched: dict[TopicPartition, None] = field(factory=dict)
    leadership_info: Tracked[LeaderAndIsr] = field(init=False)
    partition_states: Tracked[PartitionState] = field(init=False)
    replica_states: dict[int, dict[TopicPartition, ReplicaState]] = field(factory=dict)
    offline_dirs: dict[int, dict[TopicPartition, None]] = field(factory=dict)
    reassignments: dict[TopicPartition, Move] = field(factory=dict)
    deletions: Deletions = field(factory=Deletions)
    replicas_changed: bool = False
    _partitions: dict[str, tuple[TopicPartition, ...]] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        self.leadership_info = Tracked(self.touched)
        self.partition_states = Tracked(self.touched)

    def reset(self) -> None:
        fresh = ControllerContext()
        for attribute in fields(ControllerContext):
            setattr(self, attribute.name, getattr(fresh, attribute.name))

    # -- brokers ------------------------------------------------------------------------------------------------------

    @property
    def live_or_shutting_down(self) -> Replicas:
        return tuple(self.brokers)

    @property
    def live(self) -> Replicas:
        return tuple(broker for broker in self.brokers if broker not in self.shutting_down)

    def set_brokers(self, brokers: Iterable[tuple[int, int]]) -> None:
        self.brokers = dict(sorted(brokers))

    def add_brokers(self, brokers: Iterable[tuple[int, int]]) -> None:
        self.set_brokers([*self.brokers.items(), *brokers])

    def remove_brokers(self, brokers: Iterable[int]) -> None:
        for broker in brokers:
            del self.brokers[broker]

    def is_online(self, broker: int, tp: TopicPartition, *, include_shutting_down: bool = False) -> bool:
        """Whether the replica of ``tp`` on ``broker`` is online: the broker live, the log directory not offline.

        ``include_shutting_down``: whether a broker that is shutting down counts as live.
        """
        if broker not in self.brokers or (broker in self.shutting_down and not include_shutting_down):
            return False
        offline = self.offline_dirs.get(broker)
        return not offline or tp not in offline

    @property
    def any_dir_offline(self) -> bool:
        """Whether any live broker has an offline log directory. Otherwise a replica is online if its broker is."""
        return any(self.offline_dirs.values())

    def online(self, tp: TopicPartition) -> Replicas:
        """The assigned replicas of ``tp`` that are online, in order of preference."""
        replicas = self.replicas(tp)
        up = tuple([replica for replica in replicas if self.is_online(replica, tp)])
        return replicas if len(up) == len(replicas) else up

    # -- assignments --------------------------------------------------------------------------------------------------

    def replicas(self, tp: TopicPartition) -> Replicas:
        """The assignment of ``tp``; empty where there is no such partition."""
        topic, partition = tp
        of_topic = self.assignments.get(topic)
        return () if of_topic is None else of_topic.get(partition, ())

    def leader(self, tp: TopicPartition) -> int:
        """The last known leader of ``tp``, -1 where it has none."""
        state = self.leadership_info.get(tp)
        return NO_LEADER if state is None else state.leader

    def assign(self, tp: TopicPartition, replicas: Iterable[int]) -> None:
        self.touched[tp] = None
        self.assignments.setdefault(tp.topic, {})[tp.partition] = tuple(replicas)

    def adding_and_removing(self, tp: TopicPartition) -> ReassigningReplicas:
        """The adding and the removing replicas; both empty unless KIP-455 is reassigning ``tp``."""
        of_topic = self.reassigning.get(tp.topic)
        return NOT_REASSIGNED if of_topic is None else of_topic.get(tp.partition, NOT_REASSIGNED)

    def full_assignment(self, tp: TopicPartition) -> ReplicaAssignment:
        """RS, AR and RR; all empty where there is no such partition."""
        return ReplicaAssignment(self.replicas(tp), *self.adding_and_removing(tp))

    def assign_fully(self, tp: TopicPartition, assignment: ReplicaAssignment) -> None:
        self.assign(tp, assignment.replicas)
        of_topic = self.reassigning.setdefault(tp.topic, {})
        of_topic[tp.partition] = assignment.reassigning
        if not assignment.being_reassigned:
            del of_topic[tp.partition]
        if not of_topic:
            del self.reassigning[tp.topic]

    def partitions(self) -> Iterator[TopicPartition]:
        for topic in self.assignments:
            yield from self.partitions_of(topic)

    def replicas_on(self, brokers: Iterable[int]) -> list[Replica]:
        return [(tp, b) for b in brokers for tp in self.partitions() if b in self.replicas(tp)]

    def partitions_of(self, topic: str) -> tuple[TopicPartition, ...]:
        numbers = self.assignments.get(topic, {})
        known = self._partitions.get(topic, ())
        if len(known) != len(numbers):
            known = self._partitions[topic] = tuple([TopicPartition.of(topic, number) for number in numbers])
        return known

    def replicas_of(self, topic: str) -> list[Replica]:
        return [(tp, broker) for tp in self.partitions_of(topic) for broker in self.replicas(tp)]

    def remove_topic(self, topic: str) -> None:
        self.reassigning.pop(topic, None)
        self.topic_ids.pop(topic, None)
        for tp in self.partitions_of(topic):
            self.leadership_info.pop(tp, None)
            self.partition_states.pop(tp, None)
            for states in self.replica_states.values():
                states.pop(tp, None)
        self.assignments.pop(topic, None)
        self._partitions.pop(topic, None)

    def is_deleting(self, topic: str) -> bool:
        """Whether the topic is queued for deletion, begun or not. Then its partitions get no leader."""
        return topic in self.deletions.queued

    def queue_deletion(self, topic: str) -> None:
        self.deletions.queued[topic] = None
        self._deletion_changed(topic)

    def begin_deletion(self, topic: str) -> None:
        """Mark the deletion as begun: the topic's partitions have left the state machine."""
        self.deletions.begun[topic] = None
        self._deletion_changed(topic)

    def _deletion_changed(self, topic: str) -> None:
        self.replicas_changed = True
        self.touched.update(dict.fromkeys(self.partitions_of(topic)))

    # -- states -------------------------------------------------------------------------------------------------------

    def partition_state(self, tp: TopicPartition) -> PartitionState:
        return self.partition_states.get(tp, PartitionState.NON_EXISTENT)

    def replica_state(self, tp: TopicPartition, broker: int) -> ReplicaState:
        return self.replica_states_on(broker).get(tp, ReplicaState.NON_EXISTENT)

    def replica_states_on(self, broker: int) -> Mapping[TopicPartition, ReplicaState]:
        """The replicas on ``broker`` that exist."""
        return self.replica_states.get(broker, {})

    def set_replica_states(self, broker: int, partitions: Iterable[TopicPartition], state: ReplicaState) -> None:
        self.replicas_changed = True
        self.replica_states.setdefault(broker, {}).update(dict.fromkeys(partitions, state))

    def forget_replica(self, tp: TopicPartition, broker: int) -> None:
        """Remove the replica, which no longer exists."""
        self.replicas_changed = True
        del self.replica_states[broker][tp]

    def partitions_in(self, *states: PartitionState) -> list[TopicPartition]:
        return [tp for tp, state in self.partition_states.items() if state in states]
