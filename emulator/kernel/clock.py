"""Trio's clock, lent to the world: Trio asks it how long to sleep exactly when no Trio task can run."""

from typing import TYPE_CHECKING

import trio

if TYPE_CHECKING:
    from emulator.kernel.world import World


class WorldClock(trio.abc.Clock):
    """Hands every idle moment of Trio to ``World.turn``. For those who call ``trio.run`` themselves."""

    def __init__(self, world: "World") -> None:
        self.world = world

    def start_clock(self) -> None:
        """Nothing to start: time stands still until ``World.main`` has a task."""

    def current_time(self) -> float:
        """Virtual seconds. For Trio's own use: the world counts in integer microseconds."""
        return self.world.now / 1_000_000

    def deadline_to_sleep_time(self, deadline: float) -> float:
        return self.world.turn(deadline)
