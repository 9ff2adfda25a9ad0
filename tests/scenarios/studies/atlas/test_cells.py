"""Which cells there are: the gates of the undisturbed move, and the brokers with a role there."""

from __future__ import annotations

import pytest

from emulator.trace.events import Step
from scenarios.language import Scenario
from scenarios.studies.atlas.atlas import Baseline, take_baseline
from scenarios.studies.atlas.cells import ACTORS, FAULTS, broker_of
from scenarios.studies.atlas.move_recorder import GateVisit
from scenarios.studies.atlas.plans import DEFAULT, PLANS, AtlasPlan, profile_of, protocols, undisturbed
from tests.scenarios.runs.building import play


def baseline(protocol: str, plan: AtlasPlan = DEFAULT) -> Baseline:
    return take_baseline(undisturbed(plan, protocol), plan)


@pytest.mark.parametrize("protocol", protocols())
def test_every_gate_that_the_move_visits_has_cells_and_no_other(protocol: str) -> None:
    found = baseline(protocol)
    steps = [event for event in play(found.undisturbed).of(Step) if event.step.startswith(f"{protocol}.")]
    visited: dict[tuple[str, str, int], int] = {}
    expected = []
    for event in steps:
        place = event.step, event.edge, max(0, event.hop)
        visited[place] = visited.get(place, 0) + 1
        expected.append((*place, visited[place]))
    cells = [(cell.step, cell.edge, cell.hop, cell.occurrence) for cell in found.cells]
    assert list(dict.fromkeys(cells)) == expected
    assert len({cell.id for cell in found.cells}) == len(found.cells)


def test_the_wiki_s_default_move_has_all_faults_at_all_gates() -> None:
    found = baseline("wiki")
    assert len({(cell.step, cell.edge) for cell in found.cells}) == 24
    at_one = [cell for cell in found.cells if (cell.step, cell.edge) == ("wiki.3", "before")]
    assert [(cell.actor, cell.fault) for cell in at_one] == [(a, f) for a in ACTORS for f in FAULTS]
    assert {cell.actor: cell.broker for cell in at_one} == {
        "controller": 6,
        "leader": 0,
        "kept": 1,
        "adding": 3,
        "removing": 2,
    }


def test_a_hop_of_kafka_6794_breaks_the_replica_that_it_adds() -> None:
    adding = {
        cell.hop: cell.broker
        for cell in baseline("kafka-6794").cells
        if (cell.step, cell.edge, cell.actor) == ("kafka-6794.9", "before", "adding")
    }
    assert adding == {1: 3, 2: 4, 3: 3}, "in the last hop both are in sync"


@pytest.mark.parametrize("plan", PLANS, ids=lambda plan: plan.id)
def test_no_broker_plays_two_parts_at_one_gate(plan: AtlasPlan) -> None:
    parts: dict[str, dict[str, int]] = {}
    for cell in baseline("wiki", plan).cells:
        parts.setdefault(cell.gate, {})[cell.actor] = cell.broker
    assert all(len(set(brokers.values())) == len(brokers) for brokers in parts.values())


def test_a_role_that_no_broker_has_gives_no_cell() -> None:
    visit = GateVisit("wiki.1", "before", 0, 1, controller=6, leader=0, isr=(0, 1, 2))
    reorder, elsewhere = AtlasPlan((0, 1, 2), (2, 1, 0)), AtlasPlan((0, 1, 2), (3, 4, 5))
    assert (broker_of("adding", reorder, visit), broker_of("removing", reorder, visit)) == (None, None)
    assert (broker_of("kept", elsewhere, visit), broker_of("removing", elsewhere, visit)) == (None, 1)


def test_a_leader_that_is_the_controller_is_broken_once() -> None:
    plan = PLANS[-1]
    assert plan.controller_leads
    visit = GateVisit("wiki.1", "before", 0, 1, controller=0, leader=0, isr=(0, 1, 2))
    assert (broker_of("controller", plan, visit), broker_of("leader", plan, visit)) == (0, None)


def test_a_cell_is_a_scenario_file() -> None:
    found = baseline("kafka-6794")
    for cell in found.cells[::97]:
        scenario = cell.scenario(found.undisturbed)
        assert Scenario.loads(scenario.to_toml()).digest() == scenario.digest()
        assert cell.id in scenario.description


def test_a_protocol_runs_under_the_release_that_it_belongs_to() -> None:
    assert profile_of("wiki") == "kafka-2.3"
    assert profile_of("kafka-6794") == "kafka-2.3", "never released"


def test_names_say_hop_and_visit() -> None:
    names = {cell.gate for cell in baseline("kafka-6794").cells}
    assert {"hop1.1.before", "hop3.12.after"} <= names
    assert "hop1.12.before" not in names, "the entry is removed in the last hop only"
