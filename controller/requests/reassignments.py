"""AlterPartitionReassignments and ListPartitionReassignments (KIP-455, 2.4).

An answer is given by the event that does the work. If that event fails there is none, and the client's timeout ends its
wait; likewise if it is dropped from the queue because the ZooKeeper session expired (until 2.7, KAFKA-10193).
"""

from typing import TYPE_CHECKING

from controller.events.moves import AlterReassignments, ListReassignments
from emulator.protocol.alter_reassignments import AlterPartitionReassignmentsRequest
from emulator.protocol.list_reassignments import ListPartitionReassignmentsRequest

if TYPE_CHECKING:
    from controller.controller import Controller


def serve(c: "Controller") -> None:
    """Have both requests put into the queue of events."""
    c.serve(
        AlterPartitionReassignmentsRequest,
        lambda request, channel: c.queue.put(AlterReassignments(request, channel)),
    )
    c.serve(
        ListPartitionReassignmentsRequest,
        lambda request, channel: c.queue.put(ListReassignments(request, channel)),
    )
