"""AllocateProducerIds (API 67, 3.0, KIP-730): a broker asks the controller for a block of producer ids, which it gives
to producers one by one. Before, brokers claimed blocks in ZooKeeper themselves.

Fencing: broker epoch (KIP-380).
"""

from attrs import define

from emulator.protocol.api import Request, Response, declare
from emulator.protocol.errors import Errors


@define(eq=False)
class AllocateProducerIdsRequest(Request):
    """From a broker in that incarnation."""

    broker: int
    broker_epoch: int
    size: int = 20


@define(eq=False)
class AllocateProducerIdsResponse(Response):
    """The answer.

    Attributes:
        start, length: the first id of the block, and how many it has; 0 with an error.
    """

    error: Errors
    start: int = 0
    length: int = 0
    size: int = 22


declare(
    67,
    "AllocateProducerIds",
    AllocateProducerIdsRequest,
    AllocateProducerIdsResponse,
    help="a broker asks the controller for a block of producer ids",
)
