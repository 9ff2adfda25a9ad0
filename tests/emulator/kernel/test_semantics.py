"""Cancellation, exceptions and nurseries mean inside the world what they mean in Trio."""

from collections.abc import Callable
from typing import Any

import pytest
import trio

from emulator.kernel import Backend, KernelError, Mailbox, Signal, World, WorldClock

both = pytest.mark.parametrize("backend", ["detached", "attached"])


def run(backend: Backend, main: Callable[[World], Any]) -> Any:
    world = World(1, backend=backend)
    return world.run(main, world)


@both
def test_children_s_exceptions_come_in_a_group(backend: Backend) -> None:
    async def fail(world: World, delay_us: int, error: Exception) -> None:
        await world.sleep(delay_us)
        raise error

    async def main(world: World) -> None:
        with pytest.raises(ExceptionGroup) as raised:  # noqa: PT012
            async with world.open_nursery() as nursery:
                world.spawn(nursery, fail, world, 5, ValueError("a"))
                world.spawn(nursery, fail, world, 7, KeyError("b"))
        assert [type(error) for error in raised.value.exceptions] == [ValueError]
        assert world.now == 5, "the sibling is cancelled at once"
        await world.sleep(1)

    run(backend, main)


@both
def test_a_body_s_exception_cancels_the_children(backend: Backend) -> None:
    ended = []

    async def child(world: World) -> None:
        try:
            await world.sleep(1000)
        except trio.Cancelled:
            ended.append(world.now)
            raise

    async def main(world: World) -> None:
        with pytest.raises(ExceptionGroup):  # noqa: PT012
            async with world.open_nursery() as nursery:
                world.spawn(nursery, child, world)
                await world.sleep(3)
                raise ValueError

    run(backend, main)
    assert ended == [3]


@both
def test_cancelling_from_inside_stops_the_body_at_its_next_wait(backend: Backend) -> None:
    async def main(world: World) -> list[str]:
        log = []
        async with world.open_nursery() as nursery:
            nursery.cancel_scope.cancel()
            log.append("runs on")
            await world.sleep(5)
            log.append("never")
        assert nursery.cancel_scope.cancelled_caught
        log.append(f"out at {world.now}")
        await world.sleep(1)
        return log

    assert run(backend, main) == ["runs on", "out at 0"]


@both
def test_a_cancelled_scope_left_without_a_wait_cancels_nothing_later(backend: Backend) -> None:
    async def main(world: World) -> int:
        async with world.open_nursery() as nursery:
            await world.sleep(1)
            nursery.cancel_scope.cancel()
        await world.sleep(5)
        return world.now

    assert run(backend, main) == 6


@both
def test_a_cancelled_task_is_cancelled_at_each_later_wait(backend: Backend) -> None:
    async def stubborn(world: World, log: list[int]) -> None:
        for _ in range(3):
            try:
                await world.sleep(100)
            except trio.Cancelled:
                log.append(world.now)
        await world.sleep(100)

    async def main(world: World) -> list[int]:
        log: list[int] = []
        async with world.open_nursery() as nursery:
            world.spawn(nursery, stubborn, world, log)
            await world.sleep(10)
            nursery.cancel_scope.cancel()
        return log

    assert run(backend, main) == [10, 10, 10]


@both
def test_inner_and_outer_cancelled_while_detached(backend: Backend) -> None:
    """The second cancellation within one wait takes the task further than the first, as it does in Trio."""

    async def main(world: World) -> list[str]:
        log = []
        async with world.open_nursery() as outer:
            async with world.open_nursery() as inner:

                def both(_: Any) -> None:
                    inner.cancel_scope.cancel()
                    outer.cancel_scope.cancel()

                world.call_later(4, both)
                await world.sleep(100)
            log.append("never")
        log.append(f"out at {world.now}")
        return log

    assert run(backend, main) == ["out at 4"]


@both
def test_a_wake_up_that_is_queued_comes_before_the_cancellation(backend: Backend) -> None:
    async def reader(world: World, box: Mailbox, log: list[Any]) -> None:
        log.append(await box.get())
        try:
            await box.get()
        except trio.Cancelled:
            log.append("cancelled")
            raise

    async def main(world: World) -> list[Any]:
        log: list[Any] = []
        box = Mailbox(world)
        async with world.open_nursery() as nursery:
            world.spawn(nursery, reader, world, box, log)
            await world.sleep(1)
            box.put("item")
            nursery.cancel_scope.cancel()
        return log

    assert run(backend, main) == ["item", "cancelled"]


@both
def test_cancellations_come_in_the_order_of_spawning(backend: Backend) -> None:
    async def child(world: World, number: int, log: list[int]) -> None:
        try:
            await world.sleep(1000 - 10 * number)
        finally:
            log.append(number)

    async def main(world: World) -> list[int]:
        log: list[int] = []
        async with world.open_nursery() as nursery:
            for number in range(30):
                world.spawn(nursery, child, world, number, log)
            await world.sleep(10)
            nursery.cancel_scope.cancel()
        return log

    assert run(backend, main) == list(range(30))


@both
def test_the_cancelled_first_sleep_of_a_world_leaves_no_wake_up_behind(backend: Backend) -> None:
    async def sleeper(world: World) -> None:
        await world.sleep(10)

    async def main(world: World) -> int:
        box, asleep = Mailbox(world), Signal(world)

        async def announce() -> None:
            asleep.set()

        async with world.open_nursery() as nursery:
            world.spawn(nursery, sleeper, world)
            world.spawn(nursery, announce)
            await asleep.wait()
            nursery.cancel_scope.cancel()
        world.call_later(20, box.put, "item")
        assert await box.get() == "item"
        return world.now

    assert run(backend, main) == 20


@both
def test_a_time_out_whose_wait_was_cancelled_does_not_reach_the_next_reader(backend: Backend) -> None:
    async def impatient(box: Mailbox) -> None:
        await box.get_within(10)

    async def main(world: World) -> Any:
        box = Mailbox(world)
        async with world.open_nursery() as nursery:
            world.spawn(nursery, impatient, box)
            await world.sleep(5)
            nursery.cancel_scope.cancel()
        world.call_later(50, box.put, "item")
        return await box.get(), world.now

    assert run(backend, main) == ("item", 55)


@both
def test_each_time_out_comes_at_its_own_time(backend: Backend) -> None:
    """Shorter, equal and longer than the one before, with items between."""

    async def main(world: World) -> list[int]:
        box = Mailbox(world)
        late = []
        for timeout_us in (100, 30, 30, 200, 0, 50):
            world.call_later(10, box.put, "item")
            await box.get_within(1000)
            start = world.now
            with pytest.raises(trio.TooSlowError):
                await box.get_within(timeout_us)
            late.append(world.now - start)
        return late

    assert run(backend, main) == [100, 30, 30, 200, 0, 50]


@both
def test_a_mailbox_has_one_reader(backend: Backend) -> None:
    async def reader(box: Mailbox) -> None:
        await box.get()

    async def main(world: World) -> None:
        box = Mailbox(world, "inbox")
        async with world.open_nursery() as nursery:
            world.spawn(nursery, reader, box, name="first")
            await world.sleep(1)
            with pytest.raises(KernelError, match=r"inbox.*first"):
                await box.get()
            with pytest.raises(KernelError, match=r"inbox.*first"):
                await box.get_within(5)
            box.put(None)

    run(backend, main)


@both
def test_a_task_born_and_awaited_within_one_instant(backend: Backend) -> None:
    async def child(box: Mailbox, depth: int, world: World) -> None:
        async with world.open_nursery() as nursery:
            if depth:
                world.spawn(nursery, child, box, depth - 1, world)
            else:
                box.put("deep")

    async def main(world: World) -> None:
        box = Mailbox(world)
        async with world.open_nursery() as nursery:
            await world.sleep(0)
            world.spawn(nursery, child, box, 5, world)
            assert await box.get() == "deep"
        assert world.now == 0

    run(backend, main)


@both
def test_a_frozen_task_keeps_its_wake_up_until_it_is_thawed(backend: Backend) -> None:
    async def sleeper(world: World, log: list[int]) -> None:
        await world.sleep(10)
        log.append(world.now)

    async def main(world: World) -> list[int]:
        log: list[int] = []
        async with world.open_nursery() as nursery:
            task = world.spawn(nursery, sleeper, world, log)
            await world.sleep(1)
            task.freeze()
            await world.sleep(50)
            assert log == []
            task.thaw()
        return log

    assert run(backend, main) == [51]


@both
def test_an_exception_of_an_event_ends_the_run_as_itself(backend: Backend) -> None:
    async def main(world: World) -> None:
        def fail(_: Any) -> None:
            raise LookupError("in an event")

        world.call_later(5, fail)
        await world.sleep(10)

    with pytest.raises(LookupError, match="in an event"):
        run(backend, main)


@both
async def test_signals_wake_in_the_order_of_waiting(world_clock: WorldClock) -> None:
    world = world_clock.world
    signal = Signal(world)
    order = []

    async def waiter(number: int, delay_us: int) -> None:
        await world.sleep(delay_us)
        order.append((number, await signal.wait()))

    async with world.open_nursery() as nursery:
        for number, delay_us in enumerate((30, 10, 20)):
            world.spawn(nursery, waiter, number, delay_us)
        await world.sleep(40)
        signal.set("go")
        signal.set("again")
    assert order == [(1, "go"), (2, "go"), (0, "go")]
    assert await signal.wait() == "go"


async def test_the_past_cannot_be_scheduled(world_clock: WorldClock) -> None:
    world = world_clock.world
    await world.sleep(10)
    with pytest.raises(KernelError, match=r"5 us is past: it is 10 us"):
        world.call_at(5, print)
    before = world.foreground
    with pytest.raises(KernelError):
        world.timer(-1, print)
    assert world.foreground == before
