"""The inputs of a live run: what the sockets have read, at the times of the wall clock."""

import math
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Protocol

from attrs import define, field

from emulator.kernel.live import UNBOUNDED
from scenarios.wire.inputs import Input


class Observer(Protocol):
    """Sees each input. This is the only place where an input and its virtual time are known."""

    def observe(self, t_us: int, given: Input) -> object:
        """``given`` is handled at ``t_us``, in microseconds. Called in order."""

    def flush(self) -> object:
        """There is nothing to do for a moment."""


def _not_yet(given: Input) -> None:
    raise AssertionError(f"there is nothing that could handle {given}")


@define(eq=False)
class LiveInputs:
    """Before ``begin`` time need not wait for anything; from then on it follows the wall clock.

    Attributes:
        rate: virtual seconds for each second.
        observer: sees each input.
        perform: handles each input, in the world.
        wall_ns: the clock, monotonic.
    """

    rate: float = 1.0
    observer: Observer | None = None
    perform: Callable[[Any], object] = _not_yet
    wall_ns: Callable[[], int] = time.perf_counter_ns
    _waiting: deque[Input] = field(factory=deque)
    _began_us: int = 0
    _began_ns: int | None = None

    def begin(self, now_us: int) -> None:
        """Virtual time is ``now_us`` now, and follows the clock."""
        self._began_us, self._began_ns = now_us, self.wall_ns()

    def put(self, given: Input) -> None:
        """Something has come from outside."""
        self._waiting.append(given)

    def horizon_us(self) -> int:
        """The virtual time that the clock shows."""
        if self._began_ns is None:
            return UNBOUNDED
        return self._began_us + int((self.wall_ns() - self._began_ns) * self.rate / 1000)

    def take(self, now_us: int) -> Input | None:
        """The next input, which is seen by ``observer``."""
        if not self._waiting:
            return None
        given = self._waiting.popleft()
        if self.observer is not None:
            self.observer.observe(now_us, given)
        return given

    def seconds_until(self, t_us: float) -> float:
        """How long the clock takes until it shows ``t_us``."""
        if self.observer is not None:
            self.observer.flush()
        if t_us == math.inf or self._began_ns is None:
            return t_us
        due_ns = self._began_ns + (t_us - self._began_us) * 1000 / self.rate
        return max(0.0, (due_ns - self.wall_ns()) / 1e9)
