"""UpdateMetadata (API 6): the controller sends a broker the metadata that it gives to clients, and the live brokers.

Versions: v4 (1.0) OfflineReplicas; v5 (2.2) BrokerEpoch. Fencing: broker epoch, controller epoch.
"""

from collections.abc import Iterable

from attrs import define, frozen

from emulator.protocol.api import AbstractControlRequest, Response, declare
from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition


@frozen(eq=False, weakref_slot=False)
class PartitionMetadata:
    """One partition as clients see it. The caches of all brokers share the object."""

    tp: TopicPartition
    controller_epoch: int
    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    zk_version: int
    replicas: tuple[int, ...]
    offline_replicas: tuple[int, ...]


@define(eq=False)
class UpdateMetadataRequest(AbstractControlRequest):
    partitions: tuple[PartitionMetadata, ...]
    live_brokers: tuple[int, ...]

    @property
    def size(self) -> int:
        return 40 + 60 * len(self.partitions) + 20 * len(self.live_brokers)

    def topic_partitions(self) -> Iterable[TopicPartition]:
        return (each.tp for each in self.partitions)


@define(eq=False)
class UpdateMetadataResponse(Response):
    error: Errors
    size: int = 10


declare(
    6,
    "UpdateMetadata",
    UpdateMetadataRequest,
    UpdateMetadataResponse,
    help="the controller sends a broker the metadata that it gives to clients",
)
