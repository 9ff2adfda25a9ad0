"""One end of a TCP connection."""

from collections.abc import Callable
from typing import Any

from attrs import define, field

from emulator.kernel import World
from emulator.network.interceptors import Hold, InterceptedMessage, Interceptors
from emulator.network.route import Route
from emulator.nodes import CrashKind, Process

Item = tuple[Any, int]
"""A message and the ``seq`` of the event that caused it."""


def ignore(_: Any) -> None:
    """The callback of an endpoint that has no receiver."""


@define(eq=False, repr=False)
class Endpoint:
    """One end of a connection, owned by one process.

    Attributes:
        out: the route to the peer's machine.
        interceptors: the hooks that see the messages of this network.
        receive: called with each message, in the order of sending.
        closed: called once with the reason when the connection ends, unless this end called ``close``.
        open: the handshake is complete. Messages sent before that wait in ``unsent``.
        done: the connection has ended at this end.
        held: the arrivals that a ``Hold`` keeps from this end, each with the method that continues it; None: nothing is
            held.
        let_in: a message that the hooks have seen already and that is delivered next.
        owner: the object that speaks through this end; None: unknown.
        rank: the rank of the line of its background messages (``World.call_in_line``).
    """

    world: World
    process: Process
    out: Route
    interceptors: Interceptors
    receive: Callable[[Any], object] = ignore
    closed: Callable[[str], object] = ignore
    peer: "Endpoint | None" = None
    open: bool = False
    done: bool = False
    last_arrival_us: int = 0
    unsent: list[tuple[Any, int, bool, int]] | None = None
    held: list[tuple[Callable[[Any], object], Any]] | None = None
    let_in: Item | None = None
    owner: object = None
    rank: int = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.rank = self.world.line()

    @property
    def is_plain(self) -> bool:
        """Whether messages pass freely at this end: the connection is up, nothing is held, and the process runs."""
        process = self.process
        up = self.open and self.held is None and process.alive and not process.paused
        return up and self.__class__ is Endpoint

    @property
    def holds(self) -> bool:
        """Whether an arrival is held."""
        return self.held is not None

    def send(self, body: Any, size: int, background: bool = False) -> None:
        """Send ``body`` (``size`` bytes on the wire). It must not be changed from now on.

        A background message (an empty long poll and its answer) does not keep the world from being settled. A message
        into a connection that has ended is lost.

        Raises:
            DeadIncarnation: the process that owns this end has crashed.
        """
        if not self.process.alive:
            self.process.check_alive()
        if self.done:
            return
        if not self.open:
            self.unsent = [*(self.unsent or ()), (body, size, background, self.process.node.trace.cause)]
            return
        sent = self.interceptors.sent
        passing = self.seen(body) if sent and self.kind_of(body) in sent else None
        if passing is not None and passing.lost:
            self.reset()
            return
        arrival = self.out.arrival(size)
        if arrival < self.last_arrival_us:
            if arrival < 0:
                self._give_up(-arrival)
                return
            arrival = self.last_arrival_us
        self.last_arrival_us = arrival
        peer = self.peer
        assert peer is not None
        item = body, self.process.node.trace.cause
        if passing is not None and passing.held is not None:
            self.world.call_at(arrival, peer.arrive_held, (item, passing.held), background)
        elif background:
            self.world.call_in_line(self.rank, arrival, peer.arrive, item)
        else:
            self.world.call_at(arrival, peer.arrive, item)

    def kind_of(self, body: Any) -> object:
        """The class of a message, by which hooks wait for it."""
        return body.__class__

    def _give_up(self, at_us: int) -> None:
        """Close the connection at ``at_us``, as TCP does where packets of a message are lost again and again. Nothing
        that is sent meanwhile arrives."""
        self.open = False
        self.world.call_at(at_us, self._gave_up, None, background=True)

    def _gave_up(self, _: None) -> None:
        if not self.done:
            self.reset()

    def was_sent(self, body: Any, sent_us: int, arrival_us: int) -> None:
        """Schedule the arrival of a background message that was sent without being simulated, in the place among all
        events that it would have."""
        peer = self.peer
        assert peer is not None
        self.last_arrival_us = arrival_us
        self.world.call_in_line(self.rank, arrival_us, peer.arrive, (body, 0), sent_us)

    def arrive(self, item: Item) -> None:
        """A message reaches this machine: deliver it, unless the route is cut, or the process is dead or paused."""
        process, peer = self.process, self.peer
        if peer is None:
            assert self.done  # a background message can arrive after the end of the connection, which was sent later
            return
        if (
            process.alive
            and not (process.paused or self.done or peer.out.blocked)
            and self.held is None
            and not (self.interceptors.delivered and item[0].__class__ in self.interceptors.delivered)
        ):
            # The way of nearly every message, without the two calls of ``_take``, which has the same effect and handles
            # all others.
            process.node.trace.cause = item[1]
            self.receive(item[0])
        else:
            self._take(item)

    def _take(self, item: Item) -> None:
        peer = self.peer
        if peer is None:
            assert self.done
            return
        if peer.out.blocked:
            peer.out.stall(self.arrive, item)
        elif self.held is None or self.process.paused:
            self._deliver(item)
        else:
            self.held.append((self._deliver, item))

    def arrive_held(self, item_and_hold: tuple[Item, Hold]) -> None:
        """Deliver a message as ``arrive`` does, one that a hook held when it was sent."""
        peer = self.peer
        if peer is None:
            assert self.done
            return
        if peer.out.blocked:
            peer.out.stall(self.arrive_held, item_and_hold)
        else:
            self._take_held(item_and_hold)

    def _take_held(self, item_and_hold: tuple[Item, Hold]) -> None:
        item, hold = item_and_hold
        process = self.process
        if process.paused and process.alive:
            process.deliver((self._take_held, item_and_hold))
        elif self.held is not None:
            self.held.append((self._take_held, item_and_hold))
        elif hold.over:
            self._deliver(item)
        else:
            self._keep(item, hold)

    def _keep(self, item: Item, hold: Hold) -> None:
        hold.endpoint = self
        self.held = [(self._deliver, item)]

    def flow(self) -> None:
        """Deliver the held arrivals, in order. If another hold stops one, that one and all after it remain held. For a
        paused process this waits, like every arrival, until it resumes."""
        if self.process.paused and self.process.alive:
            self.process.deliver((self._flow, None))
        else:
            self._flow()

    def _flow(self, _: None = None) -> None:
        held, self.held = self.held or [], None
        for place, (take, item) in enumerate(held):
            if self.holds:
                self.held = [*(self.held or ()), *held[place:]]
                return
            take(item)

    def _deliver(self, item: Item) -> None:
        """Deliver a message that has reached this machine: a cut of the route cannot stop it any more."""
        process = self.process
        if self.done or not process.alive:
            if process.node.up and self.peer is not None and not self.peer.done:
                self.reset_peer("reset")
        elif process.paused:
            process.deliver((self._deliver, item))
        elif self.held is not None:
            self.held.append((self._deliver, item))
        else:
            process.node.trace.cause = item[1]
            if not self.interceptors.delivered or self._admit(item):
                self.receive(item[0])

    def seen(self, body: Any) -> InterceptedMessage | None:
        """The hooks' decision about a message that is about to leave this end; None if no hook is armed for it."""
        return self.interceptors.see(self, "sent", body)

    def _admit(self, item: Item) -> bool:
        """Show a message to the hooks before it is delivered. False: it was stopped, or is delivered later."""
        if item is self.let_in:
            self.let_in = None
            return True
        passing = self.interceptors.see(self, "delivered", item[0])
        if passing is None:
            return True
        if passing.lost:
            self._end("reset")
            self.reset_peer("reset")
            return False
        if passing.held is not None and not self.done:
            self.let_in = item
            self._keep(item, passing.held)
            return False
        if self.done or self.process.paused:
            # The hook has crashed or paused this end: treat the message like one that arrives a moment later.
            self.let_in = None if self.done else item
            self._deliver(item)
            return False
        return True

    def opened(self, peer: "Endpoint") -> None:
        """The handshake is complete: send the waiting messages."""
        self.peer = peer
        self.open = True
        unsent, self.unsent = self.unsent, None
        for body, size, background, cause in unsent or ():
            self.process.node.trace.cause = cause
            self.send(body, size, background)

    def close(self, reason: str = "closed") -> None:
        """End the connection from this end. The peer learns it after the route's delay."""
        if not self.done:
            self.finish()
            if self.peer is not None:
                self.reset_peer(reason)

    def give_up(self, reason: str) -> None:
        """End the connection as ``close`` does, and notify this end's owner as well."""
        closed = self.closed
        self.close(reason)
        closed(reason)

    def reset_peer(self, reason: str) -> None:
        """Tell the other end that this one is gone, after all messages that are on their way."""
        peer = self.peer
        assert peer is not None
        self.last_arrival_us = arrival = max(self.out.arrival(0), self.last_arrival_us)
        self.world.call_at(arrival, peer.ended, reason)

    def reset(self) -> None:
        """Inject a fault: the connection is reset on the way. This end is notified in an event of its own, the other
        end after the route's delay."""
        self.world.call_at(self.world.now, self._on_reset, self.process.node.trace.cause)
        self.reset_peer("reset")

    def _on_reset(self, cause: int) -> None:
        self.process.node.trace.cause = cause
        self._end("reset")

    def ended(self, reason: str) -> None:
        """The other end has closed, or has refused the connection."""
        if self.peer is not None and self.peer.out.blocked:
            self.peer.out.stall(self.ended, reason)
        elif self.held is not None and not self.process.paused:
            self.held.append((self.ended, reason))
        else:
            self._end(reason)
            if self.done and self.peer is not None and self.peer.done:
                self.peer = None  # otherwise the two would keep each other in memory

    def _end(self, reason: str) -> None:
        if self.done or not self.process.alive:
            return
        if self.process.paused:
            self.process.deliver((self._end_in_turn, reason))
        else:
            closed = self.closed
            self.finish()
            closed(reason)

    def _end_in_turn(self, reason: str) -> None:
        """The process has resumed: arrivals that waited with this one, and are held now, come first."""
        if self.held is not None:
            self.held.append((self._end, reason))
        else:
            self._end(reason)

    def owner_died(self, kind: CrashKind) -> None:
        """The process that owns this end is dead. Its machine resets the connection, unless the machine is down too."""
        self.done = True
        self.open = False
        if kind != "host" and self.peer is not None:
            self.reset_peer("reset")

    def finish(self) -> None:
        """Forget the connection at this end, without calling ``closed``, and forget its owner: the two would keep each
        other in memory."""
        self.done = True
        self.open = False
        self.receive = self.closed = ignore
        self.process.endpoints.pop(self, None)
