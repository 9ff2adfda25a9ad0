"""Trio's nursery, opened and closed from a world task."""

from types import TracebackType
from typing import TYPE_CHECKING

import trio

from emulator.kernel.errors import DeadIncarnation

if TYPE_CHECKING:
    from emulator.kernel.world import World


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
            # As at the end of a task: where the process was killed, its cancellation is what goes on.
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
