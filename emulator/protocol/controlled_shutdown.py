"""ControlledShutdown (API 7): a broker that shuts down asks the controller to move its leaderships away first.

Versions: v2 (2.2) BrokerEpoch. Fencing: broker epoch (KIP-380).
"""

from collections.abc import Iterable

from attrs import define

from emulator.protocol.api import Request, Response, declare
from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition


@define(eq=False)
class ControlledShutdownRequest(Request):
    """A broker asks to move its leaderships away before it shuts down.

    Attributes:
        broker_epoch: -1: not sent by this release, and not checked.
    """

    broker: int
    broker_epoch: int
    size: int = 20


@define(eq=False)
class ControlledShutdownResponse(Response):
    """The result, and what is left to do.

    Attributes:
        remaining: the partitions with more than one replica that the broker still leads.
    """

    error: Errors
    remaining: tuple[TopicPartition, ...] = ()

    @property
    def size(self) -> int:
        return 10 + 20 * len(self.remaining)

    def topic_partitions(self) -> Iterable[TopicPartition]:
        return self.remaining


declare(
    7,
    "ControlledShutdown",
    ControlledShutdownRequest,
    ControlledShutdownResponse,
    help="a broker that shuts down asks the controller to move its leaderships away",
)
