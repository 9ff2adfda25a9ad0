"""The way into the world for inputs from outside: connections, frames, operations."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from attrs import define, field

from emulator.kernel import KernelError
from emulator.network import Endpoint
from emulator.nodes import CrashKind, Listener, Node, Process
from emulator.protocol.address import LISTENER
from emulator.zookeeper import ZOOKEEPER
from scenarios.cluster.cluster import FIRST_CLIENT, Cluster
from scenarios.runs.culprits import said
from scenarios.wire.apis.base import ServedCluster, WireApi, WireApis
from scenarios.wire.gateway.client_connection import ClientConnection
from scenarios.wire.gateway.outlet import Outlet, Outlets
from scenarios.wire.inputs import Accepted, Closed, Frame, Input, Operation
from scenarios.wire.zookeeper.ensemble import ServedZooKeeper

if TYPE_CHECKING:
    from scenarios.wire.zookeeper.zookeeper_connection import ZooKeeperConnection

MOST_MACHINES = 1000
"""The most clients that have a machine of their own; all others share one, so that names cannot fill the memory."""
OTHERS = "others"


@define(eq=False)
class Gateway:
    """The clients of one cluster.

    Attributes:
        outlets: the ways out of the world.
        operate: performs an operation.
        log: called with a line for each refused frame, and when there is no room for more records.
        defect: called with a line for each connection that was closed because the tool itself failed at a request.
        connections: the open connections, by number.
        machines: the machines of the clients, by client.id.
    """

    cluster: Cluster
    served: ServedCluster
    outlets: Outlets
    operate: Callable[[Operation], object]
    log: Callable[[str], object]
    defect: Callable[[str], object]
    apis: Mapping[int, WireApi] = field(factory=WireApis)
    connections: "dict[int, ClientConnection | ZooKeeperConnection]" = field(factory=dict)
    machines: dict[str, Node] = field(factory=dict)
    _zookeeper: ServedZooKeeper = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._zookeeper = ServedZooKeeper(self.cluster, self.served, self.machine)
        self.served.batches.log = self.log

    def perform(self, given: Input) -> None:
        """Handle an input from outside."""
        if isinstance(given, Frame):
            connection = self.connections.get(given.connection)
            if connection is not None:
                try:
                    connection.frame(given.data)
                except KernelError:
                    raise
                except Exception as error:
                    self.defect(f"a request cannot be taken: {said(error)}")
                    connection.end()
        elif isinstance(given, Accepted):
            self.connections[given.connection] = self._connection(given, self.outlets.outlet(given.connection))
        elif isinstance(given, Closed):
            connection = self.connections.get(given.connection)
            if connection is not None:
                connection.close()
        else:
            self.operate(given)

    def _connection(self, given: Accepted, outlet: Outlet) -> "ClientConnection | ZooKeeperConnection":
        if given.broker != ZOOKEEPER:
            connection = ClientConnection(
                self, given.connection, given.broker, given.address, outlet, given.listener, given.principal
            )
            if self.served.logins is not None and given.listener.startswith("SASL_"):
                from scenarios.wire.gateway.login import Login

                connection.login = Login(
                    self.served.logins, given.connection, lambda: self.cluster.world.now, connection.authenticated
                )
            return connection
        from scenarios.wire.zookeeper.zookeeper_connection import (
            ZooKeeperConnection,  # most have no client of ZooKeeper
        )

        ended = self._ended
        return ZooKeeperConnection(
            self._zookeeper, given.connection, given.address, outlet, self.log, self.defect, ended
        )

    def _ended(self, connection: int) -> None:
        self.connections.pop(connection, None)

    def machine(self, client_id: str) -> Node:
        """The machine of a client in the emulated network."""
        if client_id not in self.machines and len(self.machines) >= MOST_MACHINES:
            client_id = OTHERS
        found = self.machines.get(client_id)
        if found is None:
            found = self.machines[client_id] = self.cluster.start_outside_client(client_id)
            found.on_crash.append(self._client_crashed)
        return found

    def _client_crashed(self, process: Process, _: CrashKind) -> None:
        for connection in list(self.connections.values()):
            if connection.machine is process.node:
                connection.reset()

    # -- listeners ----------------------------------------------------------------------------------------------------

    def open(self) -> None:
        """Accept connections to the brokers that listen, and follow them from now on."""
        self.cluster.network.on_listen.append(self._listens)
        for node in self.cluster.nodes.values():
            node.on_crash.append(self._broker_crashed)
            if LISTENER in node.listeners:
                self._listens(node.listeners[LISTENER].process)
        self.cluster.zookeeper.on_stop.append(lambda: self.outlets.refuse(ZOOKEEPER))
        if not self.cluster.zookeeper.stopped:
            self.outlets.listen(ZOOKEEPER)

    def _listens(self, process: Process) -> None:
        """Open the port of a process that listens again, ZooKeeper or a broker. Requests of clients from outside pass a
        guard first."""
        listeners = process.node.listeners
        if LISTENER not in listeners:
            self.outlets.listen(process.node.id)
            return
        accept = listeners[LISTENER].accept
        listeners[LISTENER] = Listener(process, lambda endpoint: self._guard(endpoint, accept))
        self.outlets.listen(process.node.id)

    def _guard(self, endpoint: Endpoint, accept: Callable[[Endpoint], object]) -> None:
        """Accept a connection. If a handler fails on a request from outside, the connection ends and not the run."""
        accept(endpoint)
        if endpoint.out.target.id > FIRST_CLIENT:
            return
        receive = endpoint.receive

        def guarded(request: Any) -> None:
            try:
                receive(request)
            except KernelError:
                raise
            except Exception as error:
                self.defect(f"broker {endpoint.process.node.id} fails at {request.api.name}: {said(error)}")
                endpoint.give_up("closed")

        endpoint.receive = guarded

    def _broker_crashed(self, process: Process, kind: CrashKind) -> None:
        """Refuse connections to a crashed broker. If its machine is down it would not answer; here it accepts
        connections and is silent, since a socket of this machine cannot do less."""
        if kind != "host":
            self.outlets.refuse(process.node.id)
