"""ListPartitionReassignments (API 46, v0 of 2.4): which reassignments are in progress (KIP-455)."""

from collections.abc import Iterable

from attrs import define

from emulator.protocol.api import Request, Response, declare
from emulator.protocol.assignments import ReplicaAssignment
from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition


@define(eq=False)
class ListPartitionReassignmentsRequest(Request):
    """Ask which partitions are being reassigned.

    Attributes:
        partitions: None: all. The response leaves out those that are not being reassigned.
    """

    partitions: tuple[TopicPartition, ...] | None

    @property
    def size(self) -> int:
        return 40 + 20 * len(self.partitions or ())

    def topic_partitions(self) -> Iterable[TopicPartition]:
        return self.partitions or ()


@define(eq=False)
class ListPartitionReassignmentsResponse(Response):
    """RS, AR and RR of each partition that is being reassigned, from the controller's memory."""

    error: Errors
    partitions: tuple[tuple[TopicPartition, ReplicaAssignment], ...] = ()

    @property
    def size(self) -> int:
        return 10 + 60 * len(self.partitions)

    def topic_partitions(self) -> Iterable[TopicPartition]:
        return (each[0] for each in self.partitions)


declare(
    46,
    "ListPartitionReassignments",
    ListPartitionReassignmentsRequest,
    ListPartitionReassignmentsResponse,
    help="the operator asks the controller which reassignments are in progress",
)
