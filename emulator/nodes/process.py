"""One incarnation of a program on a node: a nursery with a listener, connections and timers of its own.

Crashing it cancels the nursery. Whatever it tries afterwards raises ``DeadIncarnation``: nothing is flushed,
sent or recorded on the way out.
"""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Protocol

import trio
from attrs import define, field

from emulator.disks import Disk
from emulator.kernel import DeadIncarnation, Signal, Task, Timer, World
from emulator.metrics import Metrics

if TYPE_CHECKING:
    from emulator.nodes.node import Node

CrashKind = Literal["process", "host", "stop"]
"""How a process ends: killed (``process``), killed with its machine (``host``), shut down cleanly (``stop``)."""


class Connection(Protocol):
    """One end of a network connection, as far as the process that owns it is concerned."""

    def owner_died(self, kind: CrashKind) -> None: ...


Main = Callable[["Process"], Awaitable[object]]


@define(eq=False, repr=False)
class Process:
    """One incarnation. ``number`` counts the incarnations of its node from 1."""

    node: "Node"
    number: int
    alive: bool = True
    paused: bool = False
    tasks: list[Task] = field(factory=list)
    endpoints: dict[Connection, None] = field(factory=dict)
    emit: Callable[..., Any] = field(init=False)
    """Record an event in the name of this process: its trace's own ``emit`` until it dies, then
    ``DeadIncarnation``."""
    anchor: Callable[..., Any] = field(init=False)
    """Record an event that causes what follows in this transition."""
    metrics: Metrics = field(init=False)
    """What it shows of itself."""
    _nursery: trio.Nursery | None = None
    _sweep_at: int = 16
    _backlog: list[tuple[Callable[[Any], object], Any]] = field(factory=list)

    def __attrs_post_init__(self) -> None:
        self.emit = self.node.trace.emit
        self.anchor = self.node.trace.anchor
        self.metrics = Metrics(self, self.node.id)

    @property
    def world(self) -> World:
        return self.node.world

    @property
    def name(self) -> str:
        return self.node.name

    @property
    def disks(self) -> tuple[Disk, ...]:
        """The disks of its machine. Raises: DeadIncarnation."""
        self.check_alive()
        return self.node.disks

    @property
    def clock_us(self) -> int:
        """What the clock of its machine shows: the only time that a role may read."""
        node = self.node
        return node.world.now + node.skew_us

    async def run(self, main: Main) -> None:
        """Live: run ``main`` in a nursery of its own, then go on from events until killed."""
        if not self.alive:
            return
        async with self.world.open_nursery() as nursery:
            self._nursery = nursery
            self.tasks.append(self.world.current)
            await main(self)
            await Signal(self.world, f"the end of {self.name}").wait()

    def check_alive(self) -> None:
        """Raises: DeadIncarnation."""
        if not self.alive:
            raise DeadIncarnation(f"{self.name}, incarnation {self.number}, is dead")

    # -- what lives in it ------------------------------------------------------------------------------------

    def spawn(self, fn: Callable[..., Awaitable[object]], *args: Any, name: str | None = None) -> Task:
        """Start ``fn(*args)`` as a task of this process."""
        self.check_alive()
        assert self._nursery is not None, f"{self.name} has not started"
        task = self.world.spawn(self._nursery, fn, *args, name=f"{self.name}/{name or fn.__qualname__}")
        if self.paused:
            task.freeze()
        if len(self.tasks) >= self._sweep_at:
            self.tasks = [living for living in self.tasks if not living.finished]
            self._sweep_at = 2 * len(self.tasks) + 16
        self.tasks.append(task)
        return task

    def call_later(
        self, delay_us: int, fn: Callable[[Any], object], arg: Any = None, *, background: bool = True
    ) -> Timer:
        """Call ``fn(arg)`` in ``delay_us`` if the process lives then; a paused process makes the call when it
        resumes."""
        self.check_alive()
        return self.world.timer(delay_us, fn, arg, background, self._due)

    def _due(self, timer: Timer) -> None:
        """A timer's time has come. Until it is resumed, a paused process can still cancel it."""
        if not self.alive:
            timer.cancel()
        else:
            self.deliver((Timer.fire, timer))

    def every(self, period_us: int, fn: Callable[[], object]) -> None:
        """Call ``fn()`` each ``period_us``, in the background, until the process dies."""

        def tick(_: Any) -> None:
            fn()
            if self.alive:
                self.call_later(period_us, tick)

        self.call_later(period_us, tick)

    def deliver(self, call: tuple[Callable[[Any], object], Any]) -> None:
        """Make a call into the process: dropped if it is dead, kept for later if it is paused."""
        if not self.alive:
            return
        if self.paused:
            self._backlog.append(call)
        else:
            self.node.trace.cause = 0
            call[0](call[1])

    def _refuse(self, *_: object) -> NoReturn:
        raise DeadIncarnation(f"{self.name}, incarnation {self.number}, is dead")

    # -- its fate --------------------------------------------------------------------------------------------

    def pause(self) -> None:
        """Stop the world for this process (a long GC): tasks, timers and deliveries wait; time and sessions
        go on."""
        self.paused = True
        for task in self.tasks:
            task.freeze()

    def resume(self) -> None:
        """Let it go on with all that has waited, in order."""
        self.paused = False
        for task in self.tasks:
            task.thaw()
        backlog, self._backlog = self._backlog, []
        trace = self.node.trace
        cause = trace.cause
        for call in backlog:
            # Now, not by an event of this instant: what arrives in this instant has to come after what has
            # waited.
            self.deliver(call)
        trace.cause = cause

    def kill(self) -> None:
        """Cancel everything at once. Idempotent."""
        self.alive = False
        self.emit = self.anchor = self._refuse
        for call, late in self._backlog:
            if call is Timer.fire:
                late.cancel()
        self._backlog.clear()
        for task in self.tasks:
            task.abandon()
        if self._nursery is not None:
            self._nursery.cancel_scope.cancel()
