"""The server's side of requests and responses: one request at a time per connection. Kafka's SocketServer does the same
by muting a channel until its response is sent."""

from collections import deque
from collections.abc import Callable
from typing import Any

from attrs import define, field

from emulator.network.endpoint import Endpoint
from emulator.network.network import Network
from emulator.nodes import Process
from emulator.trace.shown_znodes import RequestAnswered, RequestUnanswered

TIMED_OUT = "timed out"
"""Why a connection is closed by a client that waits for too long."""

Handler = Callable[[Any, "Channel"], object]
Answered = Callable[[Any, Any, bool], object]


@define(eq=False, repr=False)
class Channel:
    """One client's connection, as the server sees it.

    Attributes:
        busy: a request is being handled.
        request, since_us: that request, or the last one, and the time at which it was taken up.
        taking: whether the loop in ``release`` is running.
        waiting: later requests, each with the trace event that caused it.
        answered: called with each request and its answer, and whether it was in the background.
        among: the open connections of its server.
    """

    endpoint: Endpoint
    handle: Handler
    busy: bool = False
    taking: bool = False
    waiting: deque[tuple[Any, int]] = field(factory=deque)
    request: Any = None
    since_us: int = 0
    on_close: Callable[[], object] | None = None
    answered: Answered | None = None
    among: dict["Channel", None] = field(factory=dict)

    @property
    def client(self) -> int:
        """The id of the machine at the other end."""
        return self.endpoint.out.target.id

    def receive(self, request: Any) -> None:
        if self.busy:
            self.waiting.append((request, self.endpoint.process.node.trace.cause))
        else:
            self.busy = True
            self.request, self.since_us = request, self.endpoint.world.now
            self.handle(request, self)

    def reply(self, response: Any, size: int, background: bool = False, held: bool = False) -> None:
        """Answer the current request and take the next one. If the client is gone, the answer is lost. ``held``: the
        answer was made some time ago."""
        process = self.endpoint.process
        trace = process.node.trace
        if not background and trace.shows(RequestAnswered):
            current = not (held or trace.collects)
            process.mark(
                RequestAnswered, process.node.id, self.client, self.request, response, self.since_us, current
            )  # fmt: skip
        self.endpoint.send(response, size, background)
        if self.answered is not None:
            self.answered(self.request, response, background)
        if self.waiting or self.taking:
            self.release()
        else:
            self.busy = False

    def release(self) -> None:
        """Finish the current request without an answer (acks=0) and take the next one.

        The caller's transition goes on afterwards, so its cause is kept from those of the requests that are taken."""
        self.busy = False
        if self.taking:
            return  # a handler that answered at once: the loop below continues, so a long backlog does not recurse
        self.taking = True
        trace = self.endpoint.process.node.trace
        cause = trace.cause
        while self.waiting and not self.busy:
            request, trace.cause = self.waiting.popleft()
            self.busy = True
            self.request, self.since_us = request, self.endpoint.world.now
            self.handle(request, self)
        trace.cause = cause
        self.taking = False

    def close(self) -> None:
        """Close the connection from the server's side."""
        self.endpoint.close()
        self.forget()

    def closed(self, reason: str) -> None:
        """The client has closed the connection, or it was lost."""
        if self.busy:
            process, in_time = self.endpoint.process, reason != TIMED_OUT
            process.show(RequestUnanswered, process.node.id, self.client, self.request, self.since_us, in_time)
        self.forget()

    def forget(self) -> None:
        """Drop what waits on the connection, which has ended."""
        self.waiting.clear()
        self.among.pop(self, None)
        if self.on_close is not None:
            self.on_close()


@define(eq=False, repr=False)
class Server:
    """A listener of a process, with the connections that it has accepted.

    Attributes:
        handle: answers the requests, now or later.
        channels: the open connections, in the order in which they were accepted.
    """

    network: Network
    process: Process
    port: str
    handle: Handler
    answered: Answered | None = None
    channels: dict[Channel, None] = field(factory=dict)

    def accept(self, endpoint: Endpoint) -> None:
        """Take a new connection."""
        channel = Channel(endpoint, self.handle, answered=self.answered, among=self.channels)
        self.channels[channel] = None
        endpoint.receive = channel.receive
        endpoint.closed = channel.closed

    def handle_by(self, handle: Handler) -> None:
        """Let ``handle`` answer all further requests."""
        self.handle = handle
        for channel in self.channels:
            channel.handle = handle

    def close(self) -> None:
        """Refuse new connections and close those that there are: what is not answered stays without an answer."""
        self.process.parked.rouse()
        self.process.node.listeners.pop(self.port, None)
        for channel in list(self.channels):
            channel.close()


def serve(network: Network, process: Process, port: str, handle: Handler, answered: Answered | None = None) -> Server:
    """Answer requests at ``port`` with ``handle(request, channel)``, which replies now or later. ``answered``: see
    ``Channel``."""
    server = Server(network, process, port, handle, answered)
    network.listen(process, port, server.accept)
    return server
