"""The leaders that brokers name to clients which have asked the wrong one (KafkaApis.getCurrentLeader, 3.7)."""

from brokers.replica_manager import ReplicaManager
from emulator.protocol.clients.produce import KnownLeader
from emulator.protocol.types import NO_LEADER, TopicPartition

UNKNOWN_EPOCH = -1


def known_leader(manager: ReplicaManager, tp: TopicPartition) -> KnownLeader:
    """The leader of ``tp`` that this broker knows: from its replica, otherwise from its metadata."""
    replica, leader, epoch = manager.partitions.get(tp), NO_LEADER, UNKNOWN_EPOCH
    if replica is not None:
        leader, epoch = replica.leader, replica.leader_epoch
    else:
        state = manager.metadata.partitions_of(tp.topic).get(tp.partition)
        if state is not None:
            leader, epoch = state.leader, state.leader_epoch
    return KnownLeader(leader, epoch, leader in manager.metadata.live_brokers)
