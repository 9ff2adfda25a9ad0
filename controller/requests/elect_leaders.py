"""ElectLeaders (API 43)."""

from typing import TYPE_CHECKING

from controller.events.elections import ApiReplicaLeaderElection
from emulator.network import Channel
from emulator.protocol.elect_leaders import ElectLeadersRequest, ElectLeadersResponse

if TYPE_CHECKING:
    from controller.controller import Controller


def register(c: "Controller") -> None:
    def handle(request: ElectLeadersRequest, channel: Channel) -> None:
        def reply(response: ElectLeadersResponse) -> None:
            channel.reply(response, response.size)

        c.queue.put(ApiReplicaLeaderElection(request, reply))

    c.serve(ElectLeadersRequest, handle)
