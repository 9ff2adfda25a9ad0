"""One end of a TCP connection."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from attrs import define

from emulator.kernel import World

if TYPE_CHECKING:
    from emulator.network.route import Route
    from emulator.nodes import Process

Item = tuple[Any, int]
"""A message and the ``seq`` of the event it goes back to."""


def ignore(_: Any) -> None:
    """The receiver of an endpoint that nobody listens at."""


@define(eq=False, repr=False)
class Endpoint:
    """One end of a connection, owned by one process.

    Attributes:
        out: the route to the peer's machine.
        open: both ends know of each other. What is sent before waits for the handshake.
        receive: called with each message, in the order of sending.
        closed: called once with the reason when the connection ends other than by ``close`` at this end.
    """

    world: World
    process: "Process"
    out: "Route"
    receive: Callable[[Any], object] = ignore
    closed: Callable[[str], object] = ignore
    peer: "Endpoint | None" = None
    open: bool = False
    done: bool = False
    last_arrival_us: int = 0
    unsent: list[tuple[Any, int, bool]] | None = None

    def send(self, body: Any, size: int, background: bool = False) -> None:
        """Send ``body`` (``size`` bytes on the wire). It must not be changed from now on.

        A background message (an empty long poll and its answer) does not keep the world from being settled.
        A message into a connection that has ended is lost, as in life.

        Raises:
            DeadIncarnation: the process that owns this end has crashed.
        """
        if not self.process.alive:
            self.process.check_alive()
        if self.done:
            return
        if not self.open:
            self.unsent = [*(self.unsent or ()), (body, size, background)]
            return
        arrival = self.out.arrival(size)
        if arrival < self.last_arrival_us:
            arrival = self.last_arrival_us
        self.last_arrival_us = arrival
        peer = self.peer
        assert peer is not None
        self.world.call_at(arrival, peer.arrive, (body, self.process.node.trace.cause), background)

    def arrive(self, item: Item) -> None:
        """A message reaches this machine: hand it to the process, if the route, the connection and it are
        alive."""
        peer = self.peer
        assert peer is not None
        if peer.out.blocked:
            peer.out.stalled.append((self.arrive, item))
        else:
            self._hand_over(item)

    def _hand_over(self, item: Item) -> None:
        """The message is on this machine: no cut of the route holds it up any more."""
        process = self.process
        if self.done or not process.alive:
            if process.node.up and self.peer is not None and not self.peer.done:
                self.reset_peer("reset")
        elif process.paused:
            process.deliver((self._hand_over, item))
        else:
            process.node.trace.cause = item[1]
            self.receive(item[0])

    def opened(self, peer: "Endpoint") -> None:
        """The handshake is complete: send what has waited."""
        self.peer = peer
        self.open = True
        unsent, self.unsent = self.unsent, None
        for body, size, background in unsent or ():
            self.send(body, size, background)

    def close(self, reason: str = "closed") -> None:
        """End the connection from this end; the peer learns it when the news arrives."""
        if not self.done:
            self.finish()
            if self.peer is not None:
                self.reset_peer(reason)

    def reset_peer(self, reason: str) -> None:
        """Tell the other end, behind whatever is on its way, that this one is gone."""
        peer = self.peer
        assert peer is not None
        self.last_arrival_us = arrival = max(self.out.arrival(0), self.last_arrival_us)
        self.world.call_at(arrival, peer.ended, reason)

    def ended(self, reason: str) -> None:
        """The other end is gone, or never answered the handshake with anything but a refusal."""
        if self.peer is not None and self.peer.out.blocked:
            self.peer.out.stalled.append((self.ended, reason))
        else:
            self._hear_of_the_end(reason)

    def _hear_of_the_end(self, reason: str) -> None:
        if self.done or not self.process.alive:
            return
        if self.process.paused:
            self.process.deliver((self._hear_of_the_end, reason))
        else:
            self.finish()
            self.closed(reason)

    def finish(self) -> None:
        """Forget the connection at this end, without telling anybody."""
        self.done = True
        self.open = False
        self.process.endpoints.pop(self, None)
