"""ControlledShutdown (API 7): answered by the event that does the work, whatever comes of it."""

from typing import TYPE_CHECKING

from controller.events.elections import ControlledShutdown
from emulator.protocol.controlled_shutdown import ControlledShutdownRequest

if TYPE_CHECKING:
    from controller.controller import Controller


def serve(c: "Controller") -> None:
    """Have the request put into the queue of events."""
    c.serve(ControlledShutdownRequest, lambda request, channel: c.queue.put(ControlledShutdown(request, channel)))
