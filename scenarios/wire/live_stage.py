"""A run that real clients take part in: a stage in a live world."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from attrs import define, field

from emulator.kernel import Signal, World
from emulator.kernel.live import Inputs, LiveWorld
from scenarios.cluster.cluster import Cluster
from scenarios.runs.runner import Stage

if TYPE_CHECKING:
    from emulator.schedules import Schedule


@define(eq=False)
class LiveStage(Stage):
    """Goes on until ``stop``: the scenario's horizon does not end it.

    Attributes:
        inputs: what bounds its time.
        ready: called once the cluster is up and the method has begun.
    """

    inputs: Inputs = field(kw_only=True)
    ready: Callable[[], object] = field(kw_only=True, default=lambda: None)
    _stopped: Signal = field(init=False)

    def make_world(self, schedule: "Schedule | None") -> World:
        world = LiveWorld(self.scenario.seed, self.inputs, backend=self.backend, schedule=schedule)
        self._stopped = Signal(world, "the end of the live run")
        return world

    async def drive(self, cluster: Cluster) -> None:
        self.begin()
        self.ready()
        await self._stopped.wait()
        self.method.disarm()
        self.judge.check_steady("end", self.world.now)
        self.converged = self.convergence.finish(self.world.now)

    def stop(self) -> None:
        """End the run at this instant."""
        self._stopped.set()
