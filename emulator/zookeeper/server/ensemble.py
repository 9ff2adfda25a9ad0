"""ZooKeeper on the network: a cluster starts it, checkers read its tree, faults expire its sessions."""

from collections.abc import Callable, Iterable

import trio
from attrs import define, field

from emulator.kernel import World
from emulator.network import Network
from emulator.nodes import Node, Process
from emulator.trace import Trace
from emulator.trace.shown_znodes import ExpiryInjected
from emulator.zookeeper.messages import Create, SetData
from emulator.zookeeper.paths import ancestors
from emulator.zookeeper.server.tree import Tree
from emulator.zookeeper.server.zookeeper_server import ZooKeeperServer
from emulator.zookeeper.spec import PORT, ZOOKEEPER, ZkSpec
from emulator.zookeeper.zk_errors import ZkCode, error_of


@define(eq=False)
class ZooKeeper:
    """An ensemble that never fails by itself, on machine ``ZOOKEEPER``.

    Attributes:
        stopped: whether it is unavailable as a whole: ``stop`` was called, and ``start_again`` was not.
        on_stop: called when it becomes so.
    """

    server: ZooKeeperServer
    network: Network
    stopped: bool = False
    on_stop: list[Callable[[], object]] = field(factory=list)

    @classmethod
    def start(cls, world: World, trace: Trace, network: Network, nursery: trio.Nursery, spec: ZkSpec) -> "ZooKeeper":
        """Plug the machine into ``network`` and listen."""
        node = Node(world, trace, ZOOKEEPER, "zookeeper", nursery)
        network.attach(node, limited=False)
        process = node.start(_no_task)
        server = ZooKeeperServer(process, spec)
        network.listen(process, PORT, server.accept)
        return cls(server, network)

    @property
    def tree(self) -> Tree:
        """The znodes, for reading: ``get(path)``, ``stat(path)``, ``children(path)``."""
        return self.server.database.tree

    @property
    def expiring(self) -> bool:
        """Whether a session will expire unless its client returns: it has lost its connection, or the client at the
        other end is dead, paused or cut off. That lasts for a timeout and a tick at most, so a cluster can keep its
        world unsettled meanwhile (``World.unsettled_while``). No session expires while ZooKeeper is stopped."""
        return not self.stopped and any(session.is_expiring for session in self.server.sessions.living.values())

    def stop(self) -> None:
        """Inject a fault: the ensemble loses its quorum. Its servers close every connection and refuse new ones
        (LearnerZooKeeperServer.shutdown, 3.4). Requests without an answer are not done, and no session expires."""
        self.stopped = True
        process = self.server.process
        process.node.listeners.pop(PORT, None)
        self.server.stop()
        for notify in self.on_stop:
            notify()

    def start_again(self, expired: Iterable[int] = ()) -> None:
        """The ensemble has a quorum again. Every session has its whole timeout from now on, as the sessions that a new
        leader finds (SessionTrackerImpl, 3.4); those of the machines ``expired`` are gone."""
        self.stopped = False
        self.network.listen(self.server.process, PORT, self.server.accept)
        self.server.start_again()
        for machine in expired:
            self.expire(machine)

    def expire(self, node_id: int) -> bool:
        """Inject a fault: expire the newest session of machine ``node_id`` now. False if it has none.

        Its ephemerals are deleted at once. The client finds its connection closed and learns of the expiry when
        it reconnects.
        """
        session = self.server.sessions.newest(node_id)
        if session is None:
            return False
        self.server.process.show(ExpiryInjected, session.client, session.id)
        self.server.expire(session)
        return True

    def seed(self, path: str, data: str) -> None:
        """Create a persistent znode before the run, with the parents it needs, or set the data of an existing one.

        Raises:
            ZkError: the path is not valid, or has an ephemeral parent.
        """
        for parent in ancestors(path):
            if parent not in self.tree.nodes:
                self._write(Create(parent))
        self._write(SetData(path, data) if path in self.tree.nodes else Create(path, data))

    def _write(self, request: Create | SetData) -> None:
        trace = self.server.process.node.trace
        cause = trace.cause
        response = self.server.database.answer(request, None, ZOOKEEPER, 0)
        trace.cause = cause
        if response.error is not ZkCode.OK:
            raise error_of(response.error, response.path)


async def _no_task(_process: Process) -> None:
    """The process acts on events alone, until the nursery that it was started in ends."""
