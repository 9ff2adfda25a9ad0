"""All replicas of one broker."""

from brokers.replica_manager.replica_manager import ReplicaManager

__all__ = ["ReplicaManager"]
