"""Random programs of tasks: what the two backends must agree on, and what a digest must be the same for.

A program is decided by a sequence of numbers alone, so Hypothesis can shrink it and a seed can repeat it.
"""

from collections.abc import Callable
from typing import Any

import trio

from emulator.kernel import Backend, KernelError, Mailbox, Signal, Task, World
from emulator.schedules import Schedule

Draw = Callable[[int], int]
"""``draw(n)``: the program's next choice among n."""

Row = tuple[Any, ...]
DEPTH = 3
TASKS = 40
BOXES = 3


class Planned(Exception):
    """Raised by tasks of a program."""


def play(draw: Draw, backend: Backend, schedule: Schedule | None = None) -> tuple[list[Row], str, int]:
    """Run one program; its trace, how it ended, and the number of events."""
    world = World(7, backend=backend, max_events=20_000, schedule=schedule)
    program = Program(world, draw)
    try:
        world.run(program.main)
        end = "returned"
    except BaseException as error:
        end = describe(error)
    return program.rows, end, world.events


def describe(error: BaseException) -> str:
    """The shape of an exception, without what differs from run to run."""
    if isinstance(error, BaseExceptionGroup):
        return f"{type(error).__name__}[{', '.join(sorted(map(describe, error.exceptions)))}]"
    return f"{type(error).__name__}({'' if isinstance(error, trio.Cancelled) else error})"


class Program:
    """One run of one program."""

    def __init__(self, world: World, draw: Draw) -> None:
        self.world = world
        self.draw = draw
        self.rows: list[Row] = []
        self.boxes = [Mailbox(world, f"box {number}") for number in range(BOXES)]
        self.signals = [Signal(world, f"signal {number}") for number in range(BOXES)]
        self.nurseries: list[trio.Nursery] = []
        self.born = 0
        self.operations = [
            self.sleep, self.sleep, self.put, self.put, self.get_within, self.get_within, self.get, self.set,
            self.wait, self.nurse, self.nurse, self.cancel, self.spawn, self.event, self.event, self.fail,
            self.pause, self.timer,
        ]  # fmt: skip

    def note(self, name: str, *what: object) -> None:
        self.rows.append((self.world.now, name, *what))

    async def main(self) -> None:
        """Some tasks at once, and an event that sets most waiters free in the end."""
        if self.draw(4):
            self.world.call_later(150, self.rescue)
        async with self.world.open_nursery() as nursery:
            self.nurseries.append(nursery)
            for number in range(2 + self.draw(5)):
                self.start(nursery, str(number), 1)

    def rescue(self, _: Any) -> None:
        for signal in self.signals:
            signal.set("rescue")
        for box in self.boxes:
            for number in range(8):
                box.put(number)

    async def task(self, name: str, depth: int) -> None:
        self.note(name, "begins")
        try:
            for _ in range(1 + self.draw(8)):
                operation = self.operations[self.draw(len(self.operations))]
                self.note(name, operation.__name__, await operation(name, depth))
        except BaseException as error:
            self.note(name, "raises", describe(error))
            raise
        finally:
            if self.draw(4) == 0:
                await self.linger(name)
            self.note(name, "ends")

    async def linger(self, name: str) -> None:
        """Wait on the way out: a cancelled task is cancelled there again."""
        self.note(name, "lingers")
        await self.world.sleep(5)

    async def sleep(self, name: str, depth: int) -> object:
        await self.world.sleep(10 * self.draw(4), background=self.draw(2) == 0)
        return self.world.now

    async def put(self, name: str, depth: int) -> object:
        box = self.boxes[self.draw(BOXES)]
        box.put(f"from {name}")
        return len(box)

    async def get(self, name: str, depth: int) -> object:
        try:
            return await self.boxes[self.draw(BOXES)].get()
        except KernelError as error:
            return str(error)

    async def get_within(self, name: str, depth: int) -> object:
        try:
            return await self.boxes[self.draw(BOXES)].get_within(10 * self.draw(5), self.draw(2) == 0)
        except (trio.TooSlowError, KernelError) as error:
            return str(error)

    async def set(self, name: str, depth: int) -> object:
        signal = self.signals[self.draw(BOXES)]
        signal.set(name)
        return signal.value

    async def wait(self, name: str, depth: int) -> object:
        return await self.signals[self.draw(BOXES)].wait()

    async def nurse(self, name: str, depth: int) -> object:
        if depth >= DEPTH:
            return "too deep"
        caught = ""
        try:
            async with self.world.open_nursery() as nursery:
                self.nurseries.append(nursery)
                for number in range(self.draw(4)):
                    self.start(nursery, f"{name}.{number}", depth + 1)
                if self.draw(3) == 0:
                    await self.world.sleep(10 * self.draw(3))
                if self.draw(4) == 0:
                    nursery.cancel_scope.cancel()
                    await self.world.sleep(10 * self.draw(2))
        except* Planned as error:
            caught = describe(error)
        finally:
            self.nurseries.remove(nursery)
        return caught

    def start(self, nursery: trio.Nursery, name: str, depth: int) -> Task | None:
        if self.born >= TASKS:
            return None
        self.born += 1
        return self.world.spawn(nursery, self.task, name, depth, name=name)

    async def cancel(self, name: str, depth: int) -> object:
        return self.cancel_one(None)

    def cancel_one(self, _: Any) -> object:
        if not self.nurseries:
            return "nobody"
        number = self.draw(len(self.nurseries))
        self.nurseries[number].cancel_scope.cancel()
        self.note("-", "cancels", number)
        return number

    async def spawn(self, name: str, depth: int) -> object:
        if not self.nurseries or depth >= DEPTH:
            return "nowhere"
        number = self.draw(len(self.nurseries))
        self.start(self.nurseries[number], f"{name}/{self.born}", depth + 1)
        return number

    async def event(self, name: str, depth: int) -> object:
        kind = self.draw(5)
        fn: Callable[[Any], object] = [
            self.cancel_one, self.boxes[0].put, self.signals[1].set, self.thaw_all, self.spawn_from_event
        ][kind]  # fmt: skip
        self.world.call_later(10 * self.draw(4), fn, f"event of {name}", self.draw(2) == 0)
        return kind

    def spawn_from_event(self, what: str) -> None:
        if self.nurseries:
            self.start(self.nurseries[self.draw(len(self.nurseries))], f"{what}/{self.born}", DEPTH)

    async def fail(self, name: str, depth: int) -> object:
        if self.draw(6):
            return "not now"
        raise Planned(name)

    async def pause(self, name: str, depth: int) -> object:
        tasks = self.world.tasks
        task = tasks[self.draw(len(tasks))]
        task.freeze()
        self.world.call_later(10 * (1 + self.draw(3)), lambda _: task.thaw())
        return task.name

    def thaw_all(self, _: Any) -> None:
        for task in self.world.tasks:
            task.thaw()

    async def timer(self, name: str, depth: int) -> object:
        timer = self.world.timer(10 * self.draw(4), self.boxes[2].put, f"timer of {name}", self.draw(2) == 0)
        if self.draw(2):
            self.world.call_later(10 * self.draw(4), lambda _: timer.cancel())
        return None
