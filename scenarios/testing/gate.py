"""A protocol step that a test holds: the process that reaches it waits until the test has done what it wants."""

from __future__ import annotations

from types import TracebackType

from attrs import define, field

from emulator.gates import Gates, Visit
from emulator.kernel import Signal, World
from scenarios.faults.arming import GateFilter
from scenarios.testing.virtual_time import NotInTime, duration_us, set_in_time


@define(eq=False)
class HeldGate:
    """``with c.gate(...) as gate``: from here on the step is held; at the end of the block what waits there goes on.

    Attributes:
        name: the step, its edge and partition, in words.
    """

    name: str
    _world: World
    _gates: Gates
    _filter: GateFilter
    _reached: Signal = field(init=False)
    _release: Signal = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._reached = Signal(self._world, f"a visit of {self.name}")
        self._release = Signal(self._world, f"the release of {self.name}")

    async def reached(self, within: str = "30s") -> Visit:
        """Wait until a process is held here, and return its visit: which step, of which partition, for which broker.

        Raises: NotInTime.
        """
        __tracebackhide__ = True
        if not await set_in_time(self._world, self._reached, duration_us(within)):
            raise NotInTime(f"nothing has reached {self.name} within {within}")
        visit: Visit = self._reached.value
        return visit

    def release(self) -> None:
        """Let what is held here go on, and hold nothing more. Doing it twice changes nothing."""
        if not self._release.is_set:
            self._gates.disarm(self._filter.step, self._filter.edge, self._visited)
            self._release.set()

    def _visited(self, visit: Visit) -> Signal | None:
        if not self._filter.lets(visit):
            return None
        self._reached.set(visit)
        return self._release

    def __enter__(self) -> HeldGate:
        self._gates.arm(self._filter.step, self._filter.edge, self._visited)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Raises: NotInTime where nothing has come here, so that the test has tested nothing."""
        __tracebackhide__ = True
        self.release()
        if error is None and not self._reached.is_set:
            raise NotInTime(f"nothing has reached {self.name}")
