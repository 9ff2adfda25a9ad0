"""Work in hand keeps the world from being settled, also where it waits for an answer that a cut link holds back."""

from types import TracebackType

from attrs import define

from emulator.kernel.world import World


@define(eq=False, repr=False)
class Busy:
    """``with Busy(world): ...``: the world is not settled in between. A killed task leaves it like any other."""

    world: World

    def __enter__(self) -> None:
        self.world.foreground += 1

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.world.foreground -= 1
