"""A run with real clients: a stage in a live world.

A mistake of the tool itself ends neither the world nor the other clients' work. An exception in the middle of a
process's transition ends that process, as an error does that a Java process cannot survive. It is reported at once, and
fails the run. (An exception ends an ordinary run, and the program, with exit code 4.)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from attrs import define, field

from emulator.kernel import BudgetExceeded, KernelError, Signal, World
from emulator.kernel.live import Inputs, LiveWorld
from scenarios.cluster.cluster import Cluster
from scenarios.errors import BadInput
from scenarios.runs.culprits import named_failures, process_of, said
from scenarios.runs.runner import Stage

if TYPE_CHECKING:
    from emulator.schedules import Schedule


@define(eq=False)
class LiveStage(Stage):
    """A stage that goes on until ``stop``: the scenario's horizon does not end it.

    Attributes:
        inputs: the inputs, which bound its time.
        ready: called once the cluster is up and the method has begun.
        log: called with a line for each mistake of the tool itself.
    """

    inputs: Inputs = field(kw_only=True)
    ready: Callable[[], object] = field(kw_only=True, default=lambda: None)
    log: Callable[[str], object] = field(kw_only=True, default=lambda _: None)
    _stopped: Signal = field(init=False)
    _is_ready: bool = field(init=False, default=False)

    def make_world(self, schedule: Schedule | None) -> World:
        world = LiveWorld(self.scenario.seed, self.inputs, backend=self.backend, schedule=schedule)
        world.contain = self._contain
        self._stopped = Signal(world, "the end of the live run")
        return world

    def play(self) -> None:
        with self.judged():
            self.world.run(self.cluster.run, self.drive)

    @contextmanager
    def judged(self) -> Iterator[None]:
        """Turn an exception that ends the run once it is ready into a finding; all others, and BadInput, are raised."""
        try:
            with named_failures():
                yield
        except BadInput:
            raise
        except Exception as error:
            if not self._is_ready:
                raise
            if isinstance(error, BudgetExceeded):
                self.cut_off = str(error)
            else:
                self.defect(f"the run ended at {self.world.now / 1e6:.3f} s: {said(error)}")
            self.did_not_end(str(error))

    async def drive(self, cluster: Cluster) -> None:
        self.begin()
        self._is_ready = True
        self.ready()
        await self._stopped.wait()
        self.method.disarm()
        self.judge.check_steady("end", self.world.now)
        self.converged = self.convergence.finish(self.world.now)

    def stop(self) -> None:
        """End the run at this instant."""
        self._stopped.set()

    def defect(self, what: str) -> None:
        super().defect(what)
        self.log(f"a defect of the tool: {what}")

    def _contain(self, error: Exception) -> bool:
        """End the process in which an exception was raised. An error of the world itself ends the world."""
        process = process_of(error)
        if process is None or _is_the_worlds(error):
            return False
        self.defect(f"{process.name} fails at {self.world.now / 1e6:.3f} s: {said(error)}")
        self.cluster.failed(process)
        return True


def _is_the_worlds(error: Exception) -> bool:
    inner = error.exceptions if isinstance(error, ExceptionGroup) else ()
    return isinstance(error, KernelError) or any(map(_is_the_worlds, inner))
