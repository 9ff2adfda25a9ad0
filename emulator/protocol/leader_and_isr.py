"""LeaderAndIsr (API 4): the controller tells a broker which partitions it leads and follows.

Versions: v1 (1.0) IsNew; v2 (2.2) BrokerEpoch; v3 (2.4) AddingReplicas and RemovingReplicas; v5 (2.8, KIP-516) TopicId;
v6 (3.2, KIP-704) LeaderRecoveryState. Fencing: broker epoch, controller epoch, topic id, leader epoch per partition.
"""

from collections.abc import Iterable, Mapping

from attrs import define, frozen

from emulator.protocol.api import AbstractControlRequest, OfPartitions, Response, declare
from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition


@frozen(eq=False, weakref_slot=False)
class LeaderAndIsrPartition:
    """One partition's state. The requests to all its replicas share the object.

    Attributes:
        adding, removing: the replicas of ``replicas`` that a reassignment adds and removes; empty before v3.
        recovering: whether the leader was elected outside the ISR, and has not changed the ISR since; False before v6.
    """

    tp: TopicPartition
    controller_epoch: int
    leader: int
    leader_epoch: int
    isr: tuple[int, ...]
    zk_version: int
    replicas: tuple[int, ...]
    is_new: bool
    adding: tuple[int, ...] = ()
    removing: tuple[int, ...] = ()
    recovering: bool = False

    @property
    def current_replicas(self) -> tuple[int, ...]:
        """The replicas that count for under-replication. In KIP-352's draft, ``replicas`` contains others
        too (``emulator.protocol.kip_352_draft``)."""
        return self.replicas

    @property
    def impending_replicas(self) -> tuple[int, ...]:
        """The replicas that the partition is moving to, in KIP-352's draft; else none."""
        return ()

    def adds(self, broker: int) -> bool:
        """Whether a reassignment adds the replica on ``broker``, as far as the request tells."""
        return broker in self.adding or (broker in self.impending_replicas and broker not in self.current_replicas)


NO_TOPIC_IDS: Mapping[str, str] = {}


@define(eq=False)
class LeaderAndIsrRequest(OfPartitions, AbstractControlRequest):
    """The states of partitions on one broker.

    Attributes:
        topic_ids: the ids of the topics; empty before v5.
    """

    partitions: tuple[LeaderAndIsrPartition, ...]
    live_leaders: tuple[int, ...]
    topic_ids: Mapping[str, str] = NO_TOPIC_IDS

    @property
    def size(self) -> int:
        return 40 + 60 * len(self.partitions) + 20 * len(self.live_leaders) + 16 * len(self.topic_ids)


@define(eq=False)
class LeaderAndIsrResponse(Response):
    """The results, in two columns and not as pairs: at a failover the responses of all brokers are in memory at once.

    Attributes:
        tps, errors: the partitions of the request, and the error of each; empty where the whole request is refused.
    """

    error: Errors
    tps: tuple[TopicPartition, ...] = ()
    errors: tuple[Errors, ...] = ()

    @property
    def partitions(self) -> tuple[tuple[TopicPartition, Errors], ...]:
        return tuple(zip(self.tps, self.errors, strict=True))

    @property
    def size(self) -> int:
        return 10 + 20 * len(self.tps)

    def topic_partitions(self) -> Iterable[TopicPartition]:
        return self.tps


declare(
    4,
    "LeaderAndIsr",
    LeaderAndIsrRequest,
    LeaderAndIsrResponse,
    help="the controller tells a broker which partitions it leads and follows",
)
