"""Finds the handler of a request. One listener serves the broker and the controller of a process; neither knows the
other. Every request ends with the completion of what it woke (``KafkaApis.handle``)."""

from collections.abc import Callable
from typing import Any, TypeVar

from attrs import define, field

from emulator.network import Channel
from emulator.protocol.api import Request

Handle = Callable[[Any, Channel], object]
Method = TypeVar("Method", bound=Callable[..., object])

_REQUESTS = "_handled_requests"


def handles(*requests: type[Request]) -> Callable[[Method], Method]:
    """Declare that a method answers requests of these classes. ``Router.add`` looks for such methods."""

    def mark(method: Method) -> Method:
        setattr(method, _REQUESTS, requests)
        return method

    return mark


class _Held(dict[type, Handle]):
    """The handlers of a broker that does not serve requests yet: each waits on its connection."""

    def __init__(self) -> None:
        super().__init__()
        self.channels: list[Channel] = []

    def __missing__(self, _request: type) -> Handle:
        return self._hold

    def _hold(self, request: Any, channel: Channel) -> None:
        channel.waiting.appendleft((request, channel.endpoint.process.node.trace.cause))
        self.channels.append(channel)


class _LookedAt(dict[type, Handle]):
    """The handlers of a broker in which some requests have to wait: one function for all."""

    def __init__(self, look: Handle) -> None:
        super().__init__()
        self._look = look

    def __missing__(self, _request: type) -> Handle:
        return self._look


def _pass_over(_request: Any, _channel: Channel) -> None:
    """Handle a request of a broker that has stopped handling requests."""


class _Handlers(dict[type, Handle]):
    """The handlers that were added. The first request of a class that has none calls ``more``, which adds others."""

    def __init__(self) -> None:
        super().__init__()
        self.more: Callable[[], object] | None = None

    def __missing__(self, request: type) -> Handle:
        more, self.more = self.more, None
        if more is None:
            raise KeyError(request)
        more()
        return self[request]


@define(eq=False)
class Router:
    """Request class -> handler.

    Attributes:
        complete: called after each request: answers the delayed operations for which it brought something.
        occupied: the number of request handler threads in which requests wait (``lock_waits``).
    """

    complete: Callable[[], object] = lambda: None
    occupied: Callable[[], int] = lambda: 0
    _handlers: _Handlers = field(factory=_Handlers)
    _serving: dict[type, Handle] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._serving = self._handlers

    def hold(self) -> None:
        """Let requests wait from now on (SocketServer.startup without processors, 1.1 to 2.7)."""
        self._serving = _Held()

    @property
    def holds(self) -> bool:
        """Whether requests wait."""
        return isinstance(self._serving, _Held)

    def look_first(self, look: Handle | None) -> None:
        """Pass each request to ``look`` from now on, which may ``serve`` it; None: serve all at once again."""
        self._serving = self._handlers if look is None else _LookedAt(look)

    def serve(self, request: Any, channel: Channel) -> None:
        """Let the handler answer. The caller sees to ``complete``."""
        self._handlers[request.__class__](request, channel)

    def open(self) -> None:
        """Serve requests. Those that were held are served first."""
        held, self._serving = self._serving, self._handlers
        if isinstance(held, _Held):
            for channel in held.channels:
                channel.release()

    def close(self) -> None:
        """Pass over all further requests: those that wait in the queue are dropped (RequestChannel.clear)."""
        self._serving = _LookedAt(_pass_over)

    def on(self, request: type[Request], handle: Handle) -> None:
        """Let ``handle(request, channel)`` answer every request of this class."""
        assert request not in self._handlers, f"two handlers for {request.__name__}"
        self._handlers[request] = handle

    def on_others(self, more: Callable[[], object]) -> None:
        """Call ``more``, which adds handlers, when a request comes that has none: what only some runs have need not be
        imported by all."""
        self._handlers.more = more

    def add(self, handler: object) -> None:
        """Let ``handler`` answer the requests that its methods declare with ``handles``."""
        for name, member in vars(type(handler)).items():
            for request in getattr(member, _REQUESTS, ()):
                self.on(request, getattr(handler, name))

    def handle(self, request: Any, channel: Channel) -> None:
        self._serving[request.__class__](request, channel)
        self.complete()
