"""The client of a case on an emulated cluster: its frames come in by the gateway of a served one."""

from collections.abc import Sequence

from attrs import define, field

from benchmarks.calibration.client import Ask, Client, Talk
from benchmarks.calibration.facts import Answer
from scenarios.runs.runner import Stage
from scenarios.wire.gateway.gateway import Gateway
from scenarios.wire.gateway.outlet import Outlet
from scenarios.wire.inputs import Accepted, Closed, Frame, Operation
from scenarios.wire.served import served_cluster
from scenarios.wire.versions import release_of

ASKS_AFTER_US = 1000
"""The time between an answer and the next request."""

FIRST_PORT = 9092


def talk(stage: Stage) -> Sequence[Answer]:
    """Let the client of a case talk to the cluster that is up now. What it is answered comes into the list."""
    cluster = stage.cluster
    client = Client(stage.scenario, lambda: (cluster.epoch_us + stage.world.now) // 1000)
    talking = _Talking(stage, client.talk())
    addresses = {broker: ("127.0.0.1", FIRST_PORT + broker) for broker in cluster.setup.brokers}
    served = served_cluster(stage, addresses, release_of(cluster.setup.broker.policies.api_versions))
    talking.gateway = Gateway(cluster, served, talking, _no_operation, lambda _: None, stage.defect)
    talking.gateway.open()
    talking.answered(None)
    return client.answers


def _no_operation(operation: Operation) -> None:
    raise AssertionError(f"operations are entries of the method: {operation.text}")


@define(eq=False)
class _Talking:
    """The client at work; the ways out of the world, too.

    Attributes:
        listening: the brokers that accept connections.
    """

    stage: Stage
    _talk: Talk
    gateway: Gateway = field(init=False)
    listening: dict[int, bool] = field(factory=dict)
    _connection: int = 0
    _begun: bool = False
    _began_us: int = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._began_us = self.stage.world.now

    def answered(self, answer: bytes | None) -> None:
        """Go on, now that there is an answer, or the connection has ended, or the time has come."""
        world = self.stage.world
        self.gateway.perform(Closed(self._connection))
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
        self._connection += 1
        if not self.listening.get(ask.broker):
            self.later(self._connection, None)
            return
        self.gateway.perform(Accepted(self._connection, ask.broker, f"127.0.0.1:{self._connection}"))
        for frame in ask.frames:
            self.gateway.perform(Frame(self._connection, frame))

    def later(self, connection: int, answer: bytes | None) -> None:
        """Take the first answer of the current connection, or its end."""
        if connection == self._connection:
            self._connection += 1
            self.stage.world.call_at(self.stage.world.now + ASKS_AFTER_US, self.answered, answer)

    # -- the ways out -------------------------------------------------------------------------------------------------

    def outlet(self, connection: int) -> Outlet:
        return _Outlet(self, connection)

    def listen(self, broker: int) -> None:
        self.listening[broker] = True

    def refuse(self, broker: int) -> None:
        self.listening[broker] = False


@define(eq=False)
class _Outlet:
    """The way out of one connection."""

    talking: _Talking
    connection: int

    def write(self, frame: bytes) -> None:
        self.talking.later(self.connection, frame)

    def announce(self, frame: bytes) -> None:
        """A broker announces nothing."""

    def authenticated(self) -> None:
        """No listener of the case asks for a login."""

    def handled(self) -> None:
        """The request before the last one was one with acks=0."""

    def end(self, *, reset: bool) -> None:
        self.talking.later(self.connection, None)
