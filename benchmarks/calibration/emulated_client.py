"""The clients of a case on an emulated cluster: their frames come in by the gateway of a served one."""

from collections.abc import Sequence

from attrs import define, field

from benchmarks.calibration.clients import clients
from benchmarks.calibration.clients.base import Ask, Client, Talk
from scenarios.runs.runner import Stage
from scenarios.wire.gateway.gateway import Gateway
from scenarios.wire.gateway.outlet import Outlet
from scenarios.wire.inputs import Accepted, Closed, Frame, Operation
from scenarios.wire.served import served_cluster
from scenarios.wire.versions import release_of

ASKS_AFTER_US = 1000
"""The time between an answer and the next request."""

FIRST_PORT = 9092


def talk(stage: Stage) -> Sequence[Client]:
    """Let the clients of a case talk to the cluster that is up now. What they are answered comes into them."""
    cluster = stage.cluster
    release = cluster.setup.broker.policies.api_versions
    found = clients(stage.scenario, lambda: (cluster.epoch_us + stage.world.now) // 1000, release)
    if found:
        addresses = {broker: ("127.0.0.1", FIRST_PORT + broker) for broker in cluster.setup.brokers}
        served = served_cluster(stage, addresses, release_of(release))
        outlets = _Outlets()
        outlets.gateway = Gateway(cluster, served, outlets, _no_operation, lambda _: None, stage.defect)
        outlets.gateway.open()
        for client in found:
            _Talking(stage, client.talk(), outlets).answered(None)
    return found


def _no_operation(operation: Operation) -> None:
    raise AssertionError(f"operations are entries of the method: {operation.text}")


@define(eq=False)
class _Outlets:
    """The ways out of the world.

    Attributes:
        listening: the brokers that accept connections.
        connections: the number of connections that there have been.
        waiting: who waits for the answer of a connection.
    """

    gateway: Gateway = field(init=False)
    listening: dict[int, bool] = field(factory=dict)
    connections: int = 0
    waiting: "dict[int, _Talking]" = field(factory=dict)

    def outlet(self, connection: int) -> Outlet:
        return _Outlet(self, connection)

    def listen(self, broker: int) -> None:
        self.listening[broker] = True

    def refuse(self, broker: int) -> None:
        self.listening[broker] = False

    def answer(self, connection: int, answer: bytes | None) -> None:
        """Hand out the first answer of a connection, or its end."""
        talking = self.waiting.pop(connection, None)
        if talking is not None:
            talking.later(connection, answer)


@define(eq=False)
class _Talking:
    """One client at work."""

    stage: Stage
    _talk: Talk
    outlets: _Outlets
    _begun: bool = False
    _began_us: int = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._began_us = self.stage.world.now

    def answered(self, answer: bytes | None) -> None:
        """Go on, now that there is an answer, or the connection has ended, or the time has come."""
        world = self.stage.world
        try:
            wish = self._talk.send(answer) if self._begun else next(self._talk)
        except StopIteration:
            return
        self._begun = True
        if isinstance(wish, Ask):
            self._ask(wish)
        else:
            world.call_at(max(world.now, self._began_us + int(wish * 1e6)), self.answered)

    def _ask(self, ask: Ask) -> None:
        outlets = self.outlets
        outlets.connections += 1
        connection = outlets.connections
        if not outlets.listening.get(ask.broker):
            self.later(connection, None)
            return
        outlets.waiting[connection] = self
        outlets.gateway.perform(Accepted(connection, ask.broker, f"127.0.0.1:{connection}"))
        for frame in ask.frames:
            outlets.gateway.perform(Frame(connection, frame))

    def later(self, connection: int, answer: bytes | None) -> None:
        self.stage.world.call_at(self.stage.world.now + ASKS_AFTER_US, self._close, (connection, answer))

    def _close(self, ended: tuple[int, bytes | None]) -> None:
        connection, answer = ended
        self.outlets.gateway.perform(Closed(connection))
        self.answered(answer)


@define(eq=False)
class _Outlet:
    """The way out of one connection."""

    outlets: _Outlets
    connection: int

    def write(self, frame: bytes) -> None:
        self.outlets.answer(self.connection, frame)

    def announce(self, frame: bytes) -> None:
        """A broker announces nothing."""

    def authenticated(self) -> None:
        """No listener of the case asks for a login."""

    def handled(self) -> None:
        """The request before the last one was one with acks=0."""

    def end(self, *, reset: bool) -> None:
        self.outlets.answer(self.connection, None)
