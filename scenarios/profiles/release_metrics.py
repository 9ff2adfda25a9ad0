"""Which metrics a release does not have (the sources of 0.8.0, 1.1.1, 2.3.1, 2.4.1 and 2.5.1; each by the name in its
``name=``, or by its ``type=``). What a release has that is not measured here is in docs/use/metrics.md.

0.8.0 has its metrics under other types and spellings (``ISRShrinksPerSec``, ``Replica-MaxLag``); here they have the
names that later releases gave them.
"""

DRAFT = frozenset({"ReassignedCount"})
"""KIP-352's draft alone has it."""

SINCE_2_5 = frozenset({"ReassigningPartitions", "ReassignmentBytesInPerSec", "ReassignmentBytesOutPerSec"})
"""KIP-352 as adopted."""

SINCE_2_4 = frozenset(
    {
        "DeadThreadCount",
        "ListPartitionReassignmentRateAndTimeMs",
        "ReplicasIneligibleToDeleteCount",
        "ReplicasToDeleteCount",
        "TopicsIneligibleToDeleteCount",
        "TopicsToDeleteCount",
    }
)
"""KIP-503, and what came with KIP-455 and KAFKA-8831."""

SINCE_2_3 = frozenset(
    {
        "AtMinIsr",
        "AtMinIsrPartitionCount",
        "EventQueueSize",
        "EventQueueTimeMs",
        "FailedPartitionsCount",
        "RequestRateAndQueueTimeMs",
        "TopicUncleanLeaderElectionEnableRateAndTimeMs",
        "UncleanLeaderElectionEnableRateAndTimeMs",
    }
)
"""After 1.1, up to 2.3."""

SINCE_1_1 = frozenset(
    {
        "AutoLeaderBalanceRateAndTimeMs",
        "BrokerState",
        "ErrorsPerSec",
        "ControlledShutdownRateAndTimeMs",
        "ControllerChangeRateAndTimeMs",
        "ControllerShutdownRateAndTimeMs",
        "ControllerState",
        "FailedIsrUpdatesPerSec",
        "GlobalPartitionCount",
        "GlobalTopicCount",
        "InSyncReplicasCount",
        "IsrChangeRateAndTimeMs",
        "LastStableOffsetLag",
        "LeaderAndIsrResponseReceivedRateAndTimeMs",
        "LogDirChangeRateAndTimeMs",
        "LogDirectoryOffline",
        "LogStartOffset",
        "ManualLeaderBalanceRateAndTimeMs",
        "OfflineLogDirectoryCount",
        "OfflineReplicaCount",
        "PartitionReassignmentRateAndTimeMs",
        "PreferredReplicaImbalanceCount",
        "QueueSize",
        "ReplicaAlterLogDirsManager",
        "ReplicasCount",
        "ReplicationBytesInPerSec",
        "ReplicationBytesOutPerSec",
        "TopicChangeRateAndTimeMs",
        "TopicDeletionRateAndTimeMs",
        "TotalFetchRequestsPerSec",
        "TotalProduceRequestsPerSec",
        "TotalQueueSize",
        "UnderMinIsr",
        "UnderMinIsrPartitionCount",
        "ZooKeeperExpiresPerSec",
    }
)
"""After 0.8.0, up to 1.1."""
