"""The answers of coordinators. Each is shown with its request to those who look (``CoordinatorAnswered``)."""

from collections.abc import Callable
from typing import Any

from brokers.log.disk_work import ResponseChannel
from emulator.nodes import Process
from emulator.protocol.shown_coordination import CoordinatorAnswered


def replying(process: Process, request: Any, channel: ResponseChannel) -> Callable[[Any], None]:
    """A function that answers ``request``."""

    def reply(response: Any) -> None:
        process.mark(CoordinatorAnswered, process.node.id, request, response)
        channel.reply(response, response.size)

    return reply
