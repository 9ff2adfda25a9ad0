"""M4, M13, X9, X11, G11: histories in which an answer changes nothing or comes too early, an id stays, a producer is
fenced without a reason, or a generation comes again."""

from __future__ import annotations

import pytest

from controller.states import ReplicaState
from emulator.protocol import events as e
from emulator.protocol import shown_coordination as shown
from emulator.protocol.control_requests import ControlDelivered, ReplicasChanged, TopicsAnswered
from emulator.protocol.stop_replica import StopReplicaRequest
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import broker_path
from emulator.trace.events import Step, ZkWritten
from scenarios.observe.checkers.answers_taken import AnswersTaken
from scenarios.observe.history.settings_history import StartSettings
from tests.scenarios.observe.checkers.test_coordinators import ANNE, GROUP, HOME, WRITER, Coordinated, looks, works
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


@pytest.mark.parametrize(
    ("answer", "after", "state"),
    [
        ("NONE", "DELETION_SUCCESSFUL", ""), ("KAFKA_STORAGE_ERROR", "DELETION_INELIGIBLE", ""),
        ("STALE_BROKER_EPOCH", "DELETION_INELIGIBLE", ""), ("", "DELETION_INELIGIBLE", ""),
        ("", "DELETION_SUCCESSFUL", "deleted; that has answered nothing"),
        ("KAFKA_STORAGE_ERROR", "DELETION_SUCCESSFUL", "deleted; that has answered KAFKA_STORAGE_ERROR"),
        ("STALE_BROKER_EPOCH", "DELETION_SUCCESSFUL", "deleted; that has answered STALE_BROKER_EPOCH"),
        ("NONE", "DELETION_INELIGIBLE", "not to be deleted now; that has answered NONE"),
    ],
)  # fmt: skip
def test_a_replica_counts_as_what_its_broker_has_answered(answer: str, after: str, state: str) -> None:
    """Of two partitions the other one has no error."""
    run, orders_1 = works(AnswersTaken.name), TopicPartition("orders", 1)
    run.emit(ZkWritten, 1, "create", broker_path(1), 0, 0, "")
    run.emit(Step, "delete.start", "before", "orders", -1, -1, 0, 0, "")
    run.show(ReplicasChanged, 0, 1, (orders_1, ORDERS_0), STATES * 2, ReplicaState.DELETION_STARTED)
    run.emit(Step, "delete.start", "after", "orders", -1, -1, 0, 0, "")
    if answer:
        names = "StopReplica", 0, 1, 1, -1, 2, "orders-1, orders-0 (delete)"
        asked = run.emit(e.ControlRequest, *names)
        refused = (("orders-0",), (answer,)) if answer == "KAFKA_STORAGE_ERROR" else ((), ())
        whole = "NONE" if answer == "KAFKA_STORAGE_ERROR" else answer
        run.trace.cause = asked.seq
        run.emit(e.ControlResponse, "StopReplica", 1, 0, 1, whole, *refused)
        run.show(ControlDelivered, 0, 1, StopReplicaRequest(0, 1, 1, True, (orders_1, ORDERS_0)))
    run.show(ReplicasChanged, 0, 1, (ORDERS_0,), (ReplicaState.DELETION_STARTED,), ReplicaState[after])
    if answer == "KAFKA_STORAGE_ERROR":
        before = (ReplicaState.DELETION_STARTED,)
        run.show(ReplicasChanged, 0, 1, (orders_1,), before, ReplicaState.DELETION_SUCCESSFUL)
    expected = f"orders-0: controller 0 takes the replica on broker 1 for {state}"
    assert run.found() == ([expected] if state else [])


@pytest.mark.parametrize("answered", [True, False])
def test_an_answer_counts_for_the_deletion_that_begins_again(answered: bool) -> None:
    run = works(AnswersTaken.name)
    begins = (ORDERS_0,), STATES, ReplicaState.DELETION_STARTED
    run.emit(Step, "delete.start", "before", "orders", -1, -1, 0, 0, "")
    run.show(ReplicasChanged, 0, 1, *begins)
    if answered:
        run.show(ControlDelivered, 0, 1, StopReplicaRequest(0, 1, 1, True, (ORDERS_0,)))
    run.show(ReplicasChanged, 0, 1, (ORDERS_0,), STATES, ReplicaState.DELETION_INELIGIBLE)
    run.show(ReplicasChanged, 0, 1, *begins)
    run.show(ReplicasChanged, 0, 1, (ORDERS_0,), STATES, ReplicaState.DELETION_SUCCESSFUL)
    assert (run.found() == []) is answered


def test_a_move_does_not_wait_for_answers() -> None:
    run = works(AnswersTaken.name)
    for state in (ReplicaState.DELETION_STARTED, ReplicaState.DELETION_SUCCESSFUL):
        run.show(ReplicasChanged, 0, 1, (ORDERS_0,), STATES, state)
    assert run.found() == []


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


@pytest.mark.parametrize(
    ("asked", "numbers", "known", "count"),
    [("create", (0, 1), (0, 1), 0), ("create", (0, 1), (0,), 1), ("delete", (), (), 0), ("delete", (), (1,), 1)],
)
def test_topics_are_there_or_gone_as_a_controller_says_so(
    asked: str, numbers: tuple[int, ...], known: tuple[int, ...], count: int
) -> None:
    run = Coordinated("topic_answers_true")
    run.show(TopicsAnswered, 0, asked, {"orders": numbers}, {"orders": known})
    assert len(run.found()) == count


def asks_again(happens: str = "", epoch: int = 0, node: int = 0) -> list[str]:
    """The producer 7 raises its epoch from 0 to 1, says then that it has ``epoch``, and is fenced by ``node``."""
    run = Coordinated("fences_have_reasons")
    run.transaction("Empty")
    run.transaction("Empty", producer_epoch=1)
    run.show(shown.ProducerInitialized, 0, WRITER, 7, 0, 7, 1, "NONE")
    if happens == "another":
        run.transaction("Empty", producer_epoch=2)
    elif happens == "ongoing":
        run.transaction("Ongoing", 0, producer_epoch=1)
        run.show(shown.ProducerInitialized, 0, WRITER, -1, -1, -1, -1, "CONCURRENT_TRANSACTIONS")
    elif happens == "late":
        run.show(shown.TransactionLate, 0, WRITER, HOME)
    run.show(shown.ProducerInitialized, node, WRITER, 7, epoch, -1, -1, "PRODUCER_FENCED")
    return run.found()


def test_a_producer_that_asks_again_is_not_fenced() -> None:
    [found] = asks_again()
    assert found == (
        "coordinator 0 fences producer 7 of writer, which has epoch 0: epoch 1 was given to this producer itself"
    )
    assert asks_again(epoch=1) == []


@pytest.mark.parametrize("happens", ["another", "ongoing", "late"])
def test_a_producer_that_another_one_or_its_coordinator_has_fenced(happens: str) -> None:
    assert asks_again(happens) == []


def test_the_next_coordinator_does_not_know_which_epoch_came_before() -> None:
    assert asks_again(node=1) == []
