"""The states of partitions and replicas, and their valid previous states (kafka-behaviour §5.1 and §5.2)."""

from collections.abc import Mapping
from enum import IntEnum


class PartitionState(IntEnum):
    """The states of a partition, with Kafka's numbers."""

    NEW = 0
    """The partition has an assignment, and no leader and ISR yet."""
    ONLINE = 1
    """A leader is elected."""
    OFFLINE = 2
    """The elected leader is gone."""
    NON_EXISTENT = 3


class ReplicaState(IntEnum):
    """The states of a replica, with Kafka's numbers. The controller page has four of them; those for deletion came with
    topic deletion."""

    NEW = 1
    """The replica may only become a follower."""
    ONLINE = 2
    OFFLINE = 3
    DELETION_STARTED = 4
    DELETION_SUCCESSFUL = 5
    DELETION_INELIGIBLE = 6
    NON_EXISTENT = 7


_P = PartitionState
_R = ReplicaState

PARTITION_PREDECESSORS: Mapping[PartitionState, tuple[PartitionState, ...]] = {
    _P.NEW: (_P.NON_EXISTENT,),
    _P.ONLINE: (_P.NEW, _P.ONLINE, _P.OFFLINE),
    _P.OFFLINE: (_P.NEW, _P.ONLINE, _P.OFFLINE),
    _P.NON_EXISTENT: (_P.OFFLINE,),
}

REPLICA_PREDECESSORS: Mapping[ReplicaState, tuple[ReplicaState, ...]] = {
    _R.NEW: (_R.NON_EXISTENT,),
    _R.ONLINE: (_R.NEW, _R.ONLINE, _R.OFFLINE, _R.DELETION_INELIGIBLE),
    _R.OFFLINE: (_R.NEW, _R.ONLINE, _R.OFFLINE, _R.DELETION_INELIGIBLE),
    _R.DELETION_STARTED: (_R.OFFLINE,),
    _R.DELETION_SUCCESSFUL: (_R.DELETION_STARTED,),
    _R.DELETION_INELIGIBLE: (_R.OFFLINE, _R.DELETION_STARTED),
    _R.NON_EXISTENT: (_R.DELETION_SUCCESSFUL,),
}
"""The states before each state, in Kafka 1.0 to 2.3."""

PAGE_REPLICA_PREDECESSORS: Mapping[ReplicaState, tuple[ReplicaState, ...]] = {
    _R.NEW: (_R.NON_EXISTENT,),
    _R.ONLINE: (_R.NEW, _R.ONLINE, _R.OFFLINE),
    _R.OFFLINE: (_R.NEW, _R.ONLINE),
    _R.NON_EXISTENT: (_R.OFFLINE,),
}
"""The states before each state, on the controller page."""
