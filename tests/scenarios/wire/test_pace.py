"""The pace of a live world changes nothing: a run bounded by a clock, read at whatever moments, is the run itself."""

from typing import TYPE_CHECKING, Any

import pytest
from attrs import define, field

from emulator.kernel import World
from emulator.kernel.live import UNBOUNDED, LiveWorld
from scenarios.language.files import load
from scenarios.runs.runner import Stage, prepare

if TYPE_CHECKING:
    from emulator.schedules import Schedule

PACES = [
    ("controller-dies-mid-move", UNBOUNDED),
    ("controller-dies-mid-move", 777),
    ("leader-dies-under-three-producers", 33_333),
]
"""Scenarios of the library, and microseconds."""


@define(eq=False)
class Steps:
    """Time may go so far at each reading. Nothing comes in."""

    step_us: int
    now_us: int = 0

    def horizon_us(self, _next_us: float) -> int:
        self.now_us = min(self.now_us + self.step_us, UNBOUNDED)
        return self.now_us

    def take(self, now_us: int) -> None:
        return None

    def seconds_until(self, t_us: float) -> float:
        # A clock that was not read until then shows that time.
        self.now_us = max(self.now_us, int(min(t_us, UNBOUNDED)) - self.step_us)
        return 0.0

    def perform(self, given: Any) -> None:
        raise AssertionError(given)


@define(eq=False)
class PacedStage(Stage):
    step_us: int = field(kw_only=True)

    def make_world(self, schedule: "Schedule | None") -> World:
        return LiveWorld(self.scenario.seed, Steps(self.step_us), backend=self.backend, schedule=schedule)


def digest(stage: Stage) -> str:
    stage.play()
    return stage.cluster.trace.digest()


@pytest.mark.parametrize(("name", "step_us"), PACES)
def test_a_paced_run_has_the_events_of_the_run(name: str, step_us: int) -> None:
    scenario = prepare(load(name))
    paced = digest(PacedStage(scenario, figures=False, step_us=step_us))
    assert paced == digest(Stage(scenario, figures=False))
