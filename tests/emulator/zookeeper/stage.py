"""A small world for the ZooKeeper tests: ZooKeeper, brokers with one client each, and a trace that is
kept."""

from collections.abc import Awaitable, Callable
from typing import Any

import trio
from attrs import define, field

from emulator.kernel import Backend, World
from emulator.network import Network
from emulator.nodes import Node, Process
from emulator.trace import Trace
from emulator.trace.events import ZkSession, ZkWritten
from emulator.zookeeper import ZOOKEEPER, Request, ZkClient, ZkResponse, ZkSpec
from emulator.zookeeper.server import ZooKeeper

SECOND = 1_000_000


@define(eq=False)
class Stage:
    """``written`` and ``sessions``: the events so far."""

    world: World
    trace: Trace
    network: Network
    nursery: trio.Nursery
    zookeeper: ZooKeeper
    spec: ZkSpec
    written: list[ZkWritten] = field(factory=list)
    sessions: list[ZkSession] = field(factory=list)

    def client(self, broker: int) -> ZkClient:
        """A client in a new incarnation of machine ``broker``; it does not connect yet."""
        node = self.network.nodes.get(broker)
        if node is None:
            node = Node(self.world, self.trace, broker, f"broker-{broker}", self.nursery)
            self.network.attach(node)
        return ZkClient(self.network, node.start(_idle), self.spec)

    async def connected(self, broker: int) -> ZkClient:
        client = self.client(broker)
        await client.connect()
        return client

    def node(self, broker: int) -> Node:
        return self.network.nodes[broker]

    def process(self, broker: int) -> Process:
        process = self.node(broker).process
        assert process is not None
        return process

    def cut(self, broker: int) -> None:
        """Both ways between ``broker`` and ZooKeeper."""
        self.network.cut(broker, ZOOKEEPER)
        self.network.cut(ZOOKEEPER, broker)

    def heal(self, broker: int) -> None:
        self.network.heal(broker, ZOOKEEPER)
        self.network.heal(ZOOKEEPER, broker)

    async def sleep_s(self, seconds: float) -> None:
        await self.world.sleep(int(seconds * SECOND))

    def states(self, broker: int) -> list[str]:
        return [event.state for event in self.sessions if event.client == broker]


def is_up(client: ZkClient) -> bool:
    """Whether it has a session and a connection, as of now."""
    return client.connected


def is_expired(client: ZkClient) -> bool:
    """Whether it knows by now that its session is gone."""
    return client.expired


async def _idle(_process: Process) -> None:
    """The tests act from outside of any process."""


def play(
    script: Callable[[Stage], Awaitable[Any]],
    *,
    seed: int = 1,
    spec: ZkSpec | None = None,
    backend: Backend = "detached",
) -> Stage:
    """Run ``script`` in a fresh world that ends with it."""
    world = World(seed, backend=backend, max_events=100_000)
    stages: list[Stage] = []
    used = ZkSpec() if spec is None else spec

    async def main() -> None:
        trace = Trace(world)
        network = Network(world)
        async with world.open_nursery() as nursery:
            zookeeper = ZooKeeper.start(world, trace, network, nursery, used)
            world.unsettled_while(lambda: zookeeper.expiring)
            stage = Stage(world, trace, network, nursery, zookeeper, used)
            stages.append(stage)
            trace.fold(ZkWritten, stage.written.append)
            trace.fold(ZkSession, stage.sessions.append)
            await script(stage)
            nursery.cancel_scope.cancel()

    world.run(main)
    return stages[0]


class Answers:
    """Collects what ``submit`` gives back."""

    def __init__(self) -> None:
        self.got: list[ZkResponse] = []

    def ask(self, client: ZkClient, *requests: Request) -> None:
        for request in requests:
            client.submit(request, self.got.append)
