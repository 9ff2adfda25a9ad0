"""Finds the handler of a request. One listener serves the broker and the controller of a process; neither knows the
other."""

from collections.abc import Callable
from typing import Any

from attrs import define, field

from emulator.network import Channel

Handle = Callable[[Any, Channel], object]


@define(eq=False)
class Router:
    """Request class -> handler.

    A process listens before all of its parts have started; a request that comes so early waits for the part that it is
    for (in Kafka for all of them: SocketServer.startProcessors comes last).
    """

    _handlers: dict[type, Handle] = field(factory=dict)
    _early: dict[type, list[tuple[Any, Channel, int]]] = field(factory=dict)

    def on(self, request: type, handle: Handle) -> None:
        """Let ``handle(request, channel)`` answer every request of this class."""
        assert request not in self._handlers, f"two handlers for {request.__name__}"
        self._handlers[request] = handle
        for early, channel, cause in self._early.pop(request, ()):
            trace = channel.endpoint.process.node.trace
            now, trace.cause = trace.cause, cause
            handle(early, channel)
            trace.cause = now

    def handle(self, request: Any, channel: Channel) -> None:
        handle = self._handlers.get(request.__class__)
        if handle is None:
            cause = channel.endpoint.process.node.trace.cause
            self._early.setdefault(request.__class__, []).append((request, channel, cause))
        else:
            handle(request, channel)
