"""A protocol step that a test holds: a process that reaches it waits until the test releases it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from types import TracebackType

import trio
from attrs import define, field

from emulator.gates import Gates, Visit
from emulator.kernel import Mailbox, Signal, World
from scenarios.faults.arming import GateFilter
from scenarios.testing.virtual_time import NotInTime, duration_us


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
    _do: Callable[[Visit], object] | None = None
    _visit: Visit | None = field(init=False, default=None)
    _bell: Mailbox = field(init=False)
    _release: Signal = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._bell = Mailbox(self._world, f"a visit of {self.name}")
        self._release = Signal(self._world, f"the release of {self.name}")

    async def reached(self, within: str = "30s") -> Visit:
        """Wait until a process is held here, and return its visit: the step, its partition, its broker, the process.

        Raises: NotInTime.
        """
        __tracebackhide__ = True
        if self._visit is None:
            with suppress(trio.TooSlowError):
                await self._bell.get_within(duration_us(within))
        if self._visit is None:
            raise NotInTime(f"nothing has reached {self.name} within {within}")
        return self._visit

    def release(self) -> None:
        """Let what is held here go on, and hold nothing more. Doing it twice changes nothing."""
        if not self._release.is_set:
            self._filter.disarm(self._gates, self._visited)
            self._release.set()

    def _visited(self, visit: Visit) -> Signal | None:
        if not self._filter.lets(visit):
            return None
        if self._visit is None:
            self._visit = visit
            self._bell.put(None)
            if self._do is not None:
                self._do(visit)
        return self._release

    def __enter__(self) -> HeldGate:
        self._filter.arm(self._gates, self._visited)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """End the hold. Raises: NotInTime if no process has reached the step, so that the test has tested nothing."""
        __tracebackhide__ = True
        self.release()
        if error is None and self._visit is None:
            raise NotInTime(f"nothing has reached {self.name}")
