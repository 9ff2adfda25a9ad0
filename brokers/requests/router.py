"""Finds the handler of a request. One listener serves the broker and the controller of a process; neither knows the
other. Every request ends with the completion of what it woke (``KafkaApis.handle``)."""

from collections.abc import Callable
from typing import Any, TypeVar

from attrs import define, field

from emulator.network import Channel
from emulator.protocol.api import Request

Handle = Callable[[Any, Channel], object]
Method = TypeVar("Method", bound=Callable[..., object])

_REQUEST = "_handled_request"


def handles(request: type[Request]) -> Callable[[Method], Method]:
    """Declare that a method answers requests of this class. ``Router.add`` looks for such methods."""

    def mark(method: Method) -> Method:
        setattr(method, _REQUEST, request)
        return method

    return mark


@define(eq=False)
class Router:
    """Request class -> handler.

    Attributes:
        complete: called after each request: answers the delayed operations for which it brought something.
    """

    complete: Callable[[], object] = lambda: None
    _handlers: dict[type, Handle] = field(factory=dict)

    def on(self, request: type[Request], handle: Handle) -> None:
        """Let ``handle(request, channel)`` answer every request of this class."""
        assert request not in self._handlers, f"two handlers for {request.__name__}"
        self._handlers[request] = handle

    def add(self, handler: object) -> None:
        """Let ``handler`` answer the requests that its methods declare with ``handles``."""
        for name, member in vars(type(handler)).items():
            request = getattr(member, _REQUEST, None)
            if request is not None:
                self.on(request, getattr(handler, name))

    def handle(self, request: Any, channel: Channel) -> None:
        self._handlers[request.__class__](request, channel)
        self.complete()
