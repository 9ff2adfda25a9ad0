"""Polls in which nothing happens are jumped over.

A client that has nothing to say asks, the server has nothing to say and answers after a fixed time, and the client asks
again at once: so it goes on until one of them has news. Such a poll is *parked*: no event stands for it. Where it is at
a given moment follows from when it was parked and from the delays of the two routes, and it is computed when something
needs to know (``Poll.look``) or touches one of the two ends (``Poll.rouse``).

This is exact, because

- a delay is a draw from the stream of its route, and draws are counted, not timed: they can be made later, in blocks,
  as long as they are made in the same order. All draws of the two routes between two machines are therefore made in one
  place, the ``Lane``, in the order of the events that were not simulated; any other message on one of the two routes
  first lets the lane catch up (``Lane.settle``);
- the place of an event in the order of all events is its time, the time at which it was scheduled, and the rank of its
  line (``World.call_in_line``). All three are known for an event that was not simulated, so whether it comes before the
  current one is never in doubt;
- whatever could make the next poll differ from the last one rouses it first: it then goes on as messages and timers.
"""

from bisect import bisect_right
from collections.abc import Iterator
from heapq import heapify, heapreplace
from typing import Literal, NamedTuple, Protocol

from attrs import define, field

from emulator.kernel import World
from emulator.network.endpoint import Endpoint
from emulator.network.route import Route

FOREVER = 1 << 62
"""Later than any instant of any run."""


class Phase(NamedTuple):
    """What a poll waits for.

    Attributes:
        what: ``asking``: its question is on the way; ``waiting``: the question is at the server; ``answered``: the
            answer is on the way.
        t_us, since_us: when that ends, and when it began.
    """

    what: Literal["asking", "waiting", "answered"]
    t_us: int
    since_us: int


class Ends(Protocol):
    """What owns the two ends of a poll."""

    def shifted(self) -> None:
        """Other draws came between: what was said of the next answer does not hold any more."""

    def roused(self, poll: "Poll") -> None:
        """The poll is not parked any more: take over its counts, and go on in events from ``phase`` on."""


@define(eq=False, repr=False)
class Poll:
    """One parked poll.

    Attributes:
        wait_us: how long the server waits before it answers.
        timer: the rank of the timer that ends this wait.
        requests, answers: how many have arrived since the poll was parked.
        arrived_us, asked_us: when the last request arrived, and when it was sent, which for the first is -1.
        parked: whether it is parked still.

    The last four are those of the last ``look``.
    """

    lane: "Lane"
    client: Endpoint
    server: Endpoint
    wait_us: int
    timer: int
    ends: Ends
    requests: int = 0
    answers: int = 0
    arrived_us: int = field(init=False)
    asked_us: int = -1
    parked: bool = True
    _arrivals: list[int] = field(init=False)
    """Of requests: the last one that is past, and then those that are computed already."""
    _returns: list[int] = field(factory=list)
    """Of their answers, at the client. The answer to the last request may be missing."""
    _drawn: tuple[int, int] = (0, 0)
    """How many of its draws the streams of the client's and of the server's route have made."""

    def __attrs_post_init__(self) -> None:
        self.arrived_us = self.lane.world.now
        self._arrivals = [self.arrived_us]

    # -- for its ends -------------------------------------------------------------------------------------------------

    def look(self) -> None:
        """Bring the counts and times up to the current event, unless it is simulated again."""
        if not self.parked:
            return
        self.lane.run(self.lane.world.now)
        arrivals, returns = self._arrivals, self._returns
        now = self.lane.world.now
        past = bisect_right(arrivals, now) - 1
        if past and not self._is_past(arrivals[past], returns[past - 1], self.client.rank):
            past -= 1
        if past:
            self.requests += past
            self.asked_us = returns[past - 1]
            del arrivals[:past], returns[:past]
        self.arrived_us = arrivals[0]
        self.answers = self.requests
        if self._has_returned:
            self.answers += 1
            self.asked_us = returns[0]

    def next_answer(self) -> tuple[int, int]:
        """When the next answer arrives, and when it is sent, unless the poll is roused or ``shifted`` is called."""
        self.look()
        place = 1 if self._has_returned else 0
        while len(self._returns) <= place:
            self.lane.run(self.upcoming[0])
        return self._returns[place], self._arrivals[place] + self.wait_us

    @property
    def phase(self) -> Phase:
        """What it waits for after the last ``look``."""
        arrivals, returns = self._arrivals, self._returns
        if self._has_returned:
            return Phase("asking", arrivals[1], returns[0])
        if self._has_expired:
            return Phase("answered", returns[0], arrivals[0] + self.wait_us)
        return Phase("waiting", arrivals[0] + self.wait_us, arrivals[0])

    def rouse(self) -> None:
        """Something touches one of the ends, or is about to change what the next poll does: go on in events."""
        if self.parked:
            self.lane.remove(self)
            self.parked = False
            self.ends.roused(self)

    # -- for its lane -------------------------------------------------------------------------------------------------

    @property
    def upcoming(self) -> tuple[int, int, int, "Poll"]:
        """The first event that makes a draw and is not computed: its place in the order of events."""
        expiry_us = self._arrivals[-1] + self.wait_us
        if len(self._returns) == len(self._arrivals):
            return self._returns[-1], expiry_us, self.server.rank, self
        return expiry_us, self._arrivals[-1], self.timer, self

    def forget_ahead(self) -> tuple[int, int]:
        """Forget what is computed of the time after the current event. Returns how many draws the past made on the
        client's route and on the server's, beyond those returned before."""
        self.look()
        if self._has_returned:
            del self._arrivals[2:], self._returns[1:]
        elif self._has_expired:
            del self._arrivals[1:], self._returns[1:]
        else:
            del self._arrivals[1:], self._returns[:]
        before = self._drawn
        self._drawn = drawn = self.answers, self.requests + len(self._returns)
        return drawn[0] - before[0], drawn[1] - before[1]

    @property
    def _has_returned(self) -> bool:
        """Whether the answer to the last request that is past has arrived too."""
        returns = self._returns
        return bool(returns) and self._is_past(returns[0], self._arrivals[0] + self.wait_us, self.server.rank)

    @property
    def _has_expired(self) -> bool:
        """Whether the server has answered that request."""
        return self._is_past(self._arrivals[0] + self.wait_us, self._arrivals[0], self.timer)

    def _is_past(self, t_us: int, since_us: int, rank: int) -> bool:
        """Whether an event that was not simulated comes before the current one."""
        world = self.lane.world
        return t_us < world.now or (t_us == world.now and (since_us, rank) < (world.since_us, world.sequence))


@define(eq=False, repr=False)
class Lane:
    """The parked polls between two machines, which draw their delays from the streams of the same two routes.

    Attributes:
        polls: in the order in which they were parked.
    """

    world: World
    routes: tuple[Route, Route]
    polls: dict[Poll, None] = field(factory=dict)
    _delays: dict[Route, Iterator[int]] = field(factory=dict)
    _heap: list[tuple[int, int, int, Poll]] = field(factory=list)

    @classmethod
    def between(cls, client: Endpoint, server: Endpoint) -> "Lane":
        """The lane of the routes between the two machines."""
        return client.out.lane or cls(client.world, (client.out, server.out))

    def add(self, poll: Poll) -> None:
        """Park ``poll``, whose request arrives at the server now."""
        self.settle()
        self.polls[poll] = None
        for route in self.routes:
            route.lane = self
        self.shifted()

    def remove(self, poll: Poll) -> None:
        """``poll`` goes on in events."""
        self.settle()
        del self.polls[poll]
        if not self.polls:
            for route in self.routes:
                route.lane = None
        self.shifted()

    def rouse(self) -> None:
        """One of the two routes changes."""
        for poll in list(self.polls):
            poll.rouse()

    def settle(self) -> None:
        """Make the draws of the past on the two streams, and forget what is computed beyond: another message is about
        to draw from one of them."""
        for poll in self.polls:
            asked, answered = poll.forget_ahead()
            poll.client.out.skip(asked)
            poll.server.out.skip(answered)
        self._heap = []

    def shifted(self) -> None:
        """That message has made its draw, so all draws to come are other ones."""
        for poll in self.polls:
            poll.ends.shifted()

    def _begin(self) -> None:
        """Compute from the current event on."""
        self._delays = {route: route.delays_ahead() for route in self.routes}
        self._heap = [poll.upcoming for poll in self.polls]
        heapify(self._heap)

    def run(self, until_us: int) -> None:
        """Compute all polls up to ``until_us``, and beyond where that changes no draw.

        One loop over all draws of the two routes, in the order of the events that make them. Between the two draws of
        one poll, its answer and its next question, there is rarely a draw of another poll: both are then made at once.
        That takes 0.5 us for each poll; an event of its own for each of the four would take 100 times as long.
        """
        if not self._heap:
            self._begin()
        heap, delays = self._heap, self._delays
        while heap[0][0] <= until_us:
            t_us, _since_us, _rank, poll = heap[0]
            arrivals, returns = poll._arrivals, poll._returns
            if len(returns) < len(arrivals):
                returned_us = t_us + next(delays[poll.server.out])
                returns.append(returned_us)
                if returned_us >= self._second_us(heap):
                    heapreplace(heap, (returned_us, t_us, poll.server.rank, poll))
                    continue
                t_us = returned_us
            arrived_us = t_us + next(delays[poll.client.out])
            arrivals.append(arrived_us)
            heapreplace(heap, (arrived_us + poll.wait_us, arrived_us, poll.timer, poll))

    @staticmethod
    def _second_us(heap: list[tuple[int, int, int, Poll]]) -> int:
        """The time of the second entry."""
        if len(heap) == 1:
            return FOREVER
        return heap[1][0] if len(heap) == 2 else min(heap[1][0], heap[2][0])


def can_park(client: Endpoint, server: Endpoint, *messages: type) -> bool:
    """Whether the delays of the two routes are all that the network adds to a poll of these messages."""
    return (
        not client.world.simulate_idle
        and client.is_plain
        and server.is_plain
        and client.out.is_plain
        and server.out.is_plain
        and not client.interceptors.see_any(messages)
    )
