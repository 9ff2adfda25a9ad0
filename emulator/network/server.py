"""The server's side of requests and responses: one request at a time per connection, as Kafka's socket server
mutes a channel until its response is out."""

from collections import deque
from collections.abc import Callable
from typing import Any

from attrs import define, field

from emulator.network.endpoint import Endpoint
from emulator.network.network import Network
from emulator.nodes import Process

Handler = Callable[[Any, "Channel"], object]


@define(eq=False, repr=False)
class Channel:
    """One client's connection, seen by the server. ``reply`` answers the request in hand and takes the next
    one."""

    endpoint: Endpoint
    handle: Handler
    busy: bool = False
    taking: bool = False
    waiting: deque[tuple[Any, int]] = field(factory=deque)
    on_close: Callable[[], object] | None = None

    @property
    def client(self) -> int:
        """The id of the machine at the other end."""
        return self.endpoint.out.target.id

    def receive(self, request: Any) -> None:
        if self.busy:
            self.waiting.append((request, self.endpoint.process.node.trace.cause))
        else:
            self.busy = True
            self.handle(request, self)

    def reply(self, response: Any, size: int, background: bool = False) -> None:
        """Answer the request in hand. To a client that has gone the answer is lost."""
        self.endpoint.send(response, size, background)
        self.release()

    def release(self) -> None:
        """Be done with the request in hand without an answer (acks=0) and take the next one."""
        self.busy = False
        if self.taking:
            return  # a handler that answers at once: the loop below goes on, however long the backlog is
        self.taking = True
        while self.waiting and not self.busy:
            request, self.endpoint.process.node.trace.cause = self.waiting.popleft()
            self.busy = True
            self.handle(request, self)
        self.taking = False

    def close(self) -> None:
        """Hang up on the client."""
        self.endpoint.close()
        self.closed("closed")

    def closed(self, _reason: str) -> None:
        self.waiting.clear()
        if self.on_close is not None:
            self.on_close()


def serve(network: Network, process: Process, port: str, handle: Handler) -> None:
    """Answer requests at ``port`` with ``handle(request, channel)``, which replies now or later."""

    def accept(endpoint: Endpoint) -> None:
        channel = Channel(endpoint, handle)
        endpoint.receive = channel.receive
        endpoint.closed = channel.closed

    network.listen(process, port, accept)
