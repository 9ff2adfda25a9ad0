"""Finds the handler of a request. One listener serves the broker and the controller of a process; neither knows the
other."""

from collections.abc import Callable
from typing import Any

from attrs import define, field

from emulator.network import Channel

Handle = Callable[[Any, Channel], object]


@define(eq=False)
class Router:
    """Request class -> handler."""

    _handlers: dict[type, Handle] = field(factory=dict)

    def on(self, request: type, handle: Handle) -> None:
        """Let ``handle(request, channel)`` answer every request of this class."""
        assert request not in self._handlers, f"two handlers for {request.__name__}"
        self._handlers[request] = handle

    def handle(self, request: Any, channel: Channel) -> None:
        self._handlers[request.__class__](request, channel)
