"""The requests of brokers and clients that the controller answers: each becomes an event that answers when it is done.

They arrive whether or not this controller is active; the event knows by then. If the event of a client's request fails
there is no answer, and the client's timeout ends its wait, as in Kafka.
"""

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING, Any

from controller.events.asked import Asked
from controller.events.cluster import AlterIsr
from controller.events.elections import ApiReplicaLeaderElection, ControlledShutdown
from controller.events.moves import AlterReassignments, ListReassignments
from emulator.network import Channel
from emulator.protocol.alter_isr import AlterIsrRequest
from emulator.protocol.alter_reassignments import AlterPartitionReassignmentsRequest
from emulator.protocol.controlled_shutdown import ControlledShutdownRequest
from emulator.protocol.elect_leaders import ElectLeadersRequest
from emulator.protocol.list_reassignments import ListPartitionReassignmentsRequest

if TYPE_CHECKING:
    from controller.controller import Controller

EVENTS: Mapping[type, type[Asked[Any]]] = {
    AlterIsrRequest: AlterIsr,
    ControlledShutdownRequest: ControlledShutdown,
    ElectLeadersRequest: ApiReplicaLeaderElection,
    AlterPartitionReassignmentsRequest: AlterReassignments,
    ListPartitionReassignmentsRequest: ListReassignments,
}


def serve(c: "Controller") -> None:
    """Have these requests put into the queue of events."""
    for request, event in EVENTS.items():
        c.serve(request, partial(_queue, c, event))


def _queue(c: "Controller", event: type[Asked[Any]], request: Any, channel: Channel) -> None:
    c.queue.put(event(request, channel))
