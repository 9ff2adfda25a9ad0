"""A few machines on a network, for tests of the emulator."""

from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple

import trio
from attrs import define, field

from emulator.kernel import Mailbox, World
from emulator.network import Network, NetworkSpec
from emulator.nodes import Node, Process
from emulator.schedules import Schedule
from emulator.trace import Trace


class Noted(NamedTuple):
    """Something a test wrote down."""

    t_us: int
    seq: int
    cause: int
    what: str


@define(eq=False)
class Site:
    """Machines 0, 1, … of one world."""

    world: World
    nursery: trio.Nursery
    spec: NetworkSpec = field(factory=lambda: NetworkSpec(latency_us=500, jitter_us=200))
    trace: Trace = field(init=False)
    network: Network = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.trace = Trace(self.world)
        self.network = Network(self.world, self.spec)

    def machine(self, number: int) -> Node:
        node = Node(self.world, self.trace, number, f"broker-{number}", self.nursery)
        self.network.attach(node)
        return node

    async def process(self, number: int) -> Process:
        """A new machine with a process that does nothing by itself."""
        return await idle(self.machine(number))

    async def end(self) -> None:
        self.nursery.cancel_scope.cancel()


async def idle(node: Node) -> Process:
    """Start a process on ``node`` that waits for ever, and wait until it runs."""
    box = Mailbox(node.world, f"{node.name} idles")
    process = node.start(lambda _process: box.get())
    await node.world.sleep(0)
    await node.world.sleep(0)
    return process


Body = Callable[[Site], Awaitable[Any]]


def on_site(
    body: Body,
    *,
    seed: int = 1,
    spec: NetworkSpec | None = None,
    backend: Any = "detached",
    schedule: Schedule | None = None,
) -> Any:
    """Run ``body(site)`` as the first task of a new world; what it returns."""
    world = World(seed, backend=backend, max_events=1_000_000, schedule=schedule)

    async def main() -> Any:
        async with world.open_nursery() as nursery:
            site = Site(world, nursery) if spec is None else Site(world, nursery, spec)
            result = await body(site)
            nursery.cancel_scope.cancel()
        return result

    return world.run(main)
