"""Foreground work: what keeps the world from being settled although no foreground event is pending."""

from collections.abc import Callable
from types import TracebackType
from typing import Any, Protocol

from attrs import define, field

from emulator.kernel.world import Timer, World


@define(eq=False, repr=False)
class Busy:
    """``with Busy(world): ...``: the world is not settled inside the block, even while the work waits for an answer
    that a cut link holds back. A killed task leaves the block like any other."""

    world: World

    def __enter__(self) -> None:
        self.world.foreground += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.world.foreground -= 1


class Timers(Protocol):
    """A process, as far as ``PendingWork`` uses it."""

    @property
    def monotonic_us(self) -> int: ...

    def call_later(
        self, delay_us: int, fn: Callable[[Any], object], arg: Any = None, *, background: bool = True
    ) -> Timer: ...


@define(eq=False, repr=False, weakref_slot=False)
class PendingWork:
    """Keeps the world from being settled while a role has work that only background messages or timers will start.

    A long poll is background; otherwise an idle cluster would never be settled. Work that arrives while a poll is
    parked (new partitions for the thread that waits for the answer, records that a quota holds back) is therefore
    declared here, with a limit: a leader that never answers must not keep the world unsettled.
    """

    _process: Timers
    _timer: Timer | None = field(default=None, init=False)
    _until_us: int = field(default=0, init=False)

    def hold(self, for_us: int) -> None:
        """Declare work. It counts until ``release``, or for ``for_us`` at most."""
        self._until_us = self._process.monotonic_us + for_us
        if self._timer is None:
            self._timer = self._process.call_later(for_us, self._over, background=False)

    def release(self) -> None:
        """End the declaration: the work was started."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _over(self, _: object) -> None:
        # One timer, moved lazily: a throttled follower calls ``hold`` at each poll.
        self._timer = None
        left_us = self._until_us - self._process.monotonic_us
        if left_us > 0:
            self.hold(left_us)
