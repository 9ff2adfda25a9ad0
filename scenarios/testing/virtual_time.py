"""Tests in virtual time: the decorator that runs one, and the form of its failure."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Awaitable, Callable, Coroutine
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar, overload

import trio

from emulator.kernel import ForeignAwait, World
from emulator.kernel.report import as_foreign_await
from scenarios import units
from scenarios.language.schedules import FIFO, parse_schedule
from scenarios.language.schema.kinds import SOME_TIME

if TYPE_CHECKING:
    from emulator.schedules import Schedule

P = ParamSpec("P")
R = TypeVar("R")
Asynchronous = Callable[P, Coroutine[Any, Any, R]]

LOOK_US = 10_000
"""The time between two looks at a condition that a test waits for, in virtual time."""
SEED = "seed"
"""The parameter of a test that is the seed of its world."""

_WORLD: ContextVar[World | None] = ContextVar("world", default=None)


class NotInTime(AssertionError):
    """Something that a test waited for did not come true in time."""


@overload
def in_virtual_time(test: Asynchronous[P, R], /) -> Callable[P, R]: ...
@overload
def in_virtual_time(
    *, seed: int = 0, schedule: str = FIFO, schedule_jitter: str = "10ms"
) -> Callable[[Asynchronous[P, R]], Callable[P, R]]: ...
def in_virtual_time(
    test: Asynchronous[P, R] | None = None,
    /,
    *,
    seed: int = 0,
    schedule: str = FIFO,
    schedule_jitter: str = "10ms",
) -> Any:
    """Make a synchronous function of a coroutine function: each call runs it in a new world of virtual time.

    The function takes the same arguments, so parameters, fixtures and Hypothesis work as ever. Where one of them is
    called ``seed``, it is the seed of the world. ``schedule`` and ``schedule_jitter`` are the keys of a scenario file:
    the order in which things happen that are under way at once.

    An exception that the test raises comes out as it is. With pytest its traceback begins in the test.

    Raises: TypeError for a function that is not asynchronous; BadInput for an unknown schedule.
    """
    drawn = parse_schedule(schedule, SOME_TIME.read(schedule_jitter))
    if test is None:
        return functools.partial(_synchronous, seed=seed, schedule=drawn)
    return _synchronous(test, seed=seed, schedule=drawn)


def _synchronous(test: Asynchronous[P, R], seed: int, schedule: Schedule | None) -> Callable[P, R]:
    if not inspect.iscoroutinefunction(test):
        raise TypeError(f"{test.__qualname__} is not asynchronous; write 'async def'")
    signature = inspect.signature(test)

    @functools.wraps(test)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        __tracebackhide__ = True
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        world = World(bound.arguments.get(SEED, seed), schedule=schedule)
        returned, failure = _run(world, functools.partial(test, *args, **kwargs))
        if failure is not None:
            raise failure
        return returned[0]

    return run


def _run(world: World, test: Callable[[], Awaitable[R]]) -> tuple[list[R], BaseException | None]:
    """The result of the test, if it returns, and its exception. The exception is kept out of the nurseries, which would
    put it into groups."""
    returned: list[R] = []
    failures: list[BaseException] = []

    async def body() -> None:
        __tracebackhide__ = True
        try:
            returned.append(await test())
        except trio.Cancelled:
            raise
        except BaseException as error:
            failures.append(as_foreign_await(world.current.name, error) or only(error))

    token = _WORLD.set(world)
    try:
        world.run(body)
    except BaseException as error:
        failures.insert(0, only(error))
    finally:
        _WORLD.reset(token)
    return returned, failures[0] if failures else None


def only(error: BaseException) -> BaseException:
    """The one exception in a group, and in groups of groups, of one each."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]
    return error


def current_world() -> World:
    """The world of the test that runs. Raises: ForeignAwait outside one."""
    world = _WORLD.get()
    if world is None:
        raise ForeignAwait("a cluster runs in virtual time only; put @in_virtual_time on the function that uses it")
    return world


def duration_us(text: str) -> int:
    """The microseconds of a text such as ``"30s"``. Raises: BadInput."""
    return units.parse_duration(text)


async def passes(world: World, condition: Callable[[], object], within_us: int) -> bool:
    """Whether ``condition`` comes true within that time; looked at now, and then each ``LOOK_US``."""
    deadline_us = world.now + within_us
    while not condition():
        left_us = deadline_us - world.now
        if left_us <= 0:
            return False
        await world.sleep(min(LOOK_US, left_us), background=True)
    return True
