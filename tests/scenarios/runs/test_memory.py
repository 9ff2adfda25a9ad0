"""What a run leaves behind in memory."""

import gc
import json
from collections.abc import Callable
from weakref import WeakSet

import pytest

from emulator.kernel import World
from scenarios.runs import run_scenario
from scenarios.runs.dataset.arm import Arm
from scenarios.runs.dataset.record import RunSpec
from scenarios.runs.record import run_record
from scenarios.runs.runner import Stage
from scenarios.studies.atlas.cell_run import execute
from tests.scenarios.runs.building import EXECUTE, scenario

MOVE = scenario(brokers=4, assignment=[(0, 1)], plan={0: (2, 3)}, method=[EXECUTE], controller=0)


def record() -> object:
    table = json.dumps(MOVE.to_table())
    return run_record(
        RunSpec.plan(scenario=table, scenario_digest="", arm=Arm(MOVE.strategy.name, MOVE.profile), seed=1, code="code")
    )


@pytest.mark.parametrize("run", [lambda: run_scenario(MOVE), record, lambda: execute(MOVE)])
def test_a_world_is_freed_by_a_collection_of_the_youngest_generation(
    run: Callable[[], object], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else ten dead worlds pile up, and cost three times as much to free."""
    worlds: WeakSet[World] = WeakSet()
    play = Stage.play

    def noted(stage: Stage) -> None:
        worlds.add(stage.world)
        play(stage)

    monkeypatch.setattr(Stage, "play", noted)
    assert gc.isenabled()
    found = run()
    gc.collect(0)
    assert not worlds
    assert found
