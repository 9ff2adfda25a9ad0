"""A process of a broker alone, without the rest of a cluster."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from emulator.kernel import World
from emulator.nodes import Node, Process
from emulator.trace import Trace

T = TypeVar("T")


def play(
    world: World, main: Callable[[Process], Awaitable[object]], test: Callable[[T], Awaitable[object]], of: T
) -> None:
    """Start ``main`` as the process of broker 0, and run ``test`` with what it is about. Then everything ends."""

    async def tested() -> None:
        async with world.open_nursery() as nursery:
            node = Node(world, Trace(world), 0, "broker-0", nursery)
            node.start(main)
            await world.sleep(1)
            await test(of)
            nursery.cancel_scope.cancel()

    world.run(tested)
