"""On one seed of twenty the truth of metrics is not only followed by changes but counted anew as well, all through the
run (readings §10): what the checkers forget to follow shows there."""

from typing import Any

from attrs import define

from emulator.kernel import World
from scenarios.observe.checkers import Checkers

ONE_IN = 20
PERIOD_US = 100_000


def recounts(world: World) -> bool:
    """Whether the seed of ``world`` is such a one; drawn from a stream of its own."""
    return world.stream("recounts").below(ONE_IN) == 0


@define(eq=False)
class Recounts:
    """Counts ten times a second. The run itself is the same with and without."""

    world: World
    checkers: Checkers

    def begin(self) -> None:
        """From now on, on such a seed."""
        if recounts(self.world):
            self._count(None)

    def _count(self, _: Any) -> None:
        self.checkers.recount(self.world.now)
        self.world.call_later(PERIOD_US, self._count, None, True)
