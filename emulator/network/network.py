"""The machines and the routes between them; connections, cuts and delays."""

from collections.abc import Callable, Mapping
from typing import Any

from attrs import define, field, frozen

from emulator.kernel import World
from emulator.network.delay import NO_DELAY, Delay
from emulator.network.endpoint import Endpoint, ignore
from emulator.network.interceptors import Interceptors
from emulator.network.loss import Loss
from emulator.network.route import Port, Route
from emulator.nodes import CrashKind, Listener, Node, Process


@frozen
class Nic:
    """A machine's network card: bytes per second out and in; None: unlimited."""

    egress: int | None = None
    ingress: int | None = None


@frozen
class NetworkSpec:
    """The settings of all routes and machines.

    Attributes:
        latency_us, jitter_us, sigma: as in ``Delay``.
        egress, ingress: bytes per second of each machine's NIC; None: unlimited.
        nics: the NICs of machines, by id, that have other rates.
    """

    latency_us: int = 500
    jitter_us: int = 200
    egress: int | None = None
    ingress: int | None = None
    sigma: float = 0.0
    nics: Mapping[int, Nic] = field(factory=dict)

    @property
    def delay(self) -> Delay:
        """The delay of every link between two machines."""
        return Delay(self.latency_us, self.jitter_us, self.sigma)

    def nic(self, machine: int) -> Nic:
        return self.nics.get(machine) or Nic(self.egress, self.ingress)


@define(eq=False, repr=False)
class Network:
    """All machines of a world, and the routes between them, which are created when first used.

    Attributes:
        paranoid: check that no message is changed after it was sent (``emulator.network.sealed``).
        nodes: the machines, by id.
        on_listen: called with each process that begins to listen.
    """

    world: World
    spec: NetworkSpec = field(factory=NetworkSpec)
    paranoid: bool = False
    nodes: dict[int, Node] = field(factory=dict)
    interceptors: Interceptors = field(factory=Interceptors)
    on_listen: list[Callable[[Process], object]] = field(factory=list)
    _routes: dict[tuple[int, int], Route] = field(factory=dict)
    _egress: dict[int, Port] = field(factory=dict)
    _ingress: dict[int, Port] = field(factory=dict)

    def attach(self, node: Node, *, limited: bool = True) -> None:
        """Connect a machine. ``limited=False``: its NIC is never the bottleneck (clients, ZooKeeper)."""
        self.nodes[node.id] = node
        nic = self.spec.nic(node.id) if limited else Nic()
        self._egress[node.id] = Port(nic.egress)
        self._ingress[node.id] = Port(nic.ingress)
        node.on_crash.append(self._reset_connections)

    def route(self, source: int, target: int) -> Route:
        """The route from ``source`` to ``target``."""
        found = self._routes.get((source, target))
        if found is None:
            near, far = self.nodes[source], self.nodes[target]
            found = self._routes[source, target] = Route(
                self.world, near, far, self._egress[source], self._ingress[target],
                NO_DELAY if source == target else self.spec.delay,
                self.world.stream("network", f"{near.name}>{far.name}"),
            )  # fmt: skip
            if source == target:
                found.egress = found.ingress = Port(None)
        return found

    @property
    def _endpoint(self) -> type[Endpoint]:
        if self.world.delays is not None or self.world.choices is not None:
            from emulator.network.scheduled import scheduled_endpoint  # pickle with it

            return scheduled_endpoint(self.world, paranoid=self.paranoid)
        if not self.paranoid:
            return Endpoint
        from emulator.network.sealed import SealedEndpoint  # pickle with it

        return SealedEndpoint

    def rouse(self) -> None:
        """Simulate all parked work of all machines again from here on: what it draws next may be different."""
        for node in self.nodes.values():
            if node.process is not None:
                node.process.parked.rouse()

    # -- connections -----------------------------------------------------------------------------------------

    def listen(self, process: Process, port: str, accept: Callable[[Endpoint], object]) -> None:
        """Call ``accept(endpoint)`` with each new connection to ``port`` of the process's machine."""
        process.check_alive()
        process.node.listeners[port] = Listener(process, accept)
        for notify in self.on_listen:
            notify(process)

    def connect(
        self,
        process: Process,
        host: int,
        port: str,
        receive: Callable[[Any], object],
        closed: Callable[[str], object] = ignore,
    ) -> Endpoint:
        """Open a connection from ``process`` to ``port`` of machine ``host``.

        The handshake takes a round trip. A refusal calls ``closed`` with ``"refused"``. A machine that is down or cut
        off does not answer at all.
        """
        process.check_alive()
        out = self.route(process.node.id, host)
        client = self._endpoint(self.world, process, out, self.interceptors, receive, closed)
        process.endpoints[client] = None
        arrival = client.out.handshake_arrival()
        if arrival is not None:
            self.world.call_at(arrival, self._syn, (client, port))
        return client

    def _syn(self, call: tuple[Endpoint, str]) -> None:
        client, port = call
        if client.out.blocked:
            client.out.stall(self._syn, call)
            return
        node = client.out.target
        listener = node.listeners.get(port)
        if client.done or not node.up:
            return
        back = self.route(node.id, client.process.node.id)
        if listener is None or not listener.process.alive:
            self.world.call_at(back.arrival(0), self._refused, (client, back))
            return
        server = self._endpoint(self.world, listener.process, back, self.interceptors, peer=client, open=True)
        listener.process.endpoints[server] = None
        server.last_arrival_us = back.arrival(0)
        self.world.call_at(server.last_arrival_us, self._syn_ack, (client, server))
        if listener.process.paused:
            listener.process.deliver((listener.accept, server))
        else:
            listener.accept(server)

    def _refused(self, call: tuple[Endpoint, Route]) -> None:
        client, back = call
        if back.blocked:
            back.stall(self._refused, call)
        else:
            client.ended("refused")

    def _syn_ack(self, ends: tuple[Endpoint, Endpoint]) -> None:
        server = ends[1]
        if server.out.blocked:
            server.out.stall(self._syn_ack, ends)
        else:
            self._establish(ends)

    def _establish(self, ends: tuple[Endpoint, Endpoint]) -> None:
        client, server = ends
        if client.process.paused:
            client.process.deliver((self._establish, ends))
        elif client.done or not client.process.alive:
            client.peer = server
            if client.process.node.up:
                client.reset_peer("reset")
        elif not server.done:
            client.opened(server)
        else:
            client.ended("reset")

    def _reset_connections(self, process: Process, kind: CrashKind) -> None:
        for endpoint in list(process.endpoints):
            endpoint.owner_died(kind)
        process.endpoints.clear()

    # -- faults ----------------------------------------------------------------------------------------------

    @property
    def disturbed(self) -> list[tuple[int, int]]:
        """The routes that are cut or impaired: (source, target), in the order of their first use."""
        return [ends for ends, route in self._routes.items() if route.is_impaired]

    def cut(self, source: int, target: int) -> None:
        """Stop everything from ``source`` to ``target``. It stalls until the route is healed, as with TCP."""
        self.route(source, target).stop()

    def heal(self, source: int, target: int) -> None:
        """Undo ``cut``, ``delay``, ``lose`` and ``limit`` from ``source`` to ``target``."""
        route = self.route(source, target)
        route.set_delay(route.delay)
        if route.is_impaired:
            route.lose(None)
            route.limit_to(None)
        route.heal()

    def delay(self, source: int, target: int, extra: Delay) -> None:
        """Add ``extra`` to the delay of the link from ``source`` to ``target``."""
        route = self.route(source, target)
        route.set_delay(route.delay, extra)

    def lose(self, source: int, target: int, loss: Loss) -> None:
        """Lose packets from ``source`` to ``target``."""
        self.route(source, target).lose(loss)

    def limit(self, source: int, target: int, bytes_per_s: int) -> None:
        """Limit the bandwidth from ``source`` to ``target``."""
        self.route(source, target).limit_to(bytes_per_s)
