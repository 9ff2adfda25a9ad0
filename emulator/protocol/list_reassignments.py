"""ListPartitionReassignments (API 46, v0 of 2.4): which reassignments are in progress (KIP-455)."""

from attrs import define

from emulator.protocol.assignments import ReplicaAssignment
from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition


@define(eq=False)
class ListPartitionReassignmentsRequest:
    """``partitions``: None for all; those of them that are not being reassigned are left out of the answer."""

    partitions: tuple[TopicPartition, ...] | None

    @property
    def size(self) -> int:
        return 40 + 20 * len(self.partitions or ())


@define(eq=False)
class ListPartitionReassignmentsResponse:
    """What the controller's memory holds: RS, AR and RR of each partition in motion."""

    error: Errors
    partitions: tuple[tuple[TopicPartition, ReplicaAssignment], ...] = ()

    @property
    def size(self) -> int:
        return 10 + 60 * len(self.partitions)
