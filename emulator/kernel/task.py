"""A world task: a real Trio task that spends its waiting time outside Trio's scheduler.

A task that waits is detached with ``trio.lowlevel.temporarily_detach_coroutine_object`` and resumed by the world with
``coro.send``. It is reattached to be cancelled, to open or close a nursery, and to finish. So switching between tasks
is cheap, while cancellation, exceptions and nurseries remain Trio's.
"""

import types
from collections.abc import Callable, Generator
from heapq import heappush
from types import TracebackType
from typing import TYPE_CHECKING, Any, NoReturn

import trio
from attrs import define, field

from emulator.kernel.kernel_errors import DeadIncarnation

if TYPE_CHECKING:
    from emulator.kernel.world import World

Park = Generator[Any, Any, Any]


class _Sentinel:
    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return self.name


CANCELLED = _Sentinel("CANCELLED")
"""Sent into a parked task that must go back to Trio and raise ``trio.Cancelled``."""

PARKED = _Sentinel("PARKED")
"""Yielded to the world by a detached task that waits. Anything else that is yielded comes from a foreign await."""

REATTACH = _Sentinel("REATTACH")
"""Yielded to the world by a detached task that has to be continued by Trio."""


@define(eq=False)
class Task:
    """One task of the world.

    Attributes:
        serial: its place in the order of spawning. Wherever tasks have to be ordered, this is the order.
        frozen: whether its process is paused. The values sent to it are then kept in ``backlog`` until it is thawed.
        waiting_on, since_us: the thing that it waits for and the time since when, for reports.
        nap: the number of its current ``World.sleep``; 0 when it does not sleep.
        send: resumes it with a value; None unless it is detached and not frozen.
        scope: the cancel scope of ``cancel``; None: the task cannot be cancelled alone.
    """

    world: "World"
    name: str
    serial: int
    attached: bool = True
    finished: bool = False
    frozen: bool = False
    backlog: list[Any] = field(factory=list)
    waiting_on: object = None
    since_us: int = 0
    nap: int = 0
    trio_task: trio.lowlevel.Task | None = None
    send: Callable[[Any], Any] | None = None
    raise_cancel: Callable[[], NoReturn] | None = None
    scope: trio.CancelScope | None = None

    def cancel(self) -> None:
        """End the task in the middle of its wait; one that runs ends at its next wait."""
        assert self.scope is not None, f"{self.name} was not spawned as cancellable"
        self.scope.cancel()

    def adopt(self) -> None:
        """Bind to the Trio task that runs this very call."""
        self.trio_task = trio.lowlevel.current_task()

    def freeze(self) -> None:
        """Keep the values sent to the task from now on."""
        self.frozen = True
        self.send = None

    def thaw(self) -> None:
        """Resume a frozen task with the values that were kept."""
        backlog, self.backlog = self.backlog, []
        self._unfreeze()
        self.world.ready.extend((self, value) for value in backlog)

    def abandon(self) -> None:
        """Drop the values kept for a frozen task, which is about to be cancelled."""
        self.backlog.clear()
        self._unfreeze()

    def _unfreeze(self) -> None:
        self.frozen = False
        if not self.attached and self.trio_task is not None:
            self.send = self.trio_task.coro.send

    def abort(self, raise_cancel: Callable[[], NoReturn]) -> trio.lowlevel.Abort:
        """Trio's request to cancel this task: recorded, because the world delivers cancellations one by one, in
        serial order."""
        if self.raise_cancel is None:
            heappush(self.world.cancellations, (self.serial, self))
        self.raise_cancel = raise_cancel
        return trio.lowlevel.Abort.FAILED

    @types.coroutine
    def suspend(self) -> Park:
        """Leave Trio's scheduler (on the attached backend: wait in it). Returns the value that the task is
        resumed with."""
        if self.world.detaching:
            self.attached = False
            if not self.frozen:
                assert self.trio_task is not None
                self.send = self.trio_task.coro.send
            return (yield from trio.lowlevel.temporarily_detach_coroutine_object(self.abort).__await__())  # noqa: ASYNC105
        return (yield from trio.lowlevel.wait_task_rescheduled(self.abort).__await__())  # noqa: ASYNC105

    @types.coroutine
    def reattach(self) -> Generator[Any, Any, None]:
        """Return to Trio's scheduler; no effect if the task is attached already.

        A cancellation that was recorded and not delivered is dropped: Trio raises it at the task's next checkpoint.
        """
        # The world skips the entry that this leaves among its cancellations.
        self.raise_cancel = None
        if not self.attached:
            self.attached = True
            self.send = None
            assert self.trio_task is not None
            yield from trio.lowlevel.reattach_detached_coroutine_object(self.trio_task, REATTACH).__await__()  # noqa: ASYNC105
            self.world.current = self

    @types.coroutine
    def cancelled(self) -> Generator[Any, Any, NoReturn]:
        """Raise the pending ``trio.Cancelled`` in this task, under Trio."""
        raise_cancel, self.raise_cancel = self.raise_cancel, None
        assert raise_cancel is not None, "CANCELLED sent to a task that was not cancelled"
        yield from self.reattach()
        raise_cancel()


class WorldNursery:
    """``async with world.open_nursery() as nursery``: a ``trio.Nursery`` whose children are started with
    ``world.spawn(nursery, ...)``. The body may wait on the world; entering and leaving happen under Trio."""

    def __init__(self, world: "World") -> None:
        self._world = world
        self._task = world.current
        self._manager = trio.open_nursery()

    async def __aenter__(self) -> trio.Nursery:
        await self._task.reattach()
        return await self._manager.__aenter__()

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        await self._task.reattach()
        if isinstance(error, DeadIncarnation):
            # As at the end of a task: if the process was killed, its cancellation is raised, not this error.
            try:
                await trio.lowlevel.checkpoint_if_cancelled()
            except trio.Cancelled as cancelled:
                kind, error, traceback = type(cancelled), cancelled, cancelled.__traceback__
        self._task.waiting_on = "its nursery's children"
        self._task.since_us = self._world.now
        try:
            return await self._manager.__aexit__(kind, error, traceback)
        finally:
            self._world.current = self._task
