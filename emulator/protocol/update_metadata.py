"""UpdateMetadata (API 6): the controller tells a broker what to tell clients, and who is alive.

Versions: v4 (1.0) OfflineReplicas; v5 (2.2) BrokerEpoch. Fencing: broker epoch, controller epoch.
"""

from attrs import define, frozen

from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition


@frozen(eq=False, weakref_slot=False)
class PartitionMetadata:
    """One partition as clients see it. Every broker's cache holds the same object."""

    tp: TopicPartition
    controller_epoch: int
    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    zk_version: int
    replicas: tuple[int, ...]
    offline_replicas: tuple[int, ...]


@define(eq=False)
class UpdateMetadataRequest:
    controller_id: int
    controller_epoch: int
    broker_epoch: int
    partitions: tuple[PartitionMetadata, ...]
    live_brokers: tuple[int, ...]

    @property
    def size(self) -> int:
        return 40 + 60 * len(self.partitions) + 20 * len(self.live_brokers)


@define(eq=False)
class UpdateMetadataResponse:
    error: Errors
    size: int = 10
