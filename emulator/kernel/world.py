"""The world: integer virtual time, one order of events, tasks resumed one at a time.

Everything pending is either in ``ready`` (this instant, in order of arrival) or in a heap ordered by ``(t_us, since_us,
sequence)``: its time, when it was scheduled, and its place among what was scheduled then. Trio asks its clock for a
sleep time when none of its tasks can run; the world then drains both. No decision depends on Trio's own batch order, on
the order of a set, on an address or on a hash.
"""

import math
import types
from collections import deque
from collections.abc import Awaitable, Callable, Generator
from contextlib import AbstractContextManager, nullcontext
from heapq import heappop, heappush
from typing import TYPE_CHECKING, Any, Literal

import trio
from attrs import define
from outcome import Value

from emulator.kernel.collector import EVENTS_BETWEEN_COLLECTIONS, collect, collector_off
from emulator.kernel.kernel_errors import BudgetExceeded, DeadIncarnation, Deadlock, ForeignAwait, KernelError
from emulator.kernel.mailbox import Signal
from emulator.kernel.report import as_foreign_await, foreign_await, refusal, waiting_report
from emulator.kernel.task import CANCELLED, PARKED, REATTACH, Task, WorldNursery
from emulator.streams import Stream, Streams

if TYPE_CHECKING:
    from emulator.schedules import Delays, EventPriorities, Schedule

Backend = Literal["detached", "attached"]
Event = tuple[int, int, int, Callable[[Any], object], Any]
"""An event: its time, when it was scheduled, its place among what was scheduled at that instant, the function and its
argument. The middle two are the order of scheduling. With both, a thing that was not simulated can schedule an event in
the same order as if it had been."""

LIVELOCK = 5_000_000
"""More events at one instant than any cluster needs: some tasks wake each other without end."""

LAST = 1 << 80
"""A sequence above that of every ordinary event."""

LINE = 1 << 48
"""The distance between the ranks of two lines."""

_NO_SCOPE: AbstractContextManager[object] = nullcontext()

TURN = 4096
"""Events drained before Trio may handle signals and calls from other threads."""


@define(eq=False)
class Timer:
    """One pending call that can be cancelled. A foreground timer keeps the world unsettled until it fires or
    is cancelled."""

    world: "World"
    fn: Callable[[Any], object] | None
    arg: Any
    background: bool

    def cancel(self) -> None:
        """Cancel the call. Cancelling twice, or after it was made, changes nothing."""
        if self.fn is not None:
            self.fn = self.arg = None  # which may hold the timer: nothing collects a circle soon
            if not self.background:
                self.world.foreground -= 1

    @property
    def pending(self) -> bool:
        return self.fn is not None

    def fire(self) -> None:
        fn, arg = self.fn, self.arg
        if fn is not None:
            self.fn = self.arg = None
            if not self.background:
                self.world.foreground -= 1
            fn(arg)


class WorldClock(trio.abc.Clock):
    """Trio's clock: Trio asks it how long to sleep exactly when no Trio task can run, and it gives that moment to
    ``World.turn``. For code that calls ``trio.run`` itself."""

    def __init__(self, world: "World") -> None:
        self.world = world

    def start_clock(self) -> None:
        """Nothing to start: virtual time does not move until ``World.main`` has a task."""

    def current_time(self) -> float:
        """Virtual seconds, for Trio's own use: the world counts in integer microseconds."""
        return self.world.now / 1_000_000

    def deadline_to_sleep_time(self, deadline: float) -> float:
        return self.world.turn(deadline)


class World:
    """One virtual world with one seed.

    Attributes:
        now: virtual time in microseconds since the world began.
        current: the task that runs, or ran last.
        foreground: how many pending events may still change something. Timers of periodic work and empty long polls are
            *background* and do not count. The world is settled when this is 0, no task is ready, and no condition of
            ``unsettled_while`` holds.
        events: the number of events that were handled so far.
        since_us, sequence: with ``now``, the place of the current event in the order of all events.
        simulate_idle: simulate every poll, ping and tick in which nothing happens, instead of jumping over them. The
            trace is the same either way; a test holds that.
        delays, choices: the two kinds of schedule, of which a world has at most one; both None: first in, first out.
        begins: called before a task goes on after a pause, as the first step of a transition.
        contain: called with an exception that an event or a process's task has raised. True: the exception is handled,
            and the world goes on.
    """

    def __init__(
        self,
        seed: int,
        *,
        backend: Backend = "detached",
        max_events: int | None = None,
        simulate_idle: bool = False,
        schedule: "Schedule | None" = None,
    ) -> None:
        self.seed = seed
        self.simulate_idle = simulate_idle
        self.streams = Streams(seed)
        self.detaching = backend == "detached"
        self.now = 0
        self.since_us = 0
        self.sequence = 0
        self.begins: Callable[[], object] = _nothing
        self.contain: Callable[[Exception], bool] | None = None
        self.foreground = 0
        self.ready: deque[tuple[Task, Any]] = deque()
        self.cancellations: list[tuple[int, Task]] = []
        self.current: Task = None  # type: ignore[assignment]  # set before any task runs
        self._heap: list[Event] = []
        self._sequence = 2
        self._lines = 0
        self._handled = 0
        self.events_between_collections = EVENTS_BETWEEN_COLLECTIONS
        self._collect_at = EVENTS_BETWEEN_COLLECTIONS
        self._turned_at = -1
        self._instant_began = 0
        self._max_events: float = math.inf if max_events is None else max_events
        self._tasks: dict[int, Task] = {}
        self._serial = 0
        self._settled: list[Callable[[], object]] = []
        self._unsettled_while: list[Callable[[], bool]] = []
        self._root: trio.CancelScope | None = None
        self._failure: BaseException | None = None
        self._idle_turns = 0
        self._live = False
        self.delays: Delays | None = None
        self.choices: EventPriorities | None = None
        if schedule is not None:
            self._follow(schedule)

    def _follow(self, schedule: "Schedule") -> None:
        from emulator.schedules import EventPriorities, PriorityDelays, RandomDelays, Ready  # few runs have one

        stream = self.stream("schedule", "deliveries")
        self.ready = Ready(self.stream("schedule", "tasks"))
        if schedule.kind == "pos":
            self.choices = EventPriorities(self, schedule.bound_us, stream)
        elif schedule.kind == "pct":
            self.delays = PriorityDelays(schedule.bound_us, schedule.depth, stream)
        else:
            self.delays = RandomDelays(schedule.bound_us, stream)

    @property
    def events(self) -> int:
        return self._handled

    @property
    def tasks(self) -> list[Task]:
        """The tasks alive, in the order of spawning."""
        return list(self._tasks.values())

    def stream(self, purpose: str, entity: object = "") -> Stream:
        """The named random stream for one purpose and one entity (``emulator.streams``)."""
        return self.streams.stream(purpose, entity)

    def redraw(self, seed: int) -> None:
        """Draw everything that is not drawn yet from another seed: latencies, schedules, all other streams."""
        self.streams.redraw(seed)
        if self.delays is not None:
            self.delays.begin_again()

    # -- time ------------------------------------------------------------------------------------------------

    def call_at(self, t_us: int, fn: Callable[[Any], object], arg: Any = None, background: bool = False) -> None:
        """Call ``fn(arg)`` at ``t_us``, after everything scheduled earlier for that instant."""
        if t_us < self.now:
            raise KernelError(f"{t_us} us is past: it is {self.now} us")
        # The sequence is odd for background events and even for foreground ones, which saves a fifth field.
        self._sequence = sequence = self._sequence + 2
        if background:
            heappush(self._heap, (t_us, self.now, sequence + 1, fn, arg))
        else:
            self.foreground += 1
            heappush(self._heap, (t_us, self.now, sequence, fn, arg))

    def call_first(self, t_us: int, fn: Callable[[Any], object], arg: Any = None) -> None:
        """Call ``fn(arg)`` at ``t_us`` in the background, before everything else of that instant. So its place among
        all events does not depend on when it was scheduled."""
        if t_us <= self.now:
            raise KernelError(f"{t_us} us is not to come: it is {self.now} us")
        self._sequence = sequence = self._sequence + 2
        heappush(self._heap, (t_us, -1, sequence + 1, fn, arg))

    def call_later(self, delay_us: int, fn: Callable[[Any], object], arg: Any = None, background: bool = False) -> None:
        self.call_at(self.now + delay_us, fn, arg, background)

    def line(self) -> int:
        """The rank of a new *line*: of a thing that schedules one background event after another (``call_in_line``)."""
        self._lines += 1
        return LAST + self._lines * LINE

    def call_in_line(
        self, rank: int, t_us: int, fn: Callable[[Any], object], arg: Any = None, since_us: int | None = None
    ) -> None:
        """Call ``fn(arg)`` at ``t_us``, in the background. Among the events that were scheduled at one instant for
        another, the ordinary ones come first, then those in lines, in the order of the lines. So the place of an event
        in a line follows from its two times alone, whether the events before it were simulated or not.

        Args:
            since_us: the time when it was scheduled, or would have been; None: now.
        """
        self._sequence = sequence = self._sequence + 2
        heappush(self._heap, (t_us, self.now if since_us is None else since_us, rank + sequence + 1, fn, arg))

    def is_past(self, t_us: int, since_us: int, rank: int) -> bool:
        """Whether an event of a line that was not simulated comes before the current event: one for ``t_us`` that would
        have been scheduled at ``since_us``."""
        return t_us < self.now or (t_us == self.now and (since_us, rank) < (self.since_us, self.sequence))

    def timer(
        self,
        delay_us: int,
        fn: Callable[[Any], object],
        arg: Any = None,
        background: bool = False,
        due: Callable[[Timer], object] = Timer.fire,
    ) -> Timer:
        """Make a call as ``call_later`` does, which can be cancelled. ``due`` is called with the timer when its time
        has come, and makes the call now or later."""
        timer = Timer(self, fn, arg, background)
        self.call_at(self.now + delay_us, due, timer, True)
        if not background:
            self.foreground += 1
        return timer

    @types.coroutine
    def sleep(self, delay_us: int, background: bool = False) -> Generator[Any, Any, None]:
        """Wait for ``delay_us``. A background sleep (the pause of a periodic loop) does not keep the
        world unsettled."""
        task = self.current
        number = self._sequence
        self.call_at(self.now + delay_us, self._wake, (task, number), True)
        task.nap = number
        task.waiting_on = "sleep"
        task.since_us = self.now
        if not background:
            self.foreground += 1
        value = (yield from task.suspend()) if task.attached else (yield PARKED)
        task.nap = 0
        if not background:
            self.foreground -= 1
        if value is CANCELLED:
            yield from task.cancelled()

    def _wake(self, nap: tuple[Task, int]) -> None:
        task, number = nap
        if task.nap == number:
            self.begins()
            self.ready.append((task, None))

    def unsettled_while(self, condition: Callable[[], bool]) -> None:
        """Keep the world unsettled while ``condition()`` is true: for what a background event is going to bring about.
        A condition has to become false by events of its own; otherwise code that waits for a settled world never goes
        on."""
        self._unsettled_while.append(condition)

    async def settled(self) -> None:
        """Wait until the world is settled: nothing more happens by itself."""
        signal = Signal(self, "settled")
        self.when_settled(signal.set)
        await signal.wait()

    def when_settled(self, fn: Callable[[], object]) -> None:
        """Call ``fn`` once, when the world is next settled. A waiter alone does not keep the world alive."""
        self._settled.append(fn)

    # -- tasks -----------------------------------------------------------------------------------------------

    def open_nursery(self) -> WorldNursery:
        """A nursery for children of the current task."""
        return WorldNursery(self)

    def spawn(
        self,
        nursery: trio.Nursery,
        fn: Callable[..., Awaitable[object]],
        *args: Any,
        name: str | None = None,
        cancellable: bool = False,
    ) -> Task:
        """Start ``fn(*args)`` as a task in ``nursery``. It first runs at this instant, after the tasks that are
        ready now. ``cancellable``: ``Task.cancel`` ends it alone."""
        self._serial += 1
        task = Task(self, name or fn.__qualname__, self._serial, since_us=self.now)
        if cancellable:
            task.scope = trio.CancelScope()
        self._tasks[task.serial] = task
        self.ready.append((task, None))
        nursery.start_soon(self._body, task, fn, args, name=task.name)
        return task

    async def _body(self, task: Task, fn: Callable[..., Awaitable[object]], args: tuple[Any, ...]) -> None:
        task.adopt()
        # The scope is entered and left under Trio, where the task is anyway when it begins and when it ends.
        with task.scope or _NO_SCOPE:
            try:
                if await task.suspend() is CANCELLED:
                    await task.cancelled()
                await fn(*args)
            except DeadIncarnation:
                # The task was woken in the instant its process was killed: the cancellation ends it, not this error.
                await task.reattach()
                await trio.lowlevel.checkpoint_if_cancelled()
                raise
            except (RuntimeError, TypeError) as error:
                foreign = as_foreign_await(task.name, error)
                if foreign is not None:
                    raise foreign from error
                raise
            finally:
                await task.reattach()
                task.finished = True
                del self._tasks[task.serial]

    def run(self, main: Callable[..., Awaitable[Any]], *args: Any) -> Any:
        """Run ``main(*args)`` as the first task; return what it returns.

        An error of the world itself ends the run as it is. An exception of a task is wrapped in one ``ExceptionGroup``
        per nursery on its way, as in Trio; only the outermost group, the world's own, is removed.

        Raises:
            Deadlock: nothing was pending while tasks waited.
            ForeignAwait: a task awaited something the world does not own. Where it is raised in the task (always, on
                the detached backend), it comes in the groups of the task's nurseries.
            BudgetExceeded: more than ``max_events`` events, or a livelock at one instant.
        """
        return trio.run(self.main, main, *args, clock=WorldClock(self), restrict_keyboard_interrupt_to_checkpoints=True)

    async def main(self, main: Callable[..., Awaitable[Any]], *args: Any) -> Any:
        """The body of ``run``, for code that calls ``trio.run`` itself with a ``WorldClock``."""
        outcome: list[Any] = []
        self._live = True

        async def first() -> None:
            outcome.append(await main(*args))

        try:
            with collector_off(), trio.CancelScope() as self._root:
                async with trio.open_nursery() as nursery:
                    self.spawn(nursery, first, name="main")
        except BaseExceptionGroup as group:
            raise self._failure or _only(group) from None
        finally:
            self._live = False
        if self._failure is not None:
            raise self._failure
        return outcome[0]

    def fail(self, error: BaseException) -> None:
        """End the run with ``error``: every task is cancelled first. Only the first failure counts."""
        if self._failure is None:
            self._failure = error
            assert self._root is not None
            self._root.cancel()

    # -- the loop --------------------------------------------------------------------------------------------

    def turn(self, deadline: float) -> float:
        """Handle pending events until Trio has something to do. Returns how long Trio may sleep, in seconds."""
        if not self._live:
            return deadline
        if deadline != math.inf:
            self._refuse_deadline()
        try:
            return self._drain()
        except BaseException as error:
            if self._failure is not None and isinstance(error, KernelError):
                raise  # A task does not end on cancellation: Trio has to give up.
            self.fail(error)
            return 0.0

    def _drain(self) -> float:
        ready, heap, cancellations = self.ready, self._heap, self.cancellations
        span = self._span()
        for handled in range(span):
            if cancellations and self._deliver_cancellation():
                break
            if ready:
                task, value = ready.popleft()
                send = task.send
                if send is not None:
                    self.current = task
                    answer = send(value)
                    if answer is PARKED:
                        continue
                    if answer is not REATTACH:
                        self._refuse_await(task, answer)
                    break
                if task.frozen:
                    task.backlog.append(value)
                elif task.trio_task is None:
                    # Spawned in this turn: Trio has to start it before the world can resume it.
                    ready.appendleft((task, value))
                    self._handled += handled
                    return 0.0
                else:
                    self.current = task
                    trio.lowlevel.reschedule(task.trio_task, Value(value))
                    break
            elif heap and (self.foreground or not self._settled or any(holds() for holds in self._unsettled_while)):
                self.now, self.since_us, self.sequence, fn, arg = heappop(heap)
                if not self.sequence & 1:
                    self.foreground -= 1
                fn(arg)
            elif self._settled:
                waiting, self._settled = self._settled, []
                for settle in waiting:
                    settle()
            else:
                self._handled += handled
                return self._idle(handled)
        else:
            handled = span - 1
        self._handled += handled + 1
        self._idle_turns = 0
        return 0.0

    def _span(self) -> int:
        """The number of events that this turn may handle."""
        if self.now != self._turned_at:
            self._turned_at, self._instant_began = self.now, self._handled
        elif self._handled - self._instant_began > LIVELOCK:
            self._instant_began = self._handled  # so that the cancelled tasks can end
            raise BudgetExceeded(f"a livelock: more than {LIVELOCK:,} events at {self.now / 1e6:.6f} s of virtual time")
        if self._handled >= self._collect_at:
            self._collect_at = self._handled + self.events_between_collections
            collect()
        left = self._max_events - self._handled
        if left <= 0:
            self._max_events += 256 * TURN  # so that the cancelled tasks can end
            spent = f"{self._handled:,} events by {self.now / 1e6:.6f} s of virtual time"
            raise BudgetExceeded(f"max_events reached: {spent}")
        return TURN if left > TURN else int(left)

    def _deliver_cancellation(self) -> bool:
        """Resume the first cancelled task that is parked, in serial order. False if each has a wake-up pending, which
        comes first."""
        occupied = {task.serial for task, _ in self.ready}
        later = []
        task = None
        while self.cancellations:
            serial, candidate = heappop(self.cancellations)
            if candidate.raise_cancel is None:
                continue
            if serial not in occupied:
                task = candidate
                break
            later.append((serial, candidate))
        for entry in later:
            heappush(self.cancellations, entry)
        if task is None:
            return False
        task.abandon()
        self.current = task
        assert task.trio_task is not None
        if task.attached:
            trio.lowlevel.reschedule(task.trio_task, Value(CANCELLED))
        else:
            assert task.send is not None
            answer = task.send(CANCELLED)
            assert answer is REATTACH, f"{task.name} did not reattach to be cancelled"
        return True

    def _idle(self, handled: int) -> float:
        """End the run or let Trio go on, because nothing is pending. Trio may have a signal to deliver; if not, no task
        can ever continue.

        Raises: Deadlock, ForeignAwait.
        """
        self._idle_turns = 1 if handled else self._idle_turns + 1
        if self._idle_turns == 1:
            return 0.0
        report = waiting_report(self.tasks, self.now)
        foreign = self._foreign_awaits()
        if foreign:
            raise ForeignAwait(f"{foreign}: the world does not own it, and nothing else is pending\n{report}")
        raise Deadlock(f"deadlock at {self.now} us: nothing is pending and {len(self._tasks)} tasks wait\n{report}")

    def _foreign_awaits(self) -> str:
        awaits = [(task, foreign_await(task)) for task in self.tasks]
        return ", ".join(f"task {task.name} awaits {what}" for task, what in awaits if what)

    def _refuse_deadline(self) -> None:
        """Refuse a finite Trio deadline: it means that a task sleeps, or has a time-out, by Trio's clock."""
        names = self._foreign_awaits() or "a cancel scope has a deadline"
        self.fail(ForeignAwait(f"{names}: the world does not own it; use the world's sleep and time-outs"))

    def _refuse_await(self, task: Task, answer: object) -> None:
        assert task.trio_task is not None
        task.trio_task.coro.throw(refusal(task, foreign_await(task) or f"something unknown, {type(answer)}"))


def _nothing() -> None:
    """Do nothing: the default of ``World.begins``."""


def _only(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The exception without the group that the world's own nursery put around it, if it is the only one."""
    return group.exceptions[0] if len(group.exceptions) == 1 else group
