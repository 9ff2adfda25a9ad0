"""What the controller page and Kafka's code do differently with replicas (readings, 3 and 4)."""

from collections.abc import Callable, Mapping

from attrs import frozen

from controller.states.names import PAGE_REPLICA_PREDECESSORS, REPLICA_PREDECESSORS, ReplicaState

Recipients = Callable[[tuple[int, ...], int], tuple[int, ...]]


def all_others(others: tuple[int, ...], leader: int) -> tuple[int, ...]:
    """A shrunk ISR is told to every other replica of the assignment in memory (Kafka since 1.1)."""
    return others


def leader_only(others: tuple[int, ...], leader: int) -> tuple[int, ...]:
    """A shrunk ISR is told to the leader (the controller page; Kafka 0.8)."""
    return (leader,) if leader in others else ()


@frozen
class ReplicaRules:
    """One way to run the replica state machine.

    Attributes:
        predecessors: the states from which each state can be reached.
        deletion: the states an offline replica goes through to be deleted; the first one sends
            StopReplica(delete).
        unreachable: how a new controller takes up a replica whose broker is down.
        shrink_at_failover: whether it then also takes that replica out of the ISR (Kafka since 2.3,
            KAFKA-3143).
        told_of_shrunk_isr: who gets the LeaderAndIsr after a replica left the ISR.
    """

    predecessors: Mapping[ReplicaState, tuple[ReplicaState, ...]]
    deletion: tuple[ReplicaState, ...]
    unreachable: ReplicaState
    shrink_at_failover: bool
    told_of_shrunk_isr: Recipients

    @property
    def know_topic_deletion(self) -> bool:
        """Whether replicas can wait to be deleted; rules without those states come from before topic deletion."""
        return ReplicaState.DELETION_STARTED in self.predecessors


SEVEN_STATES = ReplicaRules(
    predecessors=REPLICA_PREDECESSORS,
    deletion=(ReplicaState.DELETION_STARTED, ReplicaState.DELETION_SUCCESSFUL, ReplicaState.NON_EXISTENT),
    unreachable=ReplicaState.DELETION_INELIGIBLE,
    shrink_at_failover=True,
    told_of_shrunk_isr=all_others,
)
"""Deletion in steps, with states of its own, since topics can be deleted."""

FOUR_STATES = ReplicaRules(
    predecessors=PAGE_REPLICA_PREDECESSORS,
    deletion=(ReplicaState.NON_EXISTENT,),
    unreachable=ReplicaState.OFFLINE,
    shrink_at_failover=False,
    told_of_shrunk_isr=leader_only,
)
"""As on the controller page, and before topics could be deleted."""
