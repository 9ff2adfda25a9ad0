"""The operations that operators wait for, whichever way they came in: over the control socket, or over HTTP."""

from collections.abc import Callable

import trio
from attrs import define, field

from emulator.kernel.live import LiveWorld
from scenarios.wire.operations.performing import Answer, read


@define(eq=False)
class _PendingOperation:
    """An operation that is not answered yet."""

    done: trio.Event = field(factory=trio.Event)
    answer: Answer = field(factory=dict)


@define(eq=False)
class PendingOperations:
    """The operations of one run that are not answered yet. An operation becomes an input of the live run, as the frames
    of clients do, and is answered when it was performed.

    Attributes:
        operate: enters a line into the world as an operation, and returns its number.
    """

    world: LiveWorld
    operate: Callable[[str], int]
    _pending: dict[int, _PendingOperation] = field(factory=dict)

    async def perform(self, text: str) -> Answer:
        """Have an operation performed, a JSON object in one line, and return its answer. Raises: BadInput where it is
        no operation."""
        read(text)
        pending = _PendingOperation()
        number = self.operate(text)
        self._pending[number] = pending
        try:
            await pending.done.wait()
        finally:
            self._pending.pop(number, None)
        return pending.answer

    def answered(self, number: int, answer: Answer) -> None:
        """Take the answer to an operation that was performed. The emulation calls this, no task of a connection."""
        pending = self._pending.get(number)
        if pending is not None:
            pending.answer = answer
            pending.done.set()
            self.world.wake()
