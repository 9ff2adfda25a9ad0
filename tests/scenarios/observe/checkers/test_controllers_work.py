"""M1, M2, M3, R3, R8, E2: what a controller may do, and what a refused request of it must not do."""

from __future__ import annotations

from itertools import pairwise

import pytest
from attrs import evolve

from emulator.protocol import events as e
from emulator.protocol.assignments import ReassigningReplicas
from emulator.protocol.control_requests import ControlQueued, PartitionsChanged, ReplicasChanged
from emulator.protocol.leader_and_isr import LeaderAndIsrPartition, LeaderAndIsrRequest
from emulator.protocol.stop_replica import StopReplicaRequest
from emulator.protocol.znodes import encode_topic, topic_path
from emulator.trace.events import Step, ZkWritten
from scenarios.observe.history.settings_history import StartSettings
from tests.scenarios.observe.checkers.written_history import ORDERS_0, WrittenHistory

NEW, ONLINE, OFFLINE, STARTED, SUCCESSFUL, INELIGIBLE, NON_EXISTENT = range(1, 8)


# -- legal_transitions -------------------------------------------------------------------------------------------------


def test_the_life_of_a_partition_and_of_a_replica() -> None:
    run = WrittenHistory("legal_transitions")
    for before, after in ((3, 0), (0, 1), (1, 1), (1, 2), (2, 1), (1, 2), (2, 3)):
        run.show(PartitionsChanged, 3, (ORDERS_0,), (before,), after)
    life = (NON_EXISTENT, NEW, ONLINE, ONLINE, OFFLINE, INELIGIBLE, OFFLINE, STARTED, SUCCESSFUL, NON_EXISTENT)
    for before, after in pairwise(life):
        run.show(ReplicasChanged, 3, 1, (ORDERS_0,), (before,), after)
    run.show(ReplicasChanged, 3, 1, (ORDERS_0,), (OFFLINE,), NON_EXISTENT)  # the controller page
    assert run.violations() == []


def test_states_that_do_not_follow_each_other() -> None:
    run = WrittenHistory("legal_transitions")
    run.show(PartitionsChanged, 3, (ORDERS_0,), (3,), 1)
    run.show(ReplicasChanged, 3, 1, (ORDERS_0, ORDERS_0), (NEW, NON_EXISTENT), ONLINE)
    assert [violation.state for violation in run.violations()] == [
        "orders-0: from NonExistent to Online on controller 3",
        "orders-0, broker 1: from NonExistent to Online on controller 3",
    ]


@pytest.mark.parametrize("after", [None, STARTED, NON_EXISTENT, OFFLINE])
def test_a_replica_is_deleted_in_the_state_of_one_that_is(after: int | None) -> None:
    run = WrittenHistory("legal_transitions")
    if after is not None:
        run.show(ReplicasChanged, 3, 1, (ORDERS_0,), (OFFLINE,), STARTED)
        run.show(ReplicasChanged, 3, 1, (ORDERS_0,), (INELIGIBLE if after == OFFLINE else OFFLINE,), after)
    run.show(ControlQueued, 3, 1, StopReplicaRequest(3, 1, 1, False, (ORDERS_0,)))
    run.show(ControlQueued, 3, 1, StopReplicaRequest(3, 1, 1, True, (ORDERS_0,)))
    expected = "orders-0, broker 1: controller 3 has it deleted, and it is not in DeletionStarted"
    states = [violation.state for violation in run.violations()]
    assert states == ([] if after in (STARTED, NON_EXISTENT) else [expected])


@pytest.mark.parametrize(("partition", "hop", "node"), [(0, 1, 3), (1, 1, 3), (0, 2, 3), (0, 1, 2)])
def test_a_step_ends_where_it_was_begun(partition: int, hop: int, node: int) -> None:
    run = WrittenHistory("legal_transitions")
    for edge in ("before", "after", "before"):
        run.emit(Step, "kafka-6794.3", edge, "orders", 0, -1, 1, 3, "")
    run.emit(Step, "kafka-6794.3", "after", "orders", partition, -1, hop, node, "")
    expected = f"orders-{partition}: kafka-6794.3 ends on controller {node}, which has not begun it"
    begun = (partition, hop, node) == (0, 1, 3)
    assert [violation.state for violation in run.violations()] == ([] if begun else [expected])


# -- controller_adds_none ----------------------------------------------------------------------------------------------


def test_an_isr_that_grows_with_the_epoch() -> None:
    run = WrittenHistory("controller_adds_none")
    run.state(0, (0, 1), 0)
    run.state(1, (1, 2), 1)
    [violation] = run.violations()
    assert violation.state == "orders-0: ISR [1, 2] under leader 1 of epoch 1, after [0, 1] in epoch 0"


def test_isrs_that_shrink_and_those_that_leaders_expand() -> None:
    run = WrittenHistory("controller_adds_none")
    run.state(0, (0, 1), 0)
    run.state(0, (0, 1, 2), 0)
    run.state(1, (1, 2), 1)
    run.state(-1, (1,), 2)
    run.state(3, (3,), 3)
    assert run.violations() == []


# -- new_replicas_marked -----------------------------------------------------------------------------------------------

FIRST = LeaderAndIsrPartition(ORDERS_0, 1, 0, 1, (0, 1), 0, (0, 1, 2), True, adding=(2,))


def moving(**start: bool) -> WrittenHistory:
    run = WrittenHistory("new_replicas_marked", start=StartSettings(**start))  # type: ignore[arg-type]
    run.assigned((0, 1))
    run.state(0, (0, 1), 0)
    run.assigned((0, 1, 2))
    return run


def announced(run: WrittenHistory, state: LeaderAndIsrPartition) -> None:
    run.show(ControlQueued, 3, 2, LeaderAndIsrRequest(3, 1, 1, (state,), (0,)))


@pytest.mark.parametrize("wrong", [evolve(FIRST, is_new=False), evolve(FIRST, leader=2)])
def test_a_replica_that_is_announced_as_an_old_one_or_as_the_leader(wrong: LeaderAndIsrPartition) -> None:
    """KAFKA-10314."""
    run = moving()
    announced(run, wrong)
    run.world.now += 6_000_000
    run.checkers.look(run.world.now)
    assert run.invariants() == ["new_replicas_marked"]


@pytest.mark.parametrize(("had_a_leader", "found"), [(False, []), (True, ["new_replicas_marked"])])
def test_a_replica_that_is_the_first_leader_of_its_partition(had_a_leader: bool, found: list[str]) -> None:
    """A partition that waits for its first leader is moved: whichever replica is alive then leads, old or new."""
    run = WrittenHistory("new_replicas_marked")
    run.assigned((0, 1))
    if had_a_leader:
        run.state(0, (0, 1), 0)
    run.assigned((2, 0, 1))
    announced(run, evolve(FIRST, leader=2))
    assert run.invariants() == found


@pytest.mark.parametrize(("isr", "found"), [((2,), []), ((1,), ["new_replicas_marked"])])
def test_a_move_to_the_replica_that_is_left_in_the_isr(isr: tuple[int, ...], found: list[str]) -> None:
    """kafka-2.7, seed 3032: a changed move had dropped the only member of the ISR. Its return is done at once."""
    run = WrittenHistory("new_replicas_marked")
    run.assigned((0, 1))
    run.state(-1, isr, 1)
    lists = {0: ReassigningReplicas((2,), (0, 1))}
    run.emit(ZkWritten, 0, "setData", topic_path("orders"), 0, 0, encode_topic({0: (2, 0, 1)}, lists))
    announced(run, evolve(FIRST, leader=2, leader_epoch=2))
    assert run.invariants() == found


def test_replicas_that_are_announced_as_new_and_later_requests() -> None:
    run = moving()
    announced(run, evolve(FIRST, is_new=False, leader_epoch=0))  # the ISR has shrunk, since another replica is stopped
    announced(run, FIRST)
    announced(run, evolve(FIRST, is_new=False))
    run.world.now += 6_000_000
    run.checkers.look(run.world.now)
    assert run.violations() == []


def test_a_mark_that_comes_with_the_second_request_of_a_leader_epoch() -> None:
    """KAFKA-10314: the broker refuses that one, and has no replica."""
    run = moving()
    announced(run, evolve(FIRST, is_new=False))
    announced(run, FIRST)
    run.world.now += 6_000_000
    run.checkers.look(run.world.now)
    assert run.invariants() == ["new_replicas_marked"]


def test_what_another_controller_announces_and_what_older_releases_do() -> None:
    run = moving(marks_new_replicas=False)
    announced(run, evolve(FIRST, is_new=False))
    again = moving()
    again.emit(e.ControllerElected, 1, 2)
    announced(again, evolve(FIRST, is_new=False))
    for history in (run, again):
        history.world.now += 6_000_000
        history.checkers.look(history.world.now)
    assert run.violations() == again.violations() == []


# -- refused_changes_nothing -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("error", "found"), [("NONE", []), ("STALE_CONTROLLER_EPOCH", ["refused_changes_nothing"])])
def test_a_request_that_is_refused_after_all(error: str, found: list[str]) -> None:
    run = WrittenHistory("refused_changes_nothing")
    run.trace.anchor(e.ControlRequest, "StopReplica", 3, 1, 1, 70, 1, "")
    run.emit(e.ReplicaStopped, 1, *ORDERS_0, True)
    run.emit(e.ControlResponse, "StopReplica", 1, 3, 1, error, (), ())
    assert run.invariants() == found


@pytest.mark.parametrize(
    ("error", "offset", "count"),
    [("FENCED_LEADER_EPOCH", -1, 1), ("FENCED_LEADER_EPOCH", 7, 0), ("KAFKA_STORAGE_ERROR", -1, 0)],
)
def test_a_partition_that_is_refused_after_all(error: str, offset: int, count: int) -> None:
    """What a disk refuses is noticed later."""
    run = WrittenHistory("refused_changes_nothing")
    run.trace.anchor(e.ControlRequest, "StopReplica", 3, 1, 1, 70, 1, "")
    run.emit(e.FetchPosition, 1, *ORDERS_0, 2, 4, offset)
    run.emit(e.ControlResponse, "StopReplica", 1, 3, 1, "NONE", ("orders-0",), (error,))
    found = [violation.state for violation in run.violations()]
    assert len(found) == count
    assert not found or found[0].endswith(f"with {error}, after it had begun to end the fetches of orders-0")


def test_what_another_request_did_before() -> None:
    run = WrittenHistory("refused_changes_nothing")
    run.trace.anchor(e.ControlRequest, "LeaderAndIsr", 3, 1, 1, 70, 1, "")
    run.leads(1, 1)
    run.trace.anchor(e.ControlRequest, "LeaderAndIsr", 3, 1, 1, 70, 1, "")
    run.emit(e.ControlResponse, "LeaderAndIsr", 1, 3, 1, "STALE_CONTROLLER_EPOCH", (), ())
    assert run.violations() == []
