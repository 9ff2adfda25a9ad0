"""The controller's memory: what it believes of brokers, assignments, leaders, states and moves.

Loaded at failover, kept up by its own writes and by the events; it can be stale (an ISR that a leader has
changed and not announced yet), which is why elections read ZooKeeper again (kafka-behaviour §4).
"""

from collections.abc import Iterable, Iterator, Mapping

from attrs import define, field, fields

from controller.deletions import Deletions
from controller.noted import Noted
from controller.reassignment.move import Move
from controller.states.names import PartitionState, ReplicaState
from emulator.protocol.assignments import Motion, ReplicaAssignment, Replicas
from emulator.protocol.types import NO_LEADER, TopicPartition
from emulator.protocol.znodes import LeaderAndIsr

Replica = tuple[TopicPartition, int]
"""One replica: its partition and its broker."""
NOBODY = -1
"""Where a controller's id would stand and there is none."""

AT_REST: Motion = ((), ())
"""Nothing added, nothing removed."""


@define(eq=False, repr=False)
class Context:
    """One term's memory.

    Attributes:
        epoch: the controller epoch, 0 outside a term.
        epoch_zk_version: the version of /controller_epoch that every write of this term is checked against.
        brokers: live and shutting-down brokers with their broker epochs, in ascending order.
        assignments: topic -> partition -> replicas in order of preference.
        motions: topic -> partition -> AR and RR, beside the assignments of those that KIP-455 is reassigning.
        leadership: the last known content of each state znode.
        replica_states: broker -> partition -> state: a key for each replica would be the largest table of a term.
        offline_dirs: broker -> partitions whose log directory there is offline.
        moves: what was asked for, by way of /admin/reassign_partitions or the API, and is not done.
        touched: the partitions whose assignment, leadership or state has changed since the gauges were last brought up
            to date; ``replicas_changed``: whether the state of any replica has, or the queue of deletions.
        deletions: what /admin/delete_topics asks for and is not done.
    """

    epoch: int = 0
    epoch_zk_version: int = -1
    brokers: dict[int, int] = field(factory=dict)
    shutting_down: dict[int, None] = field(factory=dict)
    assignments: dict[str, dict[int, Replicas]] = field(factory=dict)
    motions: dict[str, dict[int, Motion]] = field(factory=dict)
    touched: dict[TopicPartition, None] = field(factory=dict)
    leadership: Noted[LeaderAndIsr] = field(init=False)
    partition_states: Noted[PartitionState] = field(init=False)
    replica_states: dict[int, dict[TopicPartition, ReplicaState]] = field(factory=dict)
    offline_dirs: dict[int, dict[TopicPartition, None]] = field(factory=dict)
    moves: dict[TopicPartition, Move] = field(factory=dict)
    deletions: Deletions = field(factory=Deletions)
    replicas_changed: bool = False
    _partitions: dict[str, tuple[TopicPartition, ...]] = field(factory=dict)

    def __attrs_post_init__(self) -> None:
        self.leadership = Noted(self.touched)
        self.partition_states = Noted(self.touched)

    def reset(self) -> None:
        """Forget everything: the term is over."""
        fresh = Context()
        for attribute in fields(Context):
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

    def is_online(self, broker: int, tp: TopicPartition) -> bool:
        """Is the replica of ``tp`` on ``broker`` up: the broker live, the log directory not offline?"""
        if broker not in self.brokers or broker in self.shutting_down:
            return False
        offline = self.offline_dirs.get(broker)
        return not offline or tp not in offline

    def online(self, tp: TopicPartition) -> Replicas:
        """The assigned replicas of ``tp`` that are up, in order of preference."""
        replicas = self.replicas(tp)
        up = tuple([replica for replica in replicas if self.is_online(replica, tp)])
        return replicas if len(up) == len(replicas) else up

    # -- assignments --------------------------------------------------------------------------------------------------

    def replicas(self, tp: TopicPartition) -> Replicas:
        """The assignment of ``tp``; empty where there is no such partition."""
        return self.assignments.get(tp.topic, {}).get(tp.partition, ())

    def leader(self, tp: TopicPartition) -> int:
        """The last known leader of ``tp``, -1 where it has none."""
        state = self.leadership.get(tp)
        return NO_LEADER if state is None else state.leader

    def assign(self, tp: TopicPartition, replicas: Iterable[int]) -> None:
        self.touched[tp] = None
        self.assignments.setdefault(tp.topic, {})[tp.partition] = tuple(replicas)

    def motion(self, tp: TopicPartition) -> Motion:
        """AR and RR; both empty unless KIP-455 is reassigning ``tp``."""
        motions = self.motions.get(tp.topic)
        return AT_REST if motions is None else motions.get(tp.partition, AT_REST)

    def full_assignment(self, tp: TopicPartition) -> ReplicaAssignment:
        """RS, AR and RR; all empty where there is no such partition."""
        return ReplicaAssignment(self.replicas(tp), *self.motion(tp))

    def assign_fully(self, tp: TopicPartition, assignment: ReplicaAssignment) -> None:
        self.assign(tp, assignment.replicas)
        motions = self.motions.setdefault(tp.topic, {})
        motions[tp.partition] = assignment.motion
        if not assignment.being_reassigned:
            del motions[tp.partition]
        if not motions:
            del self.motions[tp.topic]

    def partitions(self) -> Iterator[TopicPartition]:
        for topic in self.assignments:
            yield from self.partitions_of(topic)

    def replicas_on(self, brokers: Iterable[int]) -> list[Replica]:
        """All replicas on ``brokers``, broker by broker."""
        return [(tp, b) for b in brokers for tp in self.partitions() if b in self.replicas(tp)]

    def partitions_of(self, topic: str) -> tuple[TopicPartition, ...]:
        """Of a topic, in order."""
        numbers = self.assignments.get(topic, {})
        known = self._partitions.get(topic, ())
        if len(known) != len(numbers):
            known = self._partitions[topic] = tuple([TopicPartition.of(topic, number) for number in numbers])
        return known

    def replicas_of(self, topic: str) -> list[Replica]:
        """All replicas of a topic, partition by partition."""
        return [(tp, broker) for tp in self.partitions_of(topic) for broker in self.replicas(tp)]

    def remove_topic(self, topic: str) -> None:
        self.motions.pop(topic, None)
        for tp in self.partitions_of(topic):
            self.leadership.pop(tp, None)
            self.partition_states.pop(tp, None)
            for states in self.replica_states.values():
                states.pop(tp, None)
        self.assignments.pop(topic, None)
        self._partitions.pop(topic, None)

    def is_deleting(self, topic: str) -> bool:
        """Is the topic queued for deletion, begun or not? Then nobody is told of a leader of it, or elected."""
        return topic in self.deletions.queued

    def queue_deletion(self, topic: str) -> None:
        """The topic is to be deleted."""
        self.deletions.add(topic)
        self._deletion_changed(topic)

    def begin_deletion(self, topic: str) -> None:
        """Its partitions have left the state machine."""
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
        states = self.replica_states.setdefault(broker, {})
        for tp in partitions:
            states[tp] = state

    def forget_replica(self, tp: TopicPartition, broker: int) -> None:
        """The replica does not exist any more."""
        self.replicas_changed = True
        del self.replica_states[broker][tp]

    def partitions_in(self, *states: PartitionState) -> list[TopicPartition]:
        return [tp for tp, state in self.partition_states.items() if state in states]
