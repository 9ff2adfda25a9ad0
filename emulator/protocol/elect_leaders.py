"""ElectLeaders (API 43): an administrator asks the controller for preferred or unclean leader elections.

Versions: v0 (2.2, KIP-183) preferred leaders only; v1 (2.4, KIP-460) the type of the election.
"""

from enum import IntEnum
from typing import NamedTuple

from attrs import define

from emulator.protocol.api import OfPartitions, Request, Response, declare
from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition


class ElectionType(IntEnum):
    """Kafka's numbers."""

    PREFERRED = 0
    """The first replica of the assignment, if it is live and in the ISR."""
    UNCLEAN = 1
    """For partitions without a live leader: a live replica, whether or not it is in the ISR."""


@define(eq=False)
class ElectLeadersRequest(OfPartitions, Request):
    """Elect leaders of one type for partitions.

    Attributes:
        partitions: the partitions; None: all of the cluster.
    """

    SIZES = 20, 20
    type: ElectionType
    partitions: tuple[TopicPartition, ...] | None
    timeout_us: int = 60_000_000


@define(eq=False)
class ElectLeadersResponse(OfPartitions, Response):
    """The results, per partition.

    Attributes:
        error: the error of the whole request.
        partitions: each with its error; if the request was for all partitions, without those that needed no election.
    """

    SIZES = 10, 20
    error: Errors
    partitions: tuple[tuple[TopicPartition, Errors], ...] = ()


class ElectionsRequested(NamedTuple):
    """A controller is about to hold the elections that a client has asked for. Shown to folds and not recorded
    (``Trace.show``)."""

    t_us: int
    seq: int
    cause: int
    node: int
    request: ElectLeadersRequest


declare(
    43, "ElectLeaders", ElectLeadersRequest, ElectLeadersResponse, help="the operator asks the controller for elections"
)
