"""The differences between the controller page's replica state machine and Kafka's code (readings §3 and §4)."""

from collections.abc import Callable, Mapping, Sequence

from attrs import frozen

from controller.context import Replica
from controller.states import PAGE_REPLICA_PREDECESSORS, REPLICA_PREDECESSORS, ReplicaState
from emulator.protocol.assignments import Replicas
from emulator.protocol.scala_order import ScalaCollections

Recipients = Callable[[tuple[int, ...], int], tuple[int, ...]]


def as_named(brokers: Replicas, collections: ScalaCollections) -> Replicas:
    """The brokers in the order in which the change names them (the controller page; Kafka 0.8)."""
    return brokers


def as_grouped(brokers: Replicas, collections: ScalaCollections) -> Replicas:
    """The brokers as ``groupBy`` has them (Kafka since 1.1)."""
    return collections.group_order(brokers)


def as_listed(replicas: Sequence[Replica], collections: ScalaCollections) -> Sequence[Replica]:
    """The replicas of a topic by partition, and in the order of its assignment."""
    return replicas


def as_in_set(replicas: Sequence[Replica], collections: ScalaCollections) -> Sequence[Replica]:
    """The replicas of a topic as the set has them that Kafka makes of them, partition by partition."""
    by_partition: dict[int, list[Replica]] = {}
    for replica in replicas:
        by_partition.setdefault(replica[0].partition, []).append(replica)
    numbers = collections.map_order(by_partition)
    return collections.set_order(tuple(each for number in numbers for each in by_partition[number]))


def all_others(others: tuple[int, ...], leader: int) -> tuple[int, ...]:
    """The brokers that get a shrunk ISR: every other replica of the assignment in memory (Kafka since 1.1)."""
    return others


def leader_only(others: tuple[int, ...], leader: int) -> tuple[int, ...]:
    """The broker that gets a shrunk ISR: the leader, assigned or not (the controller page; Kafka 0.8)."""
    return (leader,)


@frozen
class ReplicaRules:
    """One way to run the replica state machine.

    Attributes:
        predecessors: the states from which each state can be reached.
        broker_order: the order in which the brokers of one change are gone through, and so leave the ISRs
            (ReplicaStateMachine.handleStateChanges: ``groupBy`` since 1.1), with the collections of the build.
        order_in_topic: the order in which the replicas of a topic that is deleted are gone through, and so their
            brokers where ``broker_order`` keeps that in which they are met (ControllerContext.replicasForTopic).
        deletion: the states an offline replica goes through to be deleted; the first one sends StopReplica(delete).
        unreachable: the state in which a new controller starts a replica whose broker is down.
        shrink_at_failover: whether it then also removes that replica from the ISR (Kafka since 2.3, KAFKA-3143).
        told_of_shrunk_isr: the brokers that get LeaderAndIsr after a replica has left the ISR.
        stops_offline: whether a replica that goes offline is sent StopReplica(keep).
        trusts_memory: whether the ISR in memory decides if an offline replica has to leave it; where it is outside,
            only its state changes. Otherwise ZooKeeper is read, and the ISR is sent even where nothing changes.
        leaderless_go_offline: whether a replica of a partition that never had a leader becomes Offline, of which
            UpdateMetadata is sent (KAFKA-6650, 2.0). Otherwise it keeps its state, and its topic cannot be deleted.
        keeps_last_in_isr: whether the last member of an ISR stays in it when it goes offline (KAFKA-1028, 0.8.2).
        offline_lead_no_longer: whether a leader that leaves the ISR as it goes offline is the leader no longer
            (KAFKA-708, 0.8.0, before its release).
    """

    predecessors: Mapping[ReplicaState, tuple[ReplicaState, ...]]
    deletion: tuple[ReplicaState, ...]
    unreachable: ReplicaState
    shrink_at_failover: bool
    told_of_shrunk_isr: Recipients
    broker_order: Callable[[Replicas, ScalaCollections], Replicas] = as_grouped
    order_in_topic: Callable[[Sequence[Replica], ScalaCollections], Sequence[Replica]] = as_listed
    stops_offline: bool = True
    trusts_memory: bool = False
    leaderless_go_offline: bool = True
    keeps_last_in_isr: bool = True
    offline_lead_no_longer: bool = True

    @property
    def know_topic_deletion(self) -> bool:
        """Whether replicas have states for deletion. Rules without them are older than topic deletion."""
        return ReplicaState.DELETION_STARTED in self.predecessors


SEVEN_STATES = ReplicaRules(
    predecessors=REPLICA_PREDECESSORS,
    deletion=(ReplicaState.DELETION_STARTED, ReplicaState.DELETION_SUCCESSFUL, ReplicaState.NON_EXISTENT),
    unreachable=ReplicaState.DELETION_INELIGIBLE,
    shrink_at_failover=True,
    told_of_shrunk_isr=all_others,
)
"""Deletion in steps, with states of their own, since topics can be deleted."""

FOUR_STATES = ReplicaRules(
    predecessors=PAGE_REPLICA_PREDECESSORS,
    deletion=(ReplicaState.NON_EXISTENT,),
    unreachable=ReplicaState.OFFLINE,
    shrink_at_failover=False,
    told_of_shrunk_isr=leader_only,
    broker_order=as_named,
)
"""The rules of the controller page, and of releases before topics could be deleted."""
