"""A live run without sockets: what comes in is written down beforehand, and what goes out is kept."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from attrs import define, field

from emulator.kernel.live import UNBOUNDED, LiveWorld
from scenarios.language import Scenario
from scenarios.runs import Run
from scenarios.runs.runner import conclude, prepare
from scenarios.wire.gateway.gateway import Gateway
from scenarios.wire.inputs import Input, Operation
from scenarios.wire.live_stage import LiveStage
from scenarios.wire.operations.performing import Operations
from scenarios.wire.security.secured_as import SecuredAs
from scenarios.wire.served import served_cluster

API_VERSIONS = "3.0"
"""The release whose versions are announced: more than the default profile's."""
STOP = Operation('{"action": "stop"}')


@define(eq=False)
class Outlets:
    """Attributes:
    written: the frames of each connection; ``ended``: how it ended, ``reset`` or ``closed``; ``authenticated``: the
        connections that may send requests of any size.
    """

    written: dict[int, list[bytes]] = field(factory=dict)
    authenticated: list[int] = field(factory=list)
    ended: dict[int, str] = field(factory=dict)

    def outlet(self, connection: int) -> Outlet:
        self.written[connection] = []
        return Outlet(self, connection)

    def listen(self, broker: int) -> None: ...

    def refuse(self, broker: int) -> None: ...


@define(eq=False)
class Outlet:
    outlets: Outlets
    connection: int

    def write(self, frame: bytes) -> None:
        self.outlets.written[self.connection].append(frame)

    def announce(self, frame: bytes) -> None:
        self.outlets.written[self.connection].append(frame)

    def handled(self) -> None: ...

    def authenticated(self) -> None:
        self.outlets.authenticated.append(self.connection)

    def end(self, *, reset: bool) -> None:
        self.outlets.ended[self.connection] = "reset" if reset else "closed"


@define(eq=False)
class Script:
    """Inputs at milliseconds after the start, in order; then the run stops."""

    given: list[tuple[int, Input]]
    perform: Callable[[Any], object] = field(init=False)
    began_us: int | None = None

    def horizon_us(self, _next_us: float) -> int:
        return self._due_us

    @property
    def _due_us(self) -> int:
        return UNBOUNDED if self.began_us is None else self.began_us + 1000 * (self.given[0][0] if self.given else 0)

    def take(self, now_us: int) -> Input | None:
        return self.given.pop(0)[1] if self.given and self._due_us == now_us else None

    def seconds_until(self, t_us: float) -> float:
        return 0.0


@define(eq=False)
class Scripted:
    """The result of such a run."""

    stage: LiveStage
    outlets: Outlets
    log: list[str]

    def judged(self) -> Run:
        """The run with its verdict."""
        return conclude(self.stage, self.stage.scenario, 0.0)[0]


def play(
    table: Mapping[str, Any],
    given: Sequence[tuple[int, Input]],
    end_ms: int = 1000,
    *,
    api_versions: str = API_VERSIONS,
    secured: SecuredAs | None = None,
) -> Scripted:
    """Play a run of the scenario in which this comes in, and which ends some time after that."""
    last_ms = given[-1][0] if given else 0
    script, log, outlets = Script([*given, (last_ms + end_ms, STOP)]), list[str](), Outlets()
    scenario = Scenario.from_table({"title": "scripted", "cluster": {"brokers": 3}, **table})

    def ready() -> None:
        world = stage.world
        assert isinstance(world, LiveWorld)
        script.began_us = world.now
        world.horizon_moved()
        gateway.open()

    stage = LiveStage(prepare(scenario), inputs=script, ready=ready, log=log.append)
    addresses = {broker: ("127.0.0.1", 9092 + broker) for broker in range(3)}
    served = served_cluster(stage, addresses, api_versions, secured=secured)
    gateway = Gateway(stage.cluster, served, outlets, Operations(stage).perform, log.append, stage.defect)
    script.perform = gateway.perform
    stage.play()
    return Scripted(stage, outlets, log)
