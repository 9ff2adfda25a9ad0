"""StopReplica (API 5): the controller tells a broker to stop following or leading, and whether to delete the log.

Versions: v1 (2.2) BrokerEpoch; v3 (2.6, KIP-570) a leader epoch for each partition. Fencing: broker epoch, controller
epoch; no leader epoch before v3, so a late request can stop a newer incarnation of the replica.

v3 also has a delete flag per partition. The controller never stops some partitions of a broker and deletes others in
one batch: a batch is one change of replicas to OfflineReplica or to ReplicaDeletionStarted, or a controlled shutdown
(the only callers of ``addStopReplicaRequestForBrokers``, 2.6.0 and 2.7.0). So a flag of the whole request is enough.
"""

from attrs import define

from emulator.protocol.api import AbstractControlRequest, OfPartitions, Response, declare
from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition

NO_EPOCH = -1
"""The partition never had a leader: the broker does not compare."""
EPOCH_DURING_DELETE = -2
"""The topic is being deleted: the broker does not compare."""


@define(eq=False)
class StopReplicaRequest(OfPartitions, AbstractControlRequest):
    """Stop, or delete, replicas of the receiving broker.

    Attributes:
        leader_epochs: one per partition, from the controller; empty before v3.
    """

    delete_partitions: bool
    partitions: tuple[TopicPartition, ...]
    leader_epochs: tuple[int, ...] = ()

    @property
    def size(self) -> int:
        return 40 + 20 * len(self.partitions) + 4 * len(self.leader_epochs)


@define(eq=False)
class StopReplicaResponse(OfPartitions, Response):
    SIZES = 10, 20
    error: Errors
    partitions: tuple[tuple[TopicPartition, Errors], ...] = ()


declare(
    5,
    "StopReplica",
    StopReplicaRequest,
    StopReplicaResponse,
    help="the controller tells a broker to stop, or to delete, replicas",
)
