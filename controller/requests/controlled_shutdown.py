"""ControlledShutdown (API 7)."""

from typing import TYPE_CHECKING

from controller.events.elections import ControlledShutdown
from emulator.network import Channel
from emulator.protocol.controlled_shutdown import ControlledShutdownRequest, ControlledShutdownResponse

if TYPE_CHECKING:
    from controller.controller import Controller


def register(c: "Controller") -> None:
    def handle(request: ControlledShutdownRequest, channel: Channel) -> None:
        def reply(response: ControlledShutdownResponse) -> None:
            channel.reply(response, response.size)

        c.queue.put(ControlledShutdown(request, reply))

    c.serve(ControlledShutdownRequest, handle)
