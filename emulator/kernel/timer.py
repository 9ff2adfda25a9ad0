"""A timer that can be taken back."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from attrs import define

if TYPE_CHECKING:
    from emulator.kernel.world import World


@define(eq=False)
class Timer:
    """One pending call. A foreground timer keeps the world from being settled until it fires or is
    cancelled."""

    world: "World"
    fn: Callable[[Any], object] | None
    arg: Any
    background: bool

    def cancel(self) -> None:
        """Take the call back. Cancelling twice, or after it fired, changes nothing."""
        if self.fn is not None:
            self.fn = None
            if not self.background:
                self.world.foreground -= 1

    @property
    def pending(self) -> bool:
        return self.fn is not None

    def fire(self) -> None:
        fn = self.fn
        if fn is not None:
            self.cancel()
            fn(self.arg)
