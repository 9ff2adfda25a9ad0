"""One run of a program on a node: a nursery with its own listener, connections and timers.

Crashing it cancels the nursery. Everything that it does afterwards raises ``DeadIncarnation``: nothing is flushed, sent
or recorded while it ends.
"""

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Literal, NoReturn, Protocol

import trio
from attrs import define, field

from emulator.disks import Disk
from emulator.kernel import DeadIncarnation, Signal, Task, Timer, World
from emulator.kernel.parking import Parking
from emulator.metrics import Metrics
from emulator.nodes.ticks import Agenda, Ticks

if TYPE_CHECKING:
    from emulator.nodes.node import Node

CrashKind = Literal["process", "host", "stop"]
"""How a process ends: killed (``process``), killed with its machine (``host``), shut down cleanly (``stop``)."""


class OwnedConnection(Protocol):
    """One end of a network connection, as its process sees it."""

    def owner_died(self, kind: CrashKind) -> None: ...


Main = Callable[["Process"], Awaitable[object]]


@define(eq=False, repr=False)
class Process:
    """One process.

    Attributes:
        number: the number of the process among those of its node, from 1.
        phase_us: its periodic work keeps the instants that it would have if the process had started so much earlier.
        world: the world of its node.
        endpoints: its ends of connections, in the order of their creation.
        emit: records an event of this process: ``Trace.emit`` until it dies, then raises ``DeadIncarnation``.
        emit_columns: ``Trace.emit_columns``, in the same way.
        anchor: ``Trace.anchor``, in the same way: what follows in this transition is caused by the event.
        show: ``Trace.show`` until it dies; then nothing is shown.
        mark: ``Trace.mark``, in the same way.
        metrics: the metrics of the process.
        parked: its periodic work that is not simulated at the moment.
        paused: whether it does not run: it is ``suspended``, or ``throttled``.
        suspended: ``pause`` was called, and not ``resume``.
        throttled: whether it lacks CPU time at the moment.
    """

    node: "Node"
    number: int
    phase_us: int = 0
    world: World = field(init=False)
    alive: bool = True
    paused: bool = False
    suspended: bool = False
    throttled: bool = False
    tasks: list[Task] = field(factory=list)
    endpoints: dict[OwnedConnection, None] = field(factory=dict)
    emit: Callable[..., Any] = field(init=False)
    emit_columns: Callable[..., Any] = field(init=False)
    anchor: Callable[..., Any] = field(init=False)
    show: Callable[..., None] = field(init=False)
    mark: Callable[..., None] = field(init=False)
    metrics: Metrics = field(init=False)
    parked: Parking = field(factory=Parking)
    _nursery: trio.Nursery | None = None
    _sweep_at: int = 16
    _backlog: list[tuple[Callable[[Any], object], Any]] = field(factory=list)

    def __attrs_post_init__(self) -> None:
        self.world = self.node.world
        self.emit = self.node.trace.emit
        self.emit_columns = self.node.trace.emit_columns
        self.anchor = self.node.trace.anchor
        self.show = self.node.trace.show
        self.mark = self.node.trace.mark
        self.metrics = Metrics(self, self.node.id)

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
        """The time on the clock of its machine, in microseconds: the only time of day that a role may read."""
        node = self.node
        return node.world.now + node.ahead_us

    @property
    def monotonic_us(self) -> int:
        """The time of a clock that is never set (System.nanoTime), in microseconds. It only measures durations, and
        does not drift."""
        return self.node.world.now

    async def run(self, main: Main) -> None:
        """Run ``main`` in a nursery of its own, then act on events alone until killed."""
        if not self.alive:
            return
        async with self.world.open_nursery() as nursery:
            self._nursery = nursery
            self.tasks.append(self.world.current)
            await self._contained(main, self)
            await Signal(self.world, f"the end of {self.name}").wait()

    async def _contained(self, fn: Callable[..., Awaitable[object]], *args: Any) -> None:
        """Await ``fn(*args)``; ``World.contain`` may handle what it raises."""
        try:
            await fn(*args)
        except Exception as error:
            contain = self.world.contain
            if contain is None or not contain(error):
                raise

    def check_alive(self) -> None:
        """Raises: DeadIncarnation."""
        if not self.alive:
            raise DeadIncarnation(f"{self.name}, incarnation {self.number}, is dead")

    # -- tasks and timers -------------------------------------------------------------------------------------

    def spawn(
        self, fn: Callable[..., Awaitable[object]], *args: Any, name: str | None = None, cancellable: bool = False
    ) -> Task:
        """Start ``fn(*args)`` as a task of this process. ``cancellable``: ``Task.cancel`` ends it alone."""
        self.check_alive()
        assert self._nursery is not None, f"{self.name} has not started"
        full = f"{self.name}/{name or fn.__qualname__}"
        if self.world.contain is not None:
            fn, args = self._contained, (fn, *args)
        task = self.world.spawn(self._nursery, fn, *args, name=full, cancellable=cancellable)
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
        """Call ``fn(arg)`` in ``delay_us`` if the process is alive then. A paused process makes the call when
        it resumes."""
        if not self.alive:
            self.check_alive()
        # As ``World.timer``, without the call: one timer for each request that waits.
        world = self.world
        timer = Timer(world, fn, arg, background)
        world.call_at(world.now + delay_us, self._due, timer, True)
        if not background:
            world.foreground += 1
        return timer

    def _due(self, timer: Timer) -> None:
        """A timer is due. While the process is paused, the timer waits and can still be cancelled."""
        if not self.alive:
            timer.cancel()
        elif self.paused:
            self.deliver((Timer.fire, timer))
        else:
            self.node.trace.cause = 0
            timer.fire()

    def timer_in_line(
        self, rank: int, delay_us: int, fn: Callable[[Any], object], since_us: int | None = None
    ) -> Timer:
        """Make a call as ``call_later`` does, in a line (``World.call_in_line``). The delay counts from ``since_us``;
        None: from now."""
        world = self.world
        began_us = world.now if since_us is None else since_us
        timer = Timer(world, fn, None, True)
        world.call_in_line(rank, began_us + delay_us, self._due, timer, began_us)
        return timer

    def until_tick(self, period_us: int) -> int:
        """The time until the first tick of periodic work that begins now, in microseconds: a period at most."""
        return period_us - self.phase_us % period_us

    def every(self, period_us: int, fn: Callable[[], object], agenda: Agenda[Any, Any] | None = None) -> None:
        """Call ``fn()`` each ``period_us``, in the background, until the process dies; not while ``agenda`` is empty,
        if ``fn`` looks at nothing else."""
        Ticks(self, period_us, fn, agenda)

    def deliver(self, call: tuple[Callable[[Any], object], Any]) -> None:
        """Make a call into the process. Dropped if it is dead, kept until it resumes if it is paused."""
        if not self.alive:
            return
        if self.paused:
            self._backlog.append(call)
        else:
            self.node.trace.cause = 0
            call[0](call[1])

    def _refuse(self, *_: object) -> NoReturn:
        raise DeadIncarnation(f"{self.name}, incarnation {self.number}, is dead")

    def _hide(self, *_: object) -> None:
        """Show nothing: what a dead process would still do does not happen."""

    # -- pause and end --------------------------------------------------------------------------------------------

    def pause(self) -> None:
        """Pause the process, as a long GC does: its tasks, timers and deliveries wait, while virtual time and its
        ZooKeeper session timer continue."""
        self.suspended = True
        self._stand_still()

    def throttle(self) -> None:
        """Pause the process as ``pause`` does, until ``unthrottle``, for lack of CPU time."""
        self.throttled = True
        self._stand_still()

    def _stand_still(self) -> None:
        self.parked.rouse()
        self.paused = True
        for task in self.tasks:
            task.freeze()

    def resume(self) -> None:
        """Resume the process, with everything that has waited, in order."""
        self.suspended = False
        self._go_on()

    def unthrottle(self) -> None:
        """Give it CPU time again."""
        self.throttled = False
        self._go_on()

    def _go_on(self) -> None:
        if self.suspended or self.throttled:
            return
        self.paused = False
        for task in self.tasks:
            task.thaw()
        backlog, self._backlog = self._backlog, []
        trace = self.node.trace
        cause = trace.cause
        for call in backlog:
            # Directly, not by an event: what arrives at this instant has to come after what has waited.
            self.deliver(call)
        trace.cause = cause

    def kill(self) -> None:
        """Cancel all tasks and drop everything that waits. Idempotent."""
        self.node.trace.record_collected()  # a hook can kill the process in the middle of a transition
        self.parked.rouse()
        self.alive = False
        self.emit = self.emit_columns = self.anchor = self._refuse
        self.show = self.mark = self._hide
        for call, late in self._backlog:
            if call is Timer.fire:
                late.cancel()
        self._backlog.clear()
        for task in self.tasks:
            task.abandon()
        if self._nursery is not None:
            self._nursery.cancel_scope.cancel()
