"""Periodic work of a process. Ticks that would find nothing to do are jumped over."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from attrs import define, field

if TYPE_CHECKING:
    from emulator.nodes.process import Process


@define(eq=False, repr=False)
class Ticks:
    """Calls ``work`` each ``period_us``, in the background, until the process dies; first at ``Process.until_tick``.

    While ``is_idle()`` no timer is set. Code that gives it work calls ``rouse`` first. The next tick then comes at the
    time, and in the place among the events of that time, that it would have if all ticks before it had been simulated.
    Both follow from the last tick, since each sets the timer of the next (``World.call_in_line``).
    """

    process: "Process"
    period_us: int
    work: Callable[[], object]
    is_idle: Callable[[], bool]
    _rank: int = field(init=False)
    _parked_us: int = -1
    """The time of the last tick before the ticks were parked; -1: a timer is set."""

    def __attrs_post_init__(self) -> None:
        self._rank = self.process.world.line()
        self.process.timer_in_line(self._rank, self.process.until_tick(self.period_us), self._tick)

    def _tick(self, _: object) -> None:
        self.work()
        process = self.process
        if not process.alive:
            return
        if self.is_idle() and not (process.world.simulate_idle or process.paused):
            self._parked_us = process.world.now
            process.parked.add(self)
        else:
            process.timer_in_line(self._rank, self.period_us, self._tick)

    def rouse(self) -> None:
        """Tick again, because there may be work from now on."""
        if self._parked_us < 0:
            return
        world, period_us = self.process.world, self.period_us
        last_us = world.now - (world.now - self._parked_us) % period_us
        if last_us > self._parked_us and not world.is_past(last_us, last_us - period_us, self._rank):
            last_us -= period_us  # the tick of this same instant is still to come
        self._parked_us = -1
        self.process.parked.remove(self)
        self.process.timer_in_line(self._rank, period_us, self._tick, last_us)
