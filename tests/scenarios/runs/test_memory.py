"""Memory that a run leaves behind."""

import gc
import json
from collections.abc import Callable
from weakref import WeakSet

import pytest

from emulator.kernel import World
from emulator.protocol.events import AckedLost, Appended, BatchesAppended, HighWatermarksMoved
from emulator.trace import as_bytes
from scenarios.runs import control_plane_log, run_scenario
from scenarios.runs.control_plane_log import ControlPlaneLog
from scenarios.runs.dataset.arm import Arm
from scenarios.runs.dataset.run_record import RunSpec
from scenarios.runs.record import run_record
from scenarios.runs.runner import Stage
from scenarios.studies.atlas.cell_run import execute
from tests.scenarios.runs.building import EXECUTE, scenario

LOADED = scenario(brokers=3, controller=2, assignment=[(0, 1)], rate=100, method=[])
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


def data_events() -> list[object]:
    """All events of data that are alive in this process, whichever test keeps them."""
    return [one for one in gc.get_objects() if isinstance(one, BatchesAppended | HighWatermarksMoved)]


def test_a_run_keeps_its_newest_data_without_keeping_its_events_alive() -> None:
    """Else freeing them takes longer than a tenth of a short run."""
    of_other_tests = {id(event): event for event in data_events()}
    run = run_scenario(LOADED)
    alive = [event for event in data_events() if id(event) not in of_other_tests]
    appended = [event for event in run.control_plane if type(event) is Appended]
    assert not alive
    assert len(appended) > 20
    assert appended == sorted(appended, key=lambda event: event.seq)
    assert {event.node for event in appended} == {0, 1}


def test_a_long_log_keeps_what_a_short_one_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of its first chunks, which it has not looked at, and of the later ones, which it has."""
    short = run_scenario(LOADED).control_plane
    for first in (0, 1):
        monkeypatch.setattr(control_plane_log, "UNSORTED", first)
        assert run_scenario(LOADED).control_plane == short


def test_what_the_log_has_as_control_plane_it_does_not_have_as_data_too() -> None:
    """A batch that is lost is summarised like data, and kept like the control plane."""
    lost = AckedLost(1, 1, 0, "orders", 0, 1, False, False, 1, 1, 7, 0, 1, 2, 3, 0)
    log = ControlPlaneLog({"AckedLost": AckedLost})
    log.take([lost], as_bytes([lost]))
    assert log.events() == (lost,)
