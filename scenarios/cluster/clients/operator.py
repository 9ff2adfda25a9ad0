"""The operator: a process in which the commands of ``scenarios.cluster.clients.tools`` run, with a ZooKeeper session
and an AdminClient."""

from collections.abc import Awaitable, Callable
from typing import Any

from attrs import define, field

from brokers.config_def import ServerProperties
from emulator.network import Network
from emulator.nodes import Process
from emulator.zookeeper import ZkClient, ZkSpec
from scenarios.cluster.clients.admin import AdminClient

Command = Callable[..., Awaitable[object]]


@define(eq=False)
class Operator:
    """One operator.

    Attributes:
        brokers: brokers that it asks for the controller.
        under_way: how many commands have begun and not ended.
        topic_version: the version of the topics' znodes that its tools write.
        refuses_marked: see ``AdminPolicies``.
        server: returns the settings with which each broker was started.
        has_tool_2_6: whether its kafka-reassign-partitions is that of 2.6 (KAFKA-8820), also where it is used with
            --zookeeper.
        tool_keeps_widenings: whether that tool cancels no move that only adds replicas (3.7).
        tool_heeds_moves: whether that tool throttles the followers of moves under way (KAFKA-10779, 2.8).
    """

    network: Network
    zk_spec: ZkSpec
    brokers: tuple[int, ...]
    topic_version: int = 1
    server: Callable[[], ServerProperties] = dict
    has_tool_2_6: bool = False
    tool_heeds_moves: bool = False
    tool_keeps_widenings: bool = False
    refuses_marked: bool = False
    process: Process = field(init=False)
    zk: ZkClient = field(init=False)
    admin: AdminClient = field(init=False)
    under_way: int = 0

    async def main(self, process: Process) -> None:
        """The main function of the operator's process: it opens a session."""
        self.process = process
        self.admin = AdminClient(self.network, process, self.brokers)
        self.zk = ZkClient(self.network, process, self.zk_spec)
        await self.zk.connect()

    def begin(self, command: Command, *args: object, done: Callable[[Any], object] | None = None) -> None:
        """Run ``command(self, *args)`` as a task; ``done`` is called with what it returns."""

        async def run() -> None:
            outcome = await command(self, *args)
            self.under_way -= 1
            if done is not None:
                done(outcome)

        self.under_way += 1
        self.process.spawn(run, name=command.__name__)
