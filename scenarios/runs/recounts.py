"""For one seed in twenty the checkers of metrics are verified: all through the run their state, which follows changes,
is compared with a recount from scratch (readings §10). A change that a checker has missed shows there."""

from typing import Any

from attrs import define

from emulator.kernel import World
from scenarios.observe.checkers import Checkers

ONE_IN = 20
PERIOD_US = 100_000


def recounts(world: World) -> bool:
    """Whether the seed of ``world`` is one of them; drawn from a stream of its own."""
    return world.stream("recounts").below(ONE_IN) == 0


@define(eq=False)
class Recounts:
    """Recounts ten times a virtual second. The events of the run do not depend on it."""

    world: World
    checkers: Checkers

    def begin(self) -> None:
        """Begin, if the seed is one of them."""
        if recounts(self.world):
            self._count(None)

    def _count(self, _: Any) -> None:
        self.checkers.recount(self.world.now)
        self.world.call_later(PERIOD_US, self._count, None, True)
