"""What a broker measures of itself, under Kafka's names."""

from brokers.metrics.manager import ReplicaManagerMetrics
from brokers.metrics.replication import (
    AllAssigned,
    CurrentReplicas,
    UnderReplication,
    WithoutAdding,
)

__all__ = ["AllAssigned", "CurrentReplicas", "ReplicaManagerMetrics", "UnderReplication", "WithoutAdding"]
