"""Every protocol step is a gate: a place where a scenario can hold a process and inject a fault.

The code that performs a step reaches the gate before and after it. A gate without hooks costs a dictionary look-up and
an event; it neither yields to other tasks nor draws a random number.
"""

from collections.abc import Callable
from typing import Literal

from attrs import define, field, frozen

from emulator.kernel import Signal
from emulator.nodes import Process
from emulator.trace.events import Step

Edge = Literal["before", "after"]


@frozen(eq=False)
class Visit:
    """``process`` is at an edge of ``step``. Fields that do not apply are ``""`` or -1; ``seq`` is that of the
    ``Step`` event."""

    process: Process
    step: str
    edge: Edge
    topic: str
    partition: int
    broker: int
    hop: int
    seq: int


Hook = Callable[[Visit], "Signal | None"]
"""Called with each visit of a gate, in the order in which hooks were armed. If it returns a signal, the process waits
for that."""


@define(eq=False)
class Gates:
    """The gates of one world that have hooks."""

    _armed: dict[tuple[str, Edge], list[Hook]] = field(factory=dict)

    def arm(self, step: str, edge: Edge, hook: Hook) -> None:
        """Call ``hook`` at each later visit of this edge of ``step``."""
        self._armed.setdefault((step, edge), []).append(hook)

    def disarm(self, step: str, edge: Edge, hook: Hook) -> None:
        self._armed[step, edge].remove(hook)

    async def reach(
        self,
        process: Process,
        step: str,
        edge: Edge,
        *,
        topic: str = "",
        partition: int = -1,
        broker: int = -1,
        hop: int = 0,
        detail: str = "",
    ) -> None:
        """``process`` is at ``edge`` of ``step``. Returns when the hooks let it continue; never, if it was
        killed here."""
        event = process.anchor(Step, step, edge, topic, partition, broker, hop, process.node.id, detail)
        hooks = self._armed.get((step, edge))
        if not hooks:
            return
        visit = Visit(process, step, edge, topic, partition, broker, hop, event.seq)
        for hook in list(hooks):
            if hook not in hooks:
                continue  # disarmed while an earlier one held the process
            hold = hook(visit)
            if hold is not None:
                await hold.wait()
                process.node.trace.cause = event.seq
            if not process.alive or process.paused:
                # Killed at its own gate: the cancellation is raised at this wait. Paused: continues when resumed.
                await process.world.sleep(0)
