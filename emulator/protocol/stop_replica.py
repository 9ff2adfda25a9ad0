"""StopReplica (API 5): the controller tells a broker to stop following or leading, and whether to delete the log.

Versions: v1 (2.2) BrokerEpoch; one delete flag for the whole request until 2.6 (KIP-570). Fencing: broker epoch,
controller epoch; no leader epoch before 2.6, so a late request can stop a newer incarnation of the replica.
"""

from attrs import define

from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition


@define(eq=False)
class StopReplicaRequest:
    controller_id: int
    controller_epoch: int
    broker_epoch: int
    delete_partitions: bool
    partitions: tuple[TopicPartition, ...]

    @property
    def size(self) -> int:
        return 40 + 20 * len(self.partitions)


@define(eq=False)
class StopReplicaResponse:
    error: Errors
    partitions: tuple[tuple[TopicPartition, Errors], ...] = ()

    @property
    def size(self) -> int:
        return 10 + 20 * len(self.partitions)
