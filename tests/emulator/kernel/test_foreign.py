"""An await on something the world does not own is refused by name, on both backends."""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Generator
from typing import Any

import pytest
import trio

from emulator.kernel import Backend, ForeignAwait, World

BACKENDS: tuple[Backend, ...] = ("detached", "attached")


async def sleep() -> None:
    await trio.sleep(1)


async def event() -> None:
    await trio.Event().wait()


async def deadline() -> None:
    with trio.fail_after(3):
        await trio.Event().wait()


async def real_socket() -> None:
    mine, other = socket.socketpair()
    with mine, other:
        mine.setblocking(False)
        await trio.socket.from_stdlib_socket(mine).recv(1)


async def asyncio_sleep() -> None:
    await asyncio.sleep(0)


class Future:
    """Awaitable in the way of asyncio's: it yields itself."""

    def __await__(self) -> Generator[Any, Any, None]:
        yield self


async def future() -> None:
    await Future()


AWAITS = [
    (sleep, "trio.sleep"),
    (event, "trio.Event.wait"),
    (deadline, "trio."),
    (real_socket, "trio."),
    (asyncio_sleep, "sleep"),
    (future, "Future.__await__"),
]


def leaf(error: BaseException) -> BaseException:
    while isinstance(error, BaseExceptionGroup):
        assert len(error.exceptions) == 1
        error = error.exceptions[0]
    return error


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("foreign", "name"), AWAITS)
def test_is_named(backend: Backend, foreign: Callable[[], Awaitable[None]], name: str) -> None:
    world = World(1, backend=backend)

    async def main() -> None:
        await world.sleep(10)
        await foreign()

    with pytest.raises(ForeignAwait, match=rf"task main awaits .*{name}"):
        world.run(main)


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize(("foreign", "name"), AWAITS)
def test_is_named_in_a_child(backend: Backend, foreign: Callable[[], Awaitable[None]], name: str) -> None:
    world = World(1, backend=backend)

    async def main() -> None:
        async with world.open_nursery() as nursery:
            world.spawn(nursery, foreign, name="culprit")
            await world.sleep(10)

    with pytest.raises((ForeignAwait, ExceptionGroup)) as raised:
        world.run(main)
    error = leaf(raised.value)
    assert isinstance(error, ForeignAwait)
    assert "task culprit awaits" in str(error)
    assert name in str(error)


@pytest.mark.parametrize(("foreign", "name"), AWAITS)
def test_is_noticed_at_once_where_tasks_are_detached(foreign: Callable[[], Awaitable[None]], name: str) -> None:
    world = World(1)

    async def main() -> None:
        world.call_later(1_000_000, print)
        await world.sleep(10)
        await foreign()

    with pytest.raises(ForeignAwait, match=name):
        world.run(main)
    assert world.now == 10


def test_of_a_child_is_in_its_nursery_s_group() -> None:
    world = World(1)

    async def main() -> None:
        async with world.open_nursery() as nursery:
            world.spawn(nursery, sleep)

    with pytest.raises(ExceptionGroup) as raised:
        world.run(main)
    assert isinstance(raised.value.exceptions[0], ForeignAwait)


def test_a_task_may_recover_from_it() -> None:
    world = World(1)

    async def main() -> str:
        try:
            await future()
        except ForeignAwait:
            await world.sleep(10)
            return f"at {world.now}"
        return "not noticed"

    assert world.run(main) == "at 10"


def test_errors_of_one_s_own_pass_as_they_are() -> None:
    world = World(1)

    async def main() -> None:
        raise RuntimeError("mine")

    with pytest.raises(RuntimeError, match="mine"):
        world.run(main)
