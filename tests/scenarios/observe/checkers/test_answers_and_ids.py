"""M4, X9, G11: histories in which an answer changes nothing, an id stays, or a generation comes again."""

from __future__ import annotations

import pytest

from controller.states import ReplicaState
from emulator.protocol import events as e
from emulator.protocol.control_requests import ControlDelivered, ReplicasChanged
from emulator.protocol.stop_replica import StopReplicaRequest
from scenarios.observe.checkers.answers_taken import AnswersTaken
from scenarios.observe.history.settings_history import StartSettings
from tests.scenarios.observe.checkers.test_coordinators import ANNE, GROUP, HOME, Coordinated, looks, works
from tests.scenarios.observe.checkers.written_history import ORDERS_0

STATES = (ReplicaState.ONLINE,)


def deletes(answered: bool = True, delete: bool = True) -> Coordinated:
    """Controller 0 works, and has the replica on broker 1 deleted."""
    run = works(AnswersTaken.name)
    run.show(ReplicasChanged, 0, 1, (ORDERS_0,), STATES, ReplicaState.DELETION_STARTED)
    if answered:
        run.show(ControlDelivered, 0, 1, StopReplicaRequest(0, 1, 1, delete, (ORDERS_0,)))
    return run


@pytest.mark.parametrize(("answered", "delete", "count"), [(True, True, 1), (False, True, 0), (True, False, 0)])
def test_an_answer_that_is_dropped(answered: bool, delete: bool, count: int) -> None:
    found = looks(deletes(answered, delete), 10)
    assert len(found) == count
    assert all("answered" in state and "controller 0 still waits" in state for state in found)


@pytest.mark.parametrize("happens", ["changed", "resigned", "crashed"])
def test_an_answer_that_is_taken_or_comes_too_late(happens: str) -> None:
    run = deletes()
    if happens == "changed":
        run.show(ReplicasChanged, 0, 1, (ORDERS_0,), STATES, ReplicaState.DELETION_SUCCESSFUL)
    elif happens == "resigned":
        run.emit(e.ControllerResigned, 0, 1)
    else:
        run.emit(e.NodeCrashed, 0, 1, "process")
    assert looks(run, 10) == []


@pytest.mark.parametrize(("state", "seconds", "count"), [("Empty", 40, 1), ("Empty", 30, 0), ("Dead", 40, 0)])
def test_an_id_that_is_not_used_is_removed(state: str, seconds: int, count: int) -> None:
    names = "transactional.id.expiration.ms", "transaction.remove.expired.transaction.cleanup.interval.ms"
    run = works("ids_expire", start=StartSettings(dict(zip(names, (3_000, 1_000), strict=True))))
    run.transaction("Empty")
    run.transaction(state)
    assert len(looks(run, seconds)) == count


@pytest.mark.parametrize(("numbers", "count"), [((1, 2, 3), 0), ((1, 1), 1), ((3, 2), 1)])
def test_each_generation_has_its_number(numbers: tuple[int, ...], count: int) -> None:
    run = Coordinated("generations_grow")
    for number in numbers:
        run.generation(number, ANNE)
    assert len(run.found()) == count


@pytest.mark.parametrize(
    ("state", "happens", "count"), [("Stable", "", 1), ("PreparingRebalance", "", 0), ("Stable", "removed", 0)]
)
def test_the_next_coordinator_goes_on_after_what_was_stable(state: str, happens: str, count: int) -> None:
    run = Coordinated("generations_grow")
    run.generation(5, ANNE)
    run.group_state(state, 5)
    run.emit(e.GroupsUnloaded, 0, HOME.topic, 0, 1, 0)
    if happens:
        run.emit(e.OffsetsRemoved, 1, GROUP, "expired", True, (), ())
    run.emit(e.GroupGeneration, 1, GROUP, 5, "range", ANNE, (ANNE,))
    assert len(run.found()) == count
