"""For tests: an emulated cluster in a test, and coroutines in a world of virtual time (docs/use/python.md)."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from emulator.gates import Visit
from emulator.kernel import Deadlock, ForeignAwait, World
from scenarios.testing import (
    ClusterInstance,
    ClusterMetadata,
    ConsumerInstance,
    HeldGate,
    KafkaError,
    KnownFinding,
    NotInTime,
    ReplicaLog,
    cluster,
    in_virtual_time,
)

if TYPE_CHECKING:
    from scenarios.testing.drawing import clusters, faults, loads, plans, scenarios
    from scenarios.testing.kafka import KafkaServer, kafka
    from scenarios.testing.machine import ClusterMachine, SteppedCluster
else:
    # These need Hypothesis or what real clients need, which other users of this module may not have.
    def __getattr__(name: str) -> Any:
        """Import one of them when it is wanted."""
        if name not in _WITH_MORE:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module(f"{in_virtual_time.__module__.rpartition('.')[0]}.{_WITH_MORE[name]}"), name)


_WITH_MORE = {
    **dict.fromkeys(("KafkaServer", "kafka"), "kafka"),
    **dict.fromkeys(("clusters", "faults", "loads", "plans", "scenarios"), "drawing"),
    **dict.fromkeys(("ClusterMachine", "SteppedCluster"), "machine"),
}
"""Name to its module."""

__all__ = [
    "ClusterInstance",
    "ClusterMachine",
    "ClusterMetadata",
    "ConsumerInstance",
    "Deadlock",
    "ForeignAwait",
    "HeldGate",
    "KafkaError",
    "KafkaServer",
    "KnownFinding",
    "NotInTime",
    "ReplicaLog",
    "SteppedCluster",
    "Visit",
    "World",
    "cluster",
    "clusters",
    "faults",
    "in_virtual_time",
    "kafka",
    "loads",
    "plans",
    "scenarios",
]
