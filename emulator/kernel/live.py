"""A world whose time follows something outside: a clock with the frames of real clients, or their recording.

Whatever comes from outside is an *input*. Time goes up to a horizon that the source of the inputs gives, and stops
there. When everything up to the horizon is handled, one input is handled at that time, as an event after all others of
that instant; then again everything up to the horizon, and the next one. So what happens depends on the inputs, their
order and the virtual time of each, and on nothing else: not on how much was handled at once, not on when the
sockets were read.
"""

import math
from collections.abc import Callable
from heapq import heappop
from typing import TYPE_CHECKING, Any, Protocol

import trio
from outcome import Value

from emulator.kernel.task import PARKED, REATTACH
from emulator.kernel.world import Backend, World

if TYPE_CHECKING:
    from emulator.schedules import Schedule

UNBOUNDED = 1 << 62
"""The horizon while time need not wait for anything."""
LIVE_EVENTS_BETWEEN_COLLECTIONS = 200_000
"""Events between two collections of a live run. It can last for days, and a collection takes some 20 ms, for which next
to nothing waits."""


class Inputs(Protocol):
    """The source of a live world's time and inputs."""

    def horizon_us(self, next_us: float) -> int:
        """The virtual time up to which the world may go now. It never decreases.

        Args:
            next_us: the time when the next event is due; infinite: none is.
        """

    def take(self, now_us: int) -> Any | None:
        """The next input, which is handled at ``now_us``, the last horizon; None: none came by then."""

    def seconds_until(self, t_us: float) -> float:
        """The real time, in seconds, until the horizon is ``t_us``, which may be infinite. Trio sleeps for so long, or
        until a socket is ready."""

    def perform(self, given: Any) -> object:
        """Handle an input that ``take`` has returned. It may do what an event may do."""


class LiveWorld(World):
    """A world whose time is bounded by ``inputs``.

    Attributes:
        pause: called with the seconds for which there is nothing to do. It may wait for what Trio does not know of, and
            returns how long Trio may sleep then.

    Ordinary Trio tasks may run beside it in the same ``trio.run``. They read and write sockets, and never touch the
    world: what they have read they put where ``inputs.take`` finds it. What the world starts or wakes among them, it
    announces with ``wake``.
    """

    def __init__(
        self, seed: int, inputs: Inputs, *, backend: Backend = "detached", schedule: "Schedule | None" = None
    ) -> None:
        super().__init__(seed, backend=backend, schedule=schedule)
        self.events_between_collections = self._collect_at = LIVE_EVENTS_BETWEEN_COLLECTIONS
        self.inputs = inputs
        self.pause: Callable[[float], float] = _leave_to_trio
        self._horizon_us = 0
        self._reached = True
        """Whether everything up to the horizon is handled, and no input was left."""
        self._woken = False

    def wake(self) -> None:
        """A Trio task outside the world can go on: Trio may not sleep before it has run."""
        self._woken = True

    def horizon_moved(self) -> None:
        """Ask the inputs again how far time may go."""
        self._horizon_us = max(self.now, self.inputs.horizon_us(self._next_us))

    @property
    def _next_us(self) -> float:
        return self._heap[0][0] if self._heap else math.inf

    # A copy of the loop of ``World``, with comments where the two differ.
    def _drain(self) -> float:
        ready, heap, cancellations = self.ready, self._heap, self.cancellations
        if self._reached:
            # While there is more to do than the time allows for, the horizon stays until it is reached: otherwise no
            # input would ever be taken.
            self._reached = False
            self.horizon_moved()
        span = self._span()
        for handled in range(span):
            if cancellations and self._deliver_cancellation():
                break
            if ready:
                task, value = ready.popleft()
                send = task.send
                if send is not None:
                    self.current = task
                    answer = send(value)
                    if answer is PARKED:
                        continue
                    if answer is not REATTACH:
                        self._refuse_await(task, answer)
                    break
                if task.frozen:
                    task.backlog.append(value)
                elif task.trio_task is None:
                    ready.appendleft((task, value))
                    self._handled += handled
                    return 0.0
                else:
                    self.current = task
                    trio.lowlevel.reschedule(task.trio_task, Value(value))
                    break
            elif self._settled and not (heap and (self.foreground or any(holds() for holds in self._unsettled_while))):
                # Before the inputs are asked: whether the world is settled depends only on what is pending.
                waiting, self._settled = self._settled, []
                for settle in waiting:
                    settle()
            elif heap and heap[0][0] <= self._horizon_us:
                self.now, self.since_us, self.sequence, fn, arg = heappop(heap)
                if not self.sequence & 1:
                    self.foreground -= 1
                try:
                    fn(arg)
                except Exception as error:
                    if self.contain is None or not self.contain(error):
                        raise
            elif not self._take_input():
                self._handled += handled
                return self._wait(handled)
        else:
            handled = span - 1
        self._handled += handled + 1
        self._idle_turns = 0
        return 0.0

    def _take_input(self) -> bool:
        """Handle the next input after all events of the present horizon. False: there is none."""
        if self._horizon_us >= UNBOUNDED:
            return False
        given = self.inputs.take(self._horizon_us)
        if given is None:
            return False
        self.now = self._horizon_us
        self.call_at(self.now, self.inputs.perform, given)
        return True

    def _wait(self, handled: int) -> float:
        """Wait: everything up to the horizon is handled, and there is no input. Returns how long Trio may sleep, in
        seconds.

        Raises: Deadlock where nothing bounds the time and nothing is pending.
        """
        if self._horizon_us >= UNBOUNDED:
            return self._idle(handled)
        self._reached = True
        if self._woken:
            self._woken = False
            return 0.0
        return self.pause(self.inputs.seconds_until(self._next_us))


async def readable(file: int) -> None:
    """Wait in Trio until a file can be read: for tasks outside the world."""
    await trio.lowlevel.wait_readable(file)


def _leave_to_trio(seconds: float) -> float:
    """The default of ``LiveWorld.pause``."""
    return seconds
