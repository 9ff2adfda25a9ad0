"""ElectLeaders (API 43, KIP-460): answered by the event that holds the elections."""

from typing import TYPE_CHECKING

from controller.events.elections import ApiReplicaLeaderElection
from emulator.protocol.elect_leaders import ElectLeadersRequest

if TYPE_CHECKING:
    from controller.controller import Controller


def serve(c: "Controller") -> None:
    """Have the request put into the queue of events."""
    c.serve(ElectLeadersRequest, lambda request, channel: c.queue.put(ApiReplicaLeaderElection(request, channel)))
