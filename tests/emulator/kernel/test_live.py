"""A world whose time follows something outside: what happens depends on the inputs and their virtual times alone."""

import math
from collections.abc import Iterator
from typing import Any

import pytest
import trio
from attrs import define, field
from hypothesis import given, settings
from hypothesis import strategies as st

from emulator.kernel import Deadlock, Mailbox, Signal, World, WorldClock
from emulator.kernel.live import UNBOUNDED, LiveWorld

Log = list[tuple[int, str]]
Given = tuple[int, int]
"""An input: what it does, and a number of microseconds."""
STOP = -1


@define(eq=False)
class Program:
    """Tasks, timers, cancellations and waits for a settled world, set off by inputs."""

    log: Log = field(factory=list)
    world: World = field(init=False)
    stopped: Signal = field(init=False)
    mailbox: Mailbox = field(init=False)
    nursery: trio.Nursery = field(init=False)
    scopes: list[trio.CancelScope] = field(factory=list)

    def note(self, what: object) -> None:
        self.log.append((self.world.now, str(what)))

    def perform(self, given: Given) -> None:
        what, us = given
        self.note(f"input {given}")
        if what == STOP:
            self.stopped.set()
        elif what == 0:
            self.world.spawn(self.nursery, self.sleeper, us)
        elif what == 1:
            self.world.call_later(us, lambda _: self.mailbox.put(us), None, us % 2 == 0)
        elif what == 2:
            self.world.when_settled(lambda: self.note(f"settled {us}"))
        elif self.scopes:
            self.scopes.pop(us % len(self.scopes)).cancel()

    async def sleeper(self, us: int) -> None:
        async with self.world.open_nursery() as nursery:
            self.scopes.append(nursery.cancel_scope)
            for part in (us, 0, us // 3 + 1):
                await self.world.sleep(part, background=part % 2 == 0)
                self.note(f"slept {part} of {us}")

    async def reader(self) -> None:
        while True:
            self.note(f"got {await self.mailbox.get()}")

    async def main(self) -> None:
        self.stopped = Signal(self.world)
        self.mailbox = Mailbox(self.world)
        async with self.world.open_nursery() as self.nursery:
            self.world.spawn(self.nursery, self.reader)
            await self.world.sleep(1)
            await self.stopped.wait()
            self.note("end")
            self.nursery.cancel_scope.cancel()


@define(eq=False)
class Live:
    """A clock that runs at an uneven pace, with inputs that come at certain readings of it."""

    perform: Any
    given: list[tuple[int, Given]]
    """The number of the reading after which each one is there."""
    steps: Iterator[int]
    taken: list[tuple[int, Given]] = field(factory=list)
    readings: int = 0
    now_us: int = 0

    def horizon_us(self, _next_us: float) -> int:
        self.readings += 1
        self.now_us += next(self.steps, 50)
        return self.now_us

    def take(self, now_us: int) -> Given | None:
        assert now_us <= self.now_us
        if self.given and self.given[0][0] <= self.readings:
            self.taken.append((now_us, self.given.pop(0)[1]))
            return self.taken[-1][1]
        return None

    def seconds_until(self, t_us: float) -> float:
        return 0.0


@define(eq=False)
class Recorded:
    """Inputs at the virtual times at which they were taken."""

    perform: Any
    recording: list[tuple[int, Given]]

    def horizon_us(self, _next_us: float) -> int:
        return self.recording[0][0]

    def take(self, now_us: int) -> Given | None:
        assert now_us <= self.recording[0][0]
        return self.recording.pop(0)[1] if now_us == self.recording[0][0] else None

    def seconds_until(self, t_us: float) -> float:
        return 0.0


def played(program: Program, world: World) -> Log:
    program.world = world
    world.run(program.main)
    return program.log


INPUTS = st.lists(st.tuples(st.integers(0, 40), st.tuples(st.integers(0, 3), st.integers(0, 500))), max_size=25).map(
    lambda inputs: sorted(inputs, key=lambda one: one[0])
)


@pytest.mark.parametrize("backend", ["detached", "attached"])
@settings(max_examples=50, deadline=None)
@given(inputs=INPUTS, steps=st.lists(st.integers(0, 400), max_size=60))
def test_inputs_with_their_times_repeat_a_run(backend: Any, inputs: list[tuple[int, Given]], steps: list[int]) -> None:
    live, again = Program(), Program()
    source = Live(live.perform, [*inputs, (60, (STOP, 0))], iter(steps))
    log = played(live, LiveWorld(7, source, backend=backend))
    assert [line for _, line in log if line.startswith("input")] == [f"input {one}" for _, one in source.taken]
    assert played(again, LiveWorld(7, Recorded(again.perform, list(source.taken)), backend=backend)) == log


@settings(max_examples=50, deadline=None)
@given(inputs=INPUTS)
def test_at_once_or_in_small_steps_is_the_same(inputs: list[tuple[int, Given]]) -> None:
    """Inputs at the same times, with a clock that is read once for each of them, and with one that is read often."""
    timed = [*((100 * reading + 1, given) for reading, given in inputs), (5000, (STOP, 0))]
    coarse, fine = Program(), Program()
    log = played(coarse, LiveWorld(7, Recorded(coarse.perform, list(timed))))

    @define(eq=False)
    class InSteps(Recorded):
        now_us: int = 0

        def horizon_us(self, _next_us: float) -> int:
            self.now_us = min(self.now_us + 7, self.recording[0][0])
            return self.now_us

    assert played(fine, LiveWorld(7, InSteps(fine.perform, list(timed)))) == log


def test_time_stops_at_the_horizon_and_says_how_long_it_is_until_the_next_event() -> None:
    asked: list[float] = []

    class Still(Recorded):
        def horizon_us(self, _next_us: float) -> int:
            return 1000 if len(asked) < 3 else super().horizon_us(_next_us)

        def take(self, now_us: int) -> Given | None:
            return None if len(asked) < 3 else super().take(now_us)

        def seconds_until(self, t_us: float) -> float:
            asked.append(t_us)
            return 0.0

    program = Program()
    program.world = world = LiveWorld(7, Still(program.perform, [(2000, (STOP, 0))]))
    world.call_at(1500, lambda _: program.note("late"))
    assert played(program, world) == [(1500, "late"), (2000, "input (-1, 0)"), (2000, "end")]
    assert asked == [1500, 1500, 1500]


def test_without_a_horizon_a_deadlock_is_found() -> None:
    class Never(Recorded):
        def horizon_us(self, _next_us: float) -> int:
            return UNBOUNDED

    world = LiveWorld(7, Never(None, []))
    with pytest.raises(Deadlock):
        world.run(Signal(world).wait)


def test_trio_tasks_run_beside_the_world() -> None:
    """They give inputs, and go on when the world wakes them."""

    @define(eq=False)
    class Queue:
        perform: Any = None
        waiting: list[Given] = field(factory=list)
        now_us: int = 0

        def horizon_us(self, _next_us: float) -> int:
            self.now_us += 10
            return self.now_us

        def take(self, now_us: int) -> Given | None:
            return self.waiting.pop(0) if self.waiting else None

        def seconds_until(self, t_us: float) -> float:
            return math.inf

    program, source = Program(), Queue()
    program.world = world = LiveWorld(7, source)
    woken = trio.Event()

    def perform(given: Given) -> None:
        program.perform(given)
        woken.set()
        world.wake()

    async def outside() -> None:
        source.waiting.append((9, 9))
        await woken.wait()
        source.waiting.append((STOP, 0))

    async def main() -> None:
        async with trio.open_nursery() as nursery:
            nursery.start_soon(outside)
            await world.main(program.main)

    source.perform = perform
    trio.run(main, clock=WorldClock(world))
    assert [line for _, line in program.log] == ["input (9, 9)", "input (-1, 0)", "end"]
