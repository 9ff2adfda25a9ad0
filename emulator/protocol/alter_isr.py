"""AlterIsr (API 56, 2.7, KIP-497): a leader asks the controller to change the ISRs of partitions that it leads. Since
KIP-704 (3.2) it is called AlterPartition; here it has one name.

Fencing: broker epoch (KIP-380), leader epoch and version of the state znode per partition.
"""

from attrs import define, frozen

from emulator.protocol.api import OfPartitions, Request, Response, declare
from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import LeaderAndIsr


@frozen(eq=False)
class AlterIsrPartition:
    """One partition.

    Attributes:
        leader_epoch: the leader's.
        isr: the ISR that the leader proposes.
        zk_version: the version of the state znode that the proposal is based on.
    """

    tp: TopicPartition
    leader_epoch: int
    isr: tuple[int, ...]
    zk_version: int


@define(eq=False)
class AlterIsrRequest(OfPartitions, Request):
    SIZES = 20, 40
    broker: int
    broker_epoch: int
    partitions: tuple[AlterIsrPartition, ...]


@define(eq=False)
class AlterIsrResponse(OfPartitions, Response):
    """The results, per partition.

    Attributes:
        error: the error of the whole request.
        partitions: each with its error, or with NONE and the state that is now in the znode.
    """

    SIZES = 10, 40
    error: Errors
    partitions: tuple[tuple[TopicPartition, Errors, LeaderAndIsr | None], ...] = ()


declare(56, "AlterIsr", AlterIsrRequest, AlterIsrResponse, help="a leader asks the controller to change ISRs")
