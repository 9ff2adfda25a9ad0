"""Kafka's names of the metrics that limits, measures and checkers use. Brokers, fetchers and controllers register their
metrics where they measure (``emulator.metrics``)."""

from emulator.metrics import mbean

UNDER_REPLICATED = mbean("kafka.server", "ReplicaManager", "UnderReplicatedPartitions")
UNDER_MIN_ISR = mbean("kafka.server", "ReplicaManager", "UnderMinIsrPartitionCount")
REASSIGNING = mbean("kafka.server", "ReplicaManager", "ReassigningPartitions")
REASSIGNED = mbean("kafka.server", "ReplicaManager", "ReassignedCount")
ISR_SHRINKS = mbean("kafka.server", "ReplicaManager", "IsrShrinksPerSec")
ISR_EXPANDS = mbean("kafka.server", "ReplicaManager", "IsrExpandsPerSec")
FAILED_PARTITIONS = mbean("kafka.server", "ReplicaFetcherManager", "FailedPartitionsCount", clientId="Replica")
CONSUMER_LAG = mbean("kafka.server", "FetcherLagMetrics", "ConsumerLag")
"""Without its tags for the fetcher and the partition."""
OFFLINE = mbean("kafka.controller", "KafkaController", "OfflinePartitionsCount")
ACTIVE_CONTROLLERS = mbean("kafka.controller", "KafkaController", "ActiveControllerCount")
EVENT_QUEUE = mbean("kafka.controller", "ControllerEventManager", "EventQueueSize")
CONTROLLER_STATE = mbean("kafka.controller", "KafkaController", "ControllerState")
LEADER_ELECTIONS = mbean("kafka.controller", "ControllerStats", "LeaderElectionRateAndTimeMs")


def of_replicas(name: str) -> str:
    """A gauge of a broker's replicas."""
    return mbean("kafka.server", "ReplicaManager", name)


def of_groups(name: str) -> str:
    """A gauge of the groups that a broker coordinates."""
    return mbean("kafka.coordinator.group", "GroupMetadataManager", name)


def of_queues(name: str) -> str:
    """A gauge of the requests that a controller has queued; QueueSize has the tag of a broker besides."""
    return mbean("kafka.controller", "ControllerChannelManager", name)


def of_controller(name: str) -> str:
    """A gauge of the controller."""
    return mbean("kafka.controller", "KafkaController", name)
