"""The operator: a process with a ZooKeeper session, in which the commands of ``scenarios.clients.tools`` run."""

from collections.abc import Awaitable, Callable

from attrs import define, field

from emulator.network import Network
from emulator.nodes import Process
from emulator.zookeeper import ZkClient, ZkSpec

Command = Callable[..., Awaitable[object]]


@define(eq=False)
class Operator:
    """One operator with a ZooKeeper session. ``main`` is what its process runs."""

    network: Network
    zk_spec: ZkSpec
    process: Process = field(init=False)
    zk: ZkClient = field(init=False)

    async def main(self, process: Process) -> None:
        self.process = process
        self.zk = ZkClient(self.network, process, self.zk_spec)
        await self.zk.connect()

    def begin(self, command: Command, *args: object, done: Callable[[object], object] | None = None) -> None:
        """Run ``command(self, *args)`` as a task; ``done`` gets what it returns."""

        async def run() -> None:
            outcome = await command(self, *args)
            if done is not None:
                done(outcome)

        self.process.spawn(run, name=command.__name__)
