"""A cluster in a test: the part of the project that other people's tests use (docs/use/python.md)."""

from scenarios.cluster.clients.admin import KafkaError
from scenarios.testing.cluster_from_keywords import cluster
from scenarios.testing.consumer_instance import ConsumerInstance
from scenarios.testing.gate import HeldGate
from scenarios.testing.instance import ClusterInstance
from scenarios.testing.state_reading import ClusterMetadata, ReplicaLog
from scenarios.testing.verdict import KnownFinding
from scenarios.testing.virtual_time import NotInTime, in_virtual_time

__all__ = [
    "ClusterInstance",
    "ClusterMetadata",
    "ConsumerInstance",
    "HeldGate",
    "KafkaError",
    "KnownFinding",
    "NotInTime",
    "ReplicaLog",
    "cluster",
    "in_virtual_time",
]
