"""The inputs of a live run, read from the sockets, at the times of the wall clock."""

import math
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

from attrs import define, field

from emulator.kernel.live import UNBOUNDED
from scenarios.wire.inputs import Input, Operation

TURN_NS = 2_000_000
"""The time for which inputs are taken without a look at the clock and at the sockets. A new request waits for that, and
for one request of each other connection."""
HURRY = 2
"""Time that is late passes at so many times its rate, no faster. Clients send their heartbeats by clocks of their own:
if an hour of brokers' time passed in a minute, every session would expire."""
STALL_NS = 500_000_000
"""How much later than due a look at the clock may be so that all of the delay counts as passed. If the process was
stopped for longer, clients were not answered in the rest."""
_OPERATIONS = 0
"""The number of the queue of operations, in place of a connection's number."""


class Observer(Protocol):
    """Observes each input. An input and its virtual time are known together only here."""

    def observe(self, t_us: int, given: Input) -> object:
        """Called in order with each input, which is handled at ``t_us``, in microseconds."""

    def flush(self) -> object:
        """Called when there is nothing to do for a moment."""


def _not_yet(given: Input) -> None:
    raise AssertionError(f"there is nothing that could handle {given}")


@define(eq=False)
class LiveInputs:
    """The inputs, and the time that they bound. Before ``begin`` time need not wait for anything; from then on it
    follows the wall clock. Connections take turns, so that one that sends very much delays no other.

    Attributes:
        rate: virtual seconds for each second.
        observer: is called with each input.
        perform: handles each input, in the world.
        wall_ns: the clock, monotonic.
    """

    rate: float = 1.0
    observer: Observer | None = None
    perform: Callable[[Any], object] = _not_yet
    wall_ns: Callable[[], int] = time.perf_counter_ns
    _waiting: dict[int, deque[Input]] = field(factory=dict)
    """The waiting inputs of each connection that has any."""
    _turns: deque[int] = field(factory=deque)
    """These connections, in the order of their turns."""
    _took_ns: int | None = None
    """The time when the first input was taken since the last look at the clock; None: none was."""
    _began_us: int = 0
    _began_ns: int | None = None
    _horizon_us: float = 0
    """How far time could go at the last look at the clock."""
    _looked_ns: int = 0
    _due_ns: float = 0
    """When the next look was due."""

    def begin(self, now_us: int) -> None:
        """Let virtual time, which is ``now_us`` now, follow the clock."""
        self._began_us = self._horizon_us = now_us
        self._began_ns = self._looked_ns = self.wall_ns()

    def put(self, given: Input) -> None:
        """Queue an input from outside."""
        connection = _OPERATIONS if isinstance(given, Operation) else given.connection
        waiting = self._waiting.get(connection)
        if waiting is None:
            self._waiting[connection] = deque((given,))
            self._turns.append(connection)
        else:
            waiting.append(given)

    def horizon_us(self, next_us: float) -> int:
        """The virtual time that the clock shows. If time is late, it is a turn beyond the next event, so that requests
        are taken meanwhile, and no further than ``HURRY`` lets it."""
        self._took_ns = None
        if self._began_ns is None:
            return UNBOUNDED
        wall_ns = self.wall_ns()
        passed_ns = min(wall_ns, max(self._looked_ns, self._due_ns) + STALL_NS) - self._looked_ns
        self._looked_ns = wall_ns
        shown_us = self._began_us + (wall_ns - self._began_ns) * self.rate / 1000
        hurried_us = self._horizon_us + passed_ns * self.rate * HURRY / 1000
        self._horizon_us = min(shown_us, next_us + TURN_NS / 1000 * self.rate, hurried_us)
        return int(self._horizon_us)

    def take(self, now_us: int) -> Input | None:
        """The next input, which ``observer`` is called with. None: there is none, or it is time to look at the
        clock."""
        if not self._turns:
            return None
        wall_ns = self.wall_ns()
        if self._took_ns is None:
            self._took_ns = wall_ns
        elif wall_ns - self._took_ns > TURN_NS:
            return None
        connection = self._turns.popleft()
        waiting = self._waiting[connection]
        given = waiting.popleft()
        if waiting:
            self._turns.append(connection)
        else:
            del self._waiting[connection]
        if self.observer is not None:
            self.observer.observe(now_us, given)
        return given

    def seconds_until(self, t_us: float) -> float:
        """The time until ``horizon_us`` can be ``t_us``, in seconds."""
        if self.observer is not None:
            self.observer.flush()
        if self._turns:
            self._due_ns = 0
            return 0.0
        if t_us == math.inf or self._began_ns is None:
            self._due_ns = math.inf
            return t_us
        shown_ns = self._began_ns + (t_us - self._began_us) * 1000 / self.rate
        hurried_ns = self._looked_ns + (t_us - self._horizon_us) * 1000 / self.rate / HURRY
        self._due_ns = max(shown_ns, hurried_ns)
        return max(0.0, (self._due_ns - self.wall_ns()) / 1e9)
