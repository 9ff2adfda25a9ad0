"""Periodic work of a process. Ticks that would find nothing to do are jumped over."""

from collections.abc import Callable, Iterator, MutableMapping
from typing import TYPE_CHECKING, Any, TypeVar

from attrs import define, field

if TYPE_CHECKING:
    from emulator.nodes.process import Process


Key = TypeVar("Key")
Value = TypeVar("Value")


@define(eq=False, repr=False)
class Agenda(MutableMapping[Key, Value]):
    """The entries that periodic work checks, as a dictionary. The first entry rouses the ticks of that work, so none is
    missed."""

    _entries: dict[Key, Value] = field(factory=dict, init=False)
    _ticks: list["Ticks"] = field(factory=list, init=False)

    def looked_at_by(self, ticks: "Ticks") -> None:
        """Park ``ticks`` while this is empty, and rouse them at the first entry."""
        self._ticks.append(ticks)

    def __setitem__(self, key: Key, value: Value) -> None:
        if not self._entries:
            for ticks in self._ticks:
                ticks.rouse()
        self._entries[key] = value

    def __getitem__(self, key: Key) -> Value:
        return self._entries[key]

    def __delitem__(self, key: Key) -> None:
        del self._entries[key]

    def __iter__(self) -> Iterator[Key]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def clear(self) -> None:
        self._entries.clear()


@define(eq=False, repr=False)
class Ticks:
    """Calls ``work`` each ``period_us``, in the background, until the process dies; first at ``Process.until_tick``.

    While ``agenda`` is empty no timer is set. When its first entry comes, the next tick comes at the time, and in
    the place among the events of that time, that it would have if all before it had been simulated. Both follow from
    the last tick, since each sets the timer of the next (``World.call_in_line``). None: each tick is simulated.
    """

    process: "Process"
    period_us: int
    work: Callable[[], object]
    agenda: Agenda[Any, Any] | None = None
    _rank: int = field(init=False)
    _parked_us: int = -1
    """The time of the last tick before the ticks were parked; -1: a timer is set."""

    def __attrs_post_init__(self) -> None:
        self._rank = self.process.world.line()
        if self.agenda is not None:
            self.agenda.looked_at_by(self)
        self.process.timer_in_line(self._rank, self.process.until_tick(self.period_us), self._tick)

    def _tick(self, _: object) -> None:
        self.work()
        process = self.process
        if not process.alive:
            return
        idle = self.agenda is not None and not self.agenda
        if idle and not (process.world.simulate_idle or process.paused):
            self._parked_us = process.world.now
            process.parked.add(self)
        else:
            process.timer_in_line(self._rank, self.period_us, self._tick)

    def rouse(self) -> None:
        """Set the timer of the next tick, if none is set, because there may be work from now on."""
        if self._parked_us < 0:
            return
        world, period_us = self.process.world, self.period_us
        last_us = world.now - (world.now - self._parked_us) % period_us
        if last_us > self._parked_us and not world.is_past(last_us, last_us - period_us, self._rank):
            last_us -= period_us  # the tick of this same instant is still to come
        self._parked_us = -1
        self.process.parked.remove(self)
        self.process.timer_in_line(self._rank, period_us, self._tick, last_us)
