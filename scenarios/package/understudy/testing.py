"""For tests: an emulated cluster in a test, and coroutines in a world of virtual time (docs/python.md)."""

from emulator.gates import Visit
from emulator.kernel import Deadlock, ForeignAwait, World
from scenarios.testing import (
    ClusterInstance,
    ClusterMetadata,
    ConsumerInstance,
    HeldGate,
    KafkaError,
    NotInTime,
    ReplicaLog,
    cluster,
    in_virtual_time,
)

__all__ = [
    "ClusterInstance",
    "ClusterMetadata",
    "ConsumerInstance",
    "Deadlock",
    "ForeignAwait",
    "HeldGate",
    "KafkaError",
    "NotInTime",
    "ReplicaLog",
    "Visit",
    "World",
    "cluster",
    "in_virtual_time",
]
