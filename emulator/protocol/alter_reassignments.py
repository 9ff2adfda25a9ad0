"""AlterPartitionReassignments (API 45, v0 of 2.4): begin, replace and cancel reassignments (KIP-455).

Only the controller answers it with more than NOT_CONTROLLER. ``timeoutMs`` is left out: 2.4 does not use it.
"""

from collections.abc import Iterable, Mapping

from attrs import define

from emulator.protocol.api import OfPartitions, Request, Response, declare
from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition


@define(eq=False)
class AlterPartitionReassignmentsRequest(Request):
    """Begin, replace or cancel the reassignments of partitions.

    Attributes:
        targets: the replicas that each partition shall have; None cancels its reassignment.
    """

    targets: Mapping[TopicPartition, tuple[int, ...] | None]

    @property
    def size(self) -> int:
        return 40 + 30 * len(self.targets)

    def topic_partitions(self) -> Iterable[TopicPartition]:
        return self.targets


@define(eq=False)
class AlterPartitionReassignmentsResponse(OfPartitions, Response):
    """The results, per partition.

    Attributes:
        error: the error of the whole request; NONE: each partition has its own error.
    """

    SIZES = 10, 20
    error: Errors
    partitions: tuple[tuple[TopicPartition, Errors], ...] = ()


declare(
    45,
    "AlterPartitionReassignments",
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
    help="the operator asks the controller to begin or to cancel reassignments",
)
