"""UpdateMetadata (API 6): the controller sends a broker the metadata that it gives to clients, and the live brokers.

Versions: v4 (1.0) OfflineReplicas; v5 (2.2) BrokerEpoch; v7 (2.8, KIP-516) TopicId. Fencing: broker epoch, controller
epoch.
"""

from collections.abc import Mapping

from attrs import define, frozen

from emulator.protocol.api import AbstractControlRequest, OfPartitions, Response, declare
from emulator.protocol.errors import Errors
from emulator.protocol.leader_and_isr import NO_TOPIC_IDS
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
class UpdateMetadataRequest(OfPartitions, AbstractControlRequest):
    """The partitions that have changed, and the live brokers.

    Attributes:
        topic_ids: the ids of the partitions' topics; empty before v7.
    """

    partitions: tuple[PartitionMetadata, ...]
    live_brokers: tuple[int, ...]
    topic_ids: Mapping[str, str] = NO_TOPIC_IDS

    @property
    def size(self) -> int:
        return 40 + 60 * len(self.partitions) + 20 * len(self.live_brokers) + 16 * len(self.topic_ids)


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
