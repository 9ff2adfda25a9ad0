"""How tasks wait for each other: a mailbox with one reader, and a signal with any number of waiters.

The waiting methods are generator coroutines with one frame each, because waiting is the world's hottest path.
"""

import types
from collections import deque
from collections.abc import Generator
from typing import TYPE_CHECKING, Any

import trio

from emulator.kernel.kernel_errors import KernelError
from emulator.kernel.task import CANCELLED, PARKED, Task, _Sentinel

if TYPE_CHECKING:
    from emulator.kernel.world import World

EXPIRED = _Sentinel("EXPIRED")

NEVER = 1 << 62
"""Later than any instant of any run."""


class Mailbox:
    """An unbounded queue with a single reader. ``put`` never waits and may be called from any event.

    A mailbox has one alarm for all its time-outs, which is set again when it rings too early: one alarm per wait would
    fill the heap of events with useless entries.
    """

    __slots__ = ("_alarm_us", "_deadline_us", "_items", "_ready", "_waiter", "_world", "name")

    def __init__(self, world: "World", name: str = "mailbox") -> None:
        self.name = name
        self._world = world
        self._items: deque[Any] = deque()
        self._waiter: Task | None = None
        self._ready = world.ready
        self._deadline_us = NEVER
        self._alarm_us = NEVER

    def __repr__(self) -> str:
        return f"Mailbox({self.name})"

    def __len__(self) -> int:
        return len(self._items)

    def put(self, item: Any) -> None:
        """Give ``item`` to the reader: at once if it waits, else after the items that are queued."""
        waiter = self._waiter
        if waiter is None:
            self._items.append(item)
        else:
            self._waiter = None
            self._ready.append((waiter, item))

    def clear(self) -> list[Any]:
        """Remove all queued items and return them in order."""
        items = list(self._items)
        self._items.clear()
        return items

    @types.coroutine
    def get(self) -> Generator[Any, Any, Any]:
        """Wait for the next item."""
        if self._items:
            return self._items.popleft()
        world = self._world
        task = world.current
        if self._waiter is not None:
            raise KernelError(f"{self} has a reader already: {self._waiter.name}")
        self._waiter = task
        task.waiting_on = self
        task.since_us = world.now
        if task.attached:
            item = yield from task.suspend()
        else:
            item = yield PARKED
        if item is CANCELLED:
            if self._waiter is task:
                self._waiter = None
            yield from task.cancelled()
        return item

    @types.coroutine
    def get_within(self, timeout_us: int, background: bool = True) -> Generator[Any, Any, Any]:
        """Wait for the next item for at most ``timeout_us``. A foreground wait keeps the world from being settled.

        Raises:
            trio.TooSlowError: no item came in time.
        """
        if self._items:
            return self._items.popleft()
        world = self._world
        task = world.current
        if self._waiter is not None:
            raise KernelError(f"{self} has a reader already: {self._waiter.name}")
        task.since_us = now = world.now
        self._deadline_us = deadline = now + timeout_us
        if deadline < self._alarm_us:
            self._alarm_us = deadline
            world.call_at(deadline, self._ring, deadline, True)
        if not background:
            world.foreground += 1
        self._waiter = task
        task.waiting_on = self
        item = (yield from task.suspend()) if task.attached else (yield PARKED)
        self._deadline_us = NEVER
        if not background:
            world.foreground -= 1
        if item is EXPIRED:
            raise trio.TooSlowError(f"nothing in {self.name} for {timeout_us} us")
        if item is CANCELLED:
            if self._waiter is task:
                self._waiter = None
            yield from task.cancelled()
        return item

    def _ring(self, alarm_us: int) -> None:
        """The alarm set for ``alarm_us`` rings. It may have been replaced, or be too early for the current wait."""
        if alarm_us != self._alarm_us:
            return
        self._alarm_us = NEVER
        deadline = self._deadline_us
        if deadline > alarm_us:
            if deadline < NEVER:
                self._alarm_us = deadline
                self._world.call_at(deadline, self._ring, deadline, True)
        elif self._waiter is not None:
            self._world.begins()
            self.put(EXPIRED)


class Signal:
    """A one-way switch: tasks wait until it is set. They wake in the order in which they began to wait."""

    __slots__ = ("_waiters", "_world", "name", "value")

    def __init__(self, world: "World", name: str = "signal") -> None:
        self.name = name
        self.value: Any = None
        self._world = world
        self._waiters: list[Task] | None = []

    def __repr__(self) -> str:
        return f"Signal({self.name})"

    @property
    def is_set(self) -> bool:
        return self._waiters is None

    def set(self, value: Any = None) -> None:
        """Wake all waiting tasks; later waits return at once. Setting twice changes nothing."""
        waiters, self._waiters = self._waiters, None
        if waiters is not None:
            self.value = value
            self._world.ready.extend((task, value) for task in waiters)

    @types.coroutine
    def wait(self) -> Generator[Any, Any, Any]:
        """Wait until the signal is set and return its value."""
        if self._waiters is None:
            return self.value
        world = self._world
        task = world.current
        self._waiters.append(task)
        task.waiting_on = self
        task.since_us = world.now
        value = (yield from task.suspend()) if task.attached else (yield PARKED)
        if value is CANCELLED:
            if self._waiters is not None:
                self._waiters.remove(task)
            yield from task.cancelled()
        return value
