"""All replicas of one broker."""

from brokers.replica_manager.manager import ReplicaManager

__all__ = ["ReplicaManager"]
