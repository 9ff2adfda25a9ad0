"""Exchanges of messages in which nothing happens are jumped over.

A client that has no news asks, a server that has no news answers, and so on until one of them has some. Such an
exchange is *parked*: no event is scheduled for it. Its state at a given moment follows from when it was parked and from
the delays of the two routes. The state is computed when something needs to know it, or touches one of the two ends
(``Exchange.rouse``).

This is exact, because

- a delay is a draw from the stream of its route, and draws are counted, not timed: they can be made later, in blocks,
  as long as they are made in the same order. All draws of the two routes between two machines are therefore made in one
  place, the ``Lane``, in the order of the events that were not simulated; any other message on one of the two routes
  first lets the lane catch up (``Lane.settle``);
- the place of an event in the order of all events is its time, the time at which it was scheduled, and the rank of its
  line (``World.call_in_line``). All three are known for an event that was not simulated, so whether it comes before the
  current one is never in doubt;
- whatever could make the next message differ from the last one rouses the exchange first: it is then simulated again,
  as messages and timers.

``World(simulate_idle=True)`` parks nothing; a test plays random histories both ways and compares the traces.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from heapq import heapify, heapreplace
from itertools import chain, islice, pairwise

from attrs import define, field

from emulator.kernel import World
from emulator.kernel.parking import Parking
from emulator.network.endpoint import Endpoint
from emulator.network.route import Route

FOREVER = 1 << 62
"""Later than any instant of any run."""

MANY_US, FEW = 5_000_000, 8
"""The least time, in microseconds, and the fewest rounds that are worth computing at once."""

Upcoming = tuple[int, int, int, "Exchange"]
"""The first event of an exchange that makes a draw and is not computed: its time, when it is scheduled, its rank, the
exchange."""


@define(eq=False, repr=False)
class Exchange(ABC):
    """One parked exchange of messages between the two ends of a connection.

    Attributes:
        parked: whether it is parked still.
        ask, answer: functions that draw the delay of the client's and of the server's next message.
    """

    lane: "Lane"
    client: Endpoint
    server: Endpoint
    parked: bool = field(default=True, init=False)
    ask: Callable[[], int] = field(init=False)
    answer: Callable[[], int] = field(init=False)

    def park(self) -> None:
        """Stop simulating the exchange, from the current event on."""
        self.lane.add(self)
        for parking in self._parkings():
            parking.add(self)

    def rouse(self) -> None:
        """Simulate the exchange again: called before anything touches one of the ends, or changes what they send."""
        if self.parked:
            self.lane.remove(self)
            self.parked = False
            for parking in self._parkings():
                parking.remove(self)
            self.roused()

    def _parkings(self) -> tuple[Parking, ...]:
        return self.client.process.parked, self.server.process.parked, self.client.interceptors.parked

    @abstractmethod
    def roused(self) -> None:
        """Called when the exchange is not parked any more: bring both ends into the state that they would have now, and
        simulate them from here."""

    @abstractmethod
    def shifted(self) -> None:
        """Called when another exchange has drawn meanwhile: the times given for later events are not valid any more."""

    @property
    @abstractmethod
    def upcoming(self) -> Upcoming:
        """The first event that makes a draw and is not computed."""

    @abstractmethod
    def step(self, t_us: int, others_us: int) -> Upcoming:
        """Compute the first upcoming event, which is at ``t_us``, and those after it that come before ``others_us``,
        the time of the lane's next one. Returns the upcoming event after those."""

    @property
    def round_us(self) -> int:
        """The time that the server waits with each answer, if the next event is an answer; 0: it cannot
        ``go_round``."""
        return 0

    def rounds(self, answers: Sequence[int], asks: Sequence[int]) -> tuple[list[int], list[int]]:
        """The times of the server's answers and of the client's requests in the next rounds, computed with these delays
        of answers and of requests."""
        raise NotImplementedError

    def go_round(self, answered: list[int], asked: list[int]) -> None:
        """Count these rounds as computed."""
        raise NotImplementedError

    @abstractmethod
    def forget_ahead(self) -> tuple[int, int]:
        """Forget what was computed for times after the current event. Returns how many draws were made up to now on
        the client's route and on the server's, without those returned by earlier calls."""


@define(eq=False, repr=False)
class Lane:
    """The parked exchanges between two machines, which draw their delays from the streams of the same two routes.

    Attributes:
        exchanges: the exchanges in the order in which they were parked.
    """

    world: World
    routes: tuple[Route, Route]
    exchanges: dict[Exchange, None] = field(factory=dict)
    _heap: list[Upcoming] = field(factory=list)
    """The upcoming events; empty while the delays to come are not computed."""
    _fresh: dict[Route, Iterator[int]] = field(factory=dict)
    _first: dict[Route, Iterator[int]] = field(factory=dict)
    _delays: dict[Route, Iterator[int]] = field(factory=dict)
    """The delays of the messages to come: first those that were drawn already."""

    @classmethod
    def between(cls, client: Endpoint, server: Endpoint) -> "Lane":
        """The lane of the routes between the two machines."""
        return client.out.lane or cls(client.world, (client.out, server.out))

    def add(self, exchange: Exchange) -> None:
        """``exchange`` makes its draws here from now on."""
        self.settle()
        self.exchanges[exchange] = None
        for route in self.routes:
            route.lane = self
        self.shifted()

    def remove(self, exchange: Exchange) -> None:
        """Remove ``exchange``, which is simulated from now on."""
        self.settle()
        del self.exchanges[exchange]
        if not self.exchanges:
            for route in self.routes:
                route.lane = None
        self.shifted()

    def rouse(self) -> None:
        """Rouse all exchanges, because one of the two routes changes."""
        for exchange in list(self.exchanges):
            exchange.rouse()

    def settle(self) -> None:
        """Make the draws of the past on the two streams, and forget what is computed beyond. Called before another
        message draws from one of them."""
        for exchange in self.exchanges:
            asked, answered = exchange.forget_ahead()
            exchange.client.out.skip(asked)
            exchange.server.out.skip(answered)
        self._heap = []

    def shifted(self) -> None:
        """Called after that message has made its draw: all later draws are different."""
        for exchange in self.exchanges:
            exchange.shifted()

    def _begin(self) -> None:
        """Start computing from the current event on."""
        self._first = {}
        self._fresh = {route: iter(route.delays_ahead()) for route in self.routes}
        self._put_back({route: [] for route in self.routes})
        self._heap = [exchange.upcoming for exchange in self.exchanges]
        heapify(self._heap)

    def _put_back(self, draws: Mapping[Route, list[int]]) -> None:
        """Put back delays that were drawn and not used: they come first."""
        self._first = {route: iter([*some, *self._first.get(route, ())]) for route, some in draws.items()}
        self._delays = {route: chain(self._first[route], fresh) for route, fresh in self._fresh.items()}
        for exchange in self.exchanges:
            exchange.ask = self._delays[exchange.client.out].__next__
            exchange.answer = self._delays[exchange.server.out].__next__

    def run(self, until_us: int) -> None:
        """Compute all exchanges up to ``until_us``, and beyond where that changes no draw.

        One loop makes all draws of the two routes, in the order of the events that need them. A request and its answer
        are mostly computed in one step, since there is rarely a draw of another exchange between the two: that takes
        about a microsecond. Many rounds in a row take a third of it (``_go_round``). As events, the two messages and
        the timer would take a hundred times as long.
        """
        if not self._heap:
            self._begin()
        heap, stepping_us = self._heap, -1
        while heap[0][0] <= until_us:
            if until_us - heap[0][0] > MANY_US and heap[0][0] > stepping_us:
                if self._go_round(until_us):
                    continue
                stepping_us = heap[0][0] + MANY_US
            others_us = min([entry[0] for entry in heap[1:3]], default=FOREVER)
            heapreplace(heap, heap[0][3].step(heap[0][0], others_us))

    def _go_round(self, until_us: int) -> bool:
        """Compute many rounds at once. False: the exchanges are too close together, or their rounds differ.

        While each exchange answers and asks before the next one does, they take turns, and the draws of a route fall to
        them one after the other. This is assumed here, and the results are kept as far as the assumption was true.
        """
        heap, count = self._heap, len(self._heap)
        wait_us = heap[0][3].round_us
        if not wait_us or any(entry[3].round_us != wait_us for entry in heap):
            return False
        heap.sort()
        exchanges = [entry[3] for entry in heap]
        rounds = (until_us - heap[0][0]) // (wait_us + sum(route.longest_us for route in self.routes))
        draws = {route: list(islice(delays, rounds * count)) for route, delays in self._delays.items()}
        times = [
            exchange.rounds(draws[exchange.server.out][place::count], draws[exchange.client.out][place::count])
            for place, exchange in enumerate(exchanges)
        ]
        for (_, asked), (answered, _) in pairwise(times):
            rounds = min(rounds, _in_order(asked, answered))
        rounds = min(rounds, _in_order(times[-1][1], times[0][0][1:]))
        for exchange, (answered, asked) in zip(exchanges, times, strict=True):
            exchange.go_round(answered[:rounds], asked[:rounds])
        self._put_back({route: some[rounds * count :] for route, some in draws.items()})
        heap[:] = [exchange.upcoming for exchange in exchanges]
        heapify(heap)
        return rounds >= FEW


def _in_order(earlier: Sequence[int], later: Sequence[int]) -> int:
    """The number of items at the beginning of ``earlier`` that are below those in the same places of ``later``."""
    return next((place for place, (a, b) in enumerate(zip(earlier, later, strict=False)) if a >= b), len(later))


def can_park(client: Endpoint, server: Endpoint, *messages: type) -> bool:
    """Whether the delays of the two routes are all that the network adds to an exchange of these messages."""
    return (
        not client.world.simulate_idle
        and client.is_plain
        and server.is_plain
        and client.out.is_plain
        and server.out.is_plain
        and not client.interceptors.see_any(messages)
    )
