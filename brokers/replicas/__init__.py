"""All replicas of one broker."""

from brokers.replicas.manager import ReplicaManager

__all__ = ["ReplicaManager"]
