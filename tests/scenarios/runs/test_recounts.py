"""On one seed of twenty the gauges are recounted during the run."""

import pytest

from controller.metrics import ControllerMetrics
from emulator.kernel import World
from scenarios.runs import Run
from scenarios.runs import recounts as room
from tests.scenarios.runs.building import Table, play, scenario

RECOUNTS, DOES_NOT = 69, 1
CRASH: Table = {"at": "3s", "action": "broker.crash", "target": 2}
LATER: Table = {"at": "50s", "action": "election.preferred"}


def run(seed: int) -> Run:
    """The leader of the one partition dies and does not come back."""
    method = [CRASH, LATER]
    wanted = scenario(brokers=3, controller=0, assignment=[(2,)], method=method, horizon="2m", seed=seed)
    return play(wanted).run


def test_it_is_drawn_from_the_seed() -> None:
    found = [seed for seed in range(4000) if room.recounts(World(seed))]
    assert 150 < len(found) < 250
    assert found[0] == RECOUNTS


def test_a_gauge_that_drifts_and_comes_back_is_caught_on_such_a_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(RECOUNTS).violations == run(DOES_NOT).violations == ()
    shown = ControllerMetrics.show

    def forgets(self: ControllerMetrics, *, active: bool) -> None:
        """For one second, long after."""
        shown(self, active=active)
        gauge = self.gauges["OfflinePartitionsCount"]
        if gauge.value:
            for seconds, value in ((30, 0), (31, 1)):
                self.process.call_later(seconds * 1_000_000, gauge.set, value)

    monkeypatch.setattr(ControllerMetrics, "show", forgets)
    assert run(DOES_NOT).violations == ()
    assert {violation.invariant for violation in run(RECOUNTS).violations} == {"offline_true"}


def test_the_run_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    digest = run(RECOUNTS).digest
    monkeypatch.setattr(room, "recounts", lambda world: False)
    assert run(RECOUNTS).digest == digest
