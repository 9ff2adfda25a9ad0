"""ListPartitionReassignments (API 46, v0 of 2.4): which reassignments are in progress (KIP-455)."""

from attrs import define

from emulator.protocol.api import OfPartitions, Request, Response, declare
from emulator.protocol.assignments import ReplicaAssignment
from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition


@define(eq=False)
class ListPartitionReassignmentsRequest(OfPartitions, Request):
    """Ask which partitions are being reassigned.

    Attributes:
        partitions: None: all. The response leaves out those that are not being reassigned.
    """

    SIZES = 40, 20
    partitions: tuple[TopicPartition, ...] | None


@define(eq=False)
class ListPartitionReassignmentsResponse(OfPartitions, Response):
    """RS, AR and RR of each partition that is being reassigned, from the controller's memory."""

    SIZES = 10, 60
    error: Errors
    partitions: tuple[tuple[TopicPartition, ReplicaAssignment], ...] = ()


declare(
    46,
    "ListPartitionReassignments",
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    help="the operator asks the controller which reassignments are in progress",
)
