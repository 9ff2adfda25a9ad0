"""The route from one machine to another: delay, bandwidth, and whether it is cut."""

from collections.abc import Callable, Iterator
from itertools import repeat
from typing import TYPE_CHECKING, Any

from attrs import define, field

from emulator.kernel import World
from emulator.network.delay import NO_DELAY, Delay
from emulator.network.loss import Loss, Losses
from emulator.nodes import Node
from emulator.streams import Stream

if TYPE_CHECKING:
    from emulator.network.lane import Lane


@define(eq=False, repr=False)
class Port:
    """One direction of a machine's NIC. Messages pass in the order in which they were sent."""

    bytes_per_s: int | None
    free_at_us: int = 0

    def pass_through(self, head_us: int, tail_us: int, size: int) -> tuple[int, int]:
        """When the first and the last byte of a message that arrive at ``head_us`` and ``tail_us`` have passed.

        A NIC does not wait for the whole message: one that arrives slowly passes as it arrives.
        """
        if self.bytes_per_s is None:
            return head_us, tail_us
        start = head_us if head_us > self.free_at_us else self.free_at_us
        self.free_at_us = end = start + size * 1_000_000 // self.bytes_per_s
        return start, end if end > tail_us else tail_us


@define(eq=False, repr=False)
class Route:
    """One direction between two machines.

    Attributes:
        delay, extra: the delay of the link itself, and the delay that a fault adds.
        blocked: the route is cut, or was healed and has not delivered all stalled messages yet. New arrivals queue
            after those.
        lane: the parked exchanges whose messages take this route; None: there are none.
        losses: the losses of its packets; None: it loses none.
        limit: the port that its messages pass through while its bandwidth is limited.
        stalled: messages that reached the cut, each with its delivery and with the number of outages of the sender's
            machine by then. TCP sends them again once the route is healed.
    """

    world: World
    source: Node
    target: Node
    egress: Port
    ingress: Port
    delay: Delay
    stream: Stream
    extra: Delay = NO_DELAY
    cut: bool = False
    blocked: bool = False
    lane: "Lane | None" = None
    losses: Losses | None = None
    limit: Port | None = None
    stalled: list[tuple[Callable[[Any], object], Any, int]] = field(factory=list)
    _bytes_per_s: int | None = None
    _latency_us: int = field(init=False)
    _jitter_us: int = field(init=False)
    _least_us: int = field(init=False)
    """The least delay, if nothing but latency and jitter delays messages (no loss, no limit); else -1."""
    _spread: tuple[Delay, ...] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.set_delay(self.delay)

    def set_delay(self, delay: Delay, extra: Delay = NO_DELAY) -> None:
        """Set the delay of the messages that are sent from now on."""
        self._rouse()
        self.delay, self.extra = delay, extra
        self._compute()

    def lose(self, loss: Loss | None) -> None:
        """Lose packets from now on; None: lose none."""
        self._rouse()
        self.losses = None
        if loss is not None:
            name = f"{self.source.name}>{self.target.name}"
            draws, bursts = (self.world.stream(purpose, name) for purpose in ("loss", "bursts of loss"))
            self.losses = Losses(loss, draws, bursts, self.world.now)
        self._compute()

    def limit_to(self, bytes_per_s: int | None) -> None:
        """Limit the bandwidth from now on; None: only the machines' network cards limit it."""
        self._rouse()
        self._bytes_per_s = bytes_per_s
        self._compute()

    def _rouse(self) -> None:
        if self.lane is not None:
            self.lane.rouse()

    def _compute(self) -> None:
        """Compute the parts of the delay of a message."""
        delay, extra = self.delay, self.extra
        self._latency_us = delay.latency_us + extra.latency_us
        self._jitter_us = delay.jitter_us + extra.jitter_us
        self._spread = tuple(part for part in (delay, extra) if part.sigma)
        rates = [self._bytes_per_s, None if self.losses is None else self.losses.loss.bytes_per_s(self.round_trip_us)]
        least = min((rate for rate in rates if rate is not None), default=None)
        if least is None:
            self.limit = None
        elif self.limit is None:
            self.limit = Port(least)
        else:
            self.limit.bytes_per_s = least
        simple = not self._spread and self.losses is None and self.limit is None
        self._least_us = max(-1, self._latency_us - self._jitter_us) if simple else -1

    @property
    def round_trip_us(self) -> int:
        """The time of a round trip, in microseconds, for a way back with the same latency."""
        return 2 * self._latency_us

    @property
    def is_impaired(self) -> bool:
        """Whether the route is cut, slowed down or limited, or loses packets."""
        return self.cut or self.extra != NO_DELAY or self.losses is not None or self.limit is not None

    def arrival(self, size: int) -> int:
        """The time, in virtual microseconds, at which a message of ``size`` bytes arrives if it is sent now. A negative
        value -t: it never arrives, and TCP gives up the connection at t."""
        if (
            self._least_us >= 0
            and self.lane is None
            and self.egress.bytes_per_s is None
            and self.ingress.bytes_per_s is None
        ):
            # The way of nearly every message. The rest of the function gives the same result.
            jitter = self._jitter_us
            return self.world.now + self._least_us + (self.stream.below(2 * jitter + 1) if jitter else 0)
        if self.lane is not None:
            self.lane.settle()
        head_us = sent_us = self.world.now
        if self.egress.bytes_per_s is not None:
            head_us, sent_us = self.egress.pass_through(head_us, sent_us, size)
        if self.limit is not None:
            head_us, sent_us = self.limit.pass_through(head_us, sent_us, size)
        t_us = sent_us + self._latency_us
        jitter = self._jitter_us
        if jitter:
            t_us += self.stream.below(2 * jitter + 1) - jitter
        for delay in self._spread:
            t_us += delay.off_the_median(self.stream)
        if t_us < sent_us:
            t_us = sent_us
        if self.ingress.bytes_per_s is not None:
            _, t_us = self.ingress.pass_through(head_us + t_us - sent_us, t_us, size)
        if self.lane is not None:
            self.lane.shifted()
        if self.losses is not None and size:
            late_us = self.losses.of_message(self.world.now, size, self.round_trip_us)
            if late_us is None:
                return -(self.world.now + self.losses.given_up_after_us(self.round_trip_us))
            t_us += late_us
            if late_us:
                self.world.call_at(t_us, _nothing)  # even a poll that TCP has to send again keeps the world unsettled
        return t_us

    def handshake_arrival(self) -> int | None:
        """The time at which the first packet of a connection that is opened now arrives; None: it is lost again and
        again."""
        arrival_us = self.arrival(0)
        late_us = 0 if self.losses is None else self.losses.of_handshake(self.world.now)
        return None if late_us is None else arrival_us + late_us

    @property
    def is_plain(self) -> bool:
        """Whether a message takes the link's latency, at least 1 us of it, with a uniform jitter, and nothing else."""
        ports = self.egress.bytes_per_s, self.ingress.bytes_per_s
        return not self.blocked and self._least_us > 0 and ports == (None, None)

    @property
    def shortest_us(self) -> int:
        """The shortest delay of a route that ``is_plain``."""
        return self._latency_us - self._jitter_us

    @property
    def longest_us(self) -> int:
        """The longest delay of a route that ``is_plain``."""
        return self._latency_us + self._jitter_us

    def delays_ahead(self) -> Iterator[int]:
        """The delays of the next messages, without a draw, on a route that ``is_plain``."""
        latency, jitter = self._latency_us, self._jitter_us
        return map((latency - jitter).__add__, self.stream.ahead(2 * jitter + 1)) if jitter else repeat(latency)

    def skip(self, messages: int) -> None:
        """Make the draws of ``messages`` that were not simulated."""
        if self._jitter_us:
            self.stream.skip(messages)

    def stop(self) -> None:
        """Cut the route until ``heal``."""
        self._rouse()
        self.cut = self.blocked = True

    def stall(self, deliver: Callable[[Any], object], item: Any) -> None:
        """Keep a message that has reached the cut. It is lost if its sender's machine goes down before the route is
        healed: no machine sends it again."""
        if self.source.up:
            self.stalled.append((deliver, item, self.source.outages))

    def heal(self) -> None:
        """Let traffic pass again. Stalled messages arrive first, in their order."""
        if self.cut:
            self.cut = False
            self.world.call_at(self.arrival(0), self._release)

    def _release(self, _: Any) -> None:
        if self.cut:
            return
        self.blocked = False
        stalled, self.stalled = self.stalled, []
        for deliver, item, outages in stalled:
            if outages == self.source.outages:
                deliver(item)


def _nothing(_: Any) -> None:
    """Do nothing: a retransmission has arrived."""
