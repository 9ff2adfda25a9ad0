"""Schedules: the order of things that are under way at the same time.

A world without a schedule is first in, first out: a message takes the network's time, and what is due at one instant
happens in the order in which it was scheduled. That is one order out of many that Kafka could see. A schedule chooses
another one, by draws of the stream ``schedule``: it keeps each message back for up to ``bound_us``, and lets the tasks
that are ready at one instant go on in a drawn order. It never breaks the order within a connection, and never delivers
a message earlier than the network does.

- ``random``: each delivery is drawn by itself.
- ``pct-D``: probabilistic concurrency testing (Burckhardt, Kothari, Musuvathi, Nagarakatti: "A Randomized Scheduler
  with Probabilistic Guarantees of Finding Bugs", ASPLOS 2010). Each actor has a priority, and at each of D - 1 drawn
  steps the one that acts falls to the lowest.
- ``pos``: partial-order sampling (Yuan, Yang, Gu: "Partial Order Aware Concurrency Sampling", CAV 2018). Each event has
  a priority, which is drawn again when an event that it races with comes first.

docs/use/schedules.md says what of the two papers holds here.
"""

from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from typing import Any, Literal, Protocol

from attrs import define, field, frozen

from emulator.streams import Stream

EPISODE = 1_000
"""Deliveries after which ``pct`` draws its priorities and its change points again. A run is too long for one draw: a
cluster under load makes about as many deliveries in a second."""

_LOWEST = 4
"""The share of the bound, as 1 / n, that belongs to the actors that fell at a change point: the last part of it."""


@frozen
class Schedule:
    """The schedule of a world.

    Attributes:
        kind: how it chooses.
        bound_us: the longest time for which it keeps a delivery back.
        depth: D of ``pct-D``: it aims at bugs that need D events in one certain order.
    """

    kind: Literal["random", "pct", "pos"]
    bound_us: int
    depth: int = 1


class Turns(Protocol):
    """The world, as far as a schedule uses it."""

    now: int
    foreground: int
    sequence: int

    def call_at(self, t_us: int, fn: Callable[[Any], object], arg: Any = None, background: bool = False) -> None: ...


class Ready(deque[Any]):
    """The tasks that are ready, each with the value that it waits for. The next one is drawn at random."""

    def __init__(self, stream: Stream) -> None:
        super().__init__()
        self._stream = stream
        self._is_first_drawn = False

    def appendleft(self, entry: Any) -> None:
        """Put back the drawn one, because Trio has to start first: it is the next, without another draw."""
        super().appendleft(entry)
        self._is_first_drawn = True

    def popleft(self) -> Any:
        count = 1 if self._is_first_drawn else len(self)
        self._is_first_drawn = False
        if count > 1:
            place = self._stream.below(count)
            task = self[place][0]
            # A task gets the values that were sent to it in their order.
            place = next(earlier for earlier in range(count) if self[earlier][0] is task)
            self.rotate(-place)
            entry = super().popleft()
            self.rotate(place)
            return entry
        return super().popleft()


class Delays(ABC):
    """A schedule that draws, when a message is sent, for how long to keep it back."""

    @abstractmethod
    def draw(self, end: object, process: object) -> int:
        """The time for which the next message is kept back, in microseconds. ``end``: the end of the connection at
        which it arrives; ``process``: the owner of that end."""

    def begin_again(self) -> None:
        """Forget what was drawn for messages to come: other draws follow. Most schedules draw nothing in advance."""
        return


@define(eq=False, repr=False)
class RandomDelays(Delays):
    """``random``: each delay is drawn by itself, uniformly."""

    bound_us: int
    stream: Stream

    def draw(self, end: object, process: object) -> int:
        return self.stream.below(self.bound_us + 1)


@define(eq=False, repr=False)
class PriorityDelays(Delays):
    """``pct-D``: an actor's delay is the same until it falls at a change point, or the episode ends.

    An actor is one end of a connection: that of a fetcher thread, of the controller's thread for a broker, of a
    ZooKeeper session, of a client, or the queue of one client's requests at a broker. In half of the episodes it is a
    whole process instead: a broker with its controller, a client, ZooKeeper.
    """

    bound_us: int
    depth: int
    stream: Stream
    _delays: dict[object, int] = field(factory=dict)
    _by_process: bool = False
    _step: int = EPISODE
    _falls: dict[int, int] = field(factory=dict)
    """The steps of the episode at which the acting actor falls, with the delay that it then has."""

    def draw(self, end: object, process: object) -> int:
        if self._step == EPISODE:
            self._begin()
        step, self._step = self._step, self._step + 1
        actor = process if self._by_process else end
        if step in self._falls:
            self._delays[actor] = self._falls[step]
        delay = self._delays.get(actor)
        if delay is None:
            delay = self._delays[actor] = self.stream.below(self.bound_us - self.bound_us // _LOWEST + 1)
        return delay

    def begin_again(self) -> None:
        self._step = EPISODE

    def _begin(self) -> None:
        """Begin an episode. The actor of the first change point has the lowest priority of all, as in the paper."""
        self._step = 0
        self._delays.clear()
        self._by_process = self.stream.below(2) == 1
        lowest = self.bound_us // _LOWEST
        changes = self.depth - 1
        self._falls = {
            self.stream.below(EPISODE): self.bound_us - lowest * change // max(1, changes) for change in range(changes)
        }


@define(eq=False, repr=False)
class Waiting:
    """A message that has reached its machine and was not delivered yet.

    Attributes:
        end, process: the end of the connection at which it arrived, and the owner of that end.
        priority: the highest goes first.
        until_us: the time at which it is delivered whatever its priority.
    """

    end: object
    process: object
    deliver: Callable[[Any], object]
    arg: Any
    background: bool
    until_us: int
    priority: int
    delivered: bool = False


@define(eq=False, repr=False)
class EventPriorities:
    """``pos``: of the messages that have arrived, the one with the highest priority is delivered next.

    Two deliveries race if they are of two connections and to one process. When one of them comes first, the priority of
    the other is drawn again, so that an event does not stay late because it was late once.
    """

    world: Turns
    bound_us: int
    stream: Stream
    _queues: dict[object, deque[Waiting]] = field(factory=dict)
    _oldest: deque[Waiting] = field(factory=deque)
    """All waiting messages in the order of arrival, and some that are delivered."""
    _called: bool = False

    def enter(self, end: object, process: object, deliver: Callable[[Any], object], arg: Any) -> None:
        """A message arrives at ``end``: call ``deliver(arg)`` when it is its turn, after those that arrived there
        before."""
        world = self.world
        background = world.sequence & 1 == 1  # as the event of its arrival, the current one
        if not background:
            world.foreground += 1
        until_us = world.now + self.bound_us
        waiting = Waiting(end, process, deliver, arg, background, until_us, self.stream.bits())
        self._queues.setdefault(end, deque()).append(waiting)
        self._oldest.append(waiting)
        if not self._called:
            self._call()

    def _call(self) -> None:
        """Set the time of the next delivery: so soon that few have to wait until their last moment."""
        gap_us = self.stream.below(self.bound_us // (2 * len(self._queues)) + 1)
        self._called = True
        self.world.call_at(min(self.world.now + gap_us, self._oldest[0].until_us), self._next, None, True)

    def _next(self, _: None) -> None:
        oldest = self._oldest
        if oldest[0].until_us <= self.world.now:
            chosen = oldest[0]
        else:
            chosen = max((queue[0] for queue in self._queues.values()), key=lambda head: head.priority)
        queue = self._queues[chosen.end]
        queue.popleft()
        if not queue:
            del self._queues[chosen.end]
        chosen.delivered = True
        while oldest and oldest[0].delivered:
            oldest.popleft()
        for waiting in oldest:
            if waiting.process is chosen.process and waiting.end is not chosen.end and not waiting.delivered:
                waiting.priority = self.stream.bits()
        self._called = False
        if oldest:
            self._call()
        if not chosen.background:
            self.world.foreground -= 1
        chosen.deliver(chosen.arg)
