"""M12: a controller elects the first replica that may lead, and leaves the ISR as it is."""

from __future__ import annotations

import pytest

from emulator.protocol import events as e
from emulator.protocol.assignments import ReassigningReplicas
from emulator.protocol.shown import LeadersLookedAt, Remembered
from emulator.protocol.znodes import LeaderAndIsr, delete_topic_path, encode_topic, state_path, topic_path
from emulator.trace.events import Step, ZkWritten
from scenarios.observe.history.settings_history import StartSettings
from tests.scenarios.observe.checkers.test_led_in_time import Cluster
from tests.scenarios.observe.checkers.written_history import ORDERS_0

NEVER_LOOKS = StartSettings({"auto.leader.rebalance.enable": False})


def cluster(start: StartSettings | None = NEVER_LOOKS) -> Cluster:
    run = Cluster("elects_in_order", start=start)
    run.assigned((0, 1, 2), 3)
    run.passes(10)
    return run


def elects(
    run: Cluster, leader: int, isr: tuple[int, ...], selector: str = "offline", *, unclean: bool = False
) -> None:
    run.state(leader, isr, 1)
    run.emit(e.LeaderElected, *ORDERS_0, leader, 1, isr, selector, 1, unclean)


def test_the_first_that_lives_and_is_in_sync() -> None:
    run = cluster()
    run.dies(0)
    elects(run, 1, (1, 2))
    assert run.violations() == []


@pytest.mark.parametrize(
    ("leader", "again", "known", "count"), [(1, False, 0, 0), (0, False, 0, 1), (0, True, 0, 0), (0, False, -1, 0)]
)
def test_a_preferred_replica_that_leads_is_not_elected(leader: int, again: bool, known: int, count: int) -> None:
    """wiki-text, seed 5009: an answer of ZooKeeper is lost, and the controller is beaten by its own write."""
    run = cluster(StartSettings(elects_preferred_again=again))
    run.state(leader, (0, 1, 2), 0)
    run.emit(e.LeaderElected, *ORDERS_0, leader, known, (0, 1, 2), "new", 1, False)
    elects(run, 0, (0, 1, 2), "preferred")
    found = [violation.state for violation in run.violations() if "led already" in violation.state]
    assert found == ["orders-0, epoch 1: broker 0 is elected as the preferred one, and led already"] * count


def test_one_that_is_passed_over() -> None:
    run = cluster()
    run.dies(0)
    elects(run, 2, (1, 2))
    [violation] = run.violations()
    assert violation.state == (
        "orders-0, epoch 1: broker 2 is elected (offline), though broker 1 comes first in the assignment [0, 1, 2], "
        "lives, and was in the ISR [0, 1, 2]"
    )


def test_one_that_lives_and_leaves_the_isr() -> None:
    run = cluster()
    run.dies(0)
    elects(run, 1, (1,))
    [violation] = run.violations()
    assert violation.state == (
        "orders-0, epoch 1: an election (offline) makes the ISR [1] of [0, 1, 2], and broker 2 lives"
    )


@pytest.mark.parametrize(("then", "count"), [("", 0), ("registers", 2), ("another controller", 2)])
def test_one_that_crashes_as_it_shuts_down_leaves_the_isr(then: str, count: int) -> None:
    """kafka-1.1, seed 28051: its controller takes it for shutting down until it is back."""
    run = cluster()
    run.fault("broker.controlled_shutdown", "0")
    run.emit(Step, "shutdown.1", "before", "", -1, 0, 0, 3, "")
    run.emit(e.NodeCrashed, 0, 0, "process")
    if then == "registers":
        run.registers(0)
    elif then:
        run.emit(e.ControllerElected, 3, 2)
    run.passes(10)
    elects(run, 1, (1, 2), "controlled-shutdown")
    assert len(run.violations()) == count


def test_one_that_shuts_down_leaves_the_isr() -> None:
    run = cluster()
    run.fault("broker.controlled_shutdown", "0")
    elects(run, 1, (1, 2), "controlled-shutdown")
    assert run.violations() == []


@pytest.mark.parametrize(
    ("start", "selector", "unclean"),
    [
        (StartSettings(elects_by_assignment=False), "offline", False),
        (None, "reassigned", False),
        (None, "offline", True),
    ],
)
def test_where_another_order_is_taken(start: StartSettings | None, selector: str, unclean: bool) -> None:
    run = cluster(start)
    run.dies(0)
    elects(run, 2, (1, 2), selector, unclean=unclean)
    assert run.violations() == []


def test_one_that_has_just_registered_may_be_unknown() -> None:
    run = cluster()
    run.dies(0)
    run.dies(1)
    run.emit(e.NodeStarted, 1, 1)
    run.registers(1)
    elects(run, 2, (1, 2))
    assert run.violations() == []


@pytest.mark.parametrize(
    ("leader", "isr", "percentage", "seconds", "count"),
    [(1, (0, 1, 2), 10, 6, 1), (1, (0, 1, 2), 10, 3, 0), (1, (1, 2), 10, 6, 0), (1, (0, 1, 2), 100, 6, 0),
     (0, (0, 1, 2), 10, 6, 0)],
)  # fmt: skip
def test_leaders_that_are_given_back(
    leader: int, isr: tuple[int, ...], percentage: int, seconds: int, count: int
) -> None:
    run = cluster()
    run.state(leader, isr, 1)
    run.passes(seconds)
    run.show(LeadersLookedAt, 3, percentage)
    found = [violation.state for violation in run.violations()]
    assert len(found) == count
    assert all("broker 0 comes first in the assignment, lives and is in the ISR" in state for state in found)


@pytest.mark.parametrize(
    ("more", "count"),
    [({}, 1), ({"brokers": {1: 0}}, 0), ({"shutting_down": (0,)}, 0), ({"offline_dirs": {0: (ORDERS_0,)}}, 0),
     ({"moves": {ORDERS_0: (1,)}}, 0), ({"deletions": ("orders",)}, 0), ({"leaders": {}}, 0),
     ({"assignments": {"orders": {0: (0, 1, 2)}, "none": {0: ()}}}, 0)],
)  # fmt: skip
def test_what_a_controller_knows_as_it_has_looked_needs_no_time(more: dict[str, object], count: int) -> None:
    run = cluster()
    memories = {
        "brokers": {0: 0, 1: 0, 2: 0}, "shutting_down": (), "offline_dirs": {}, "moves": {}, "deletions": (),
        "assignments": {"orders": {0: (0, 1, 2)}}, "leaders": {ORDERS_0: LeaderAndIsr(1, 0, (0, 1), 1)},
    }  # fmt: skip
    run.dies(0)
    run.show(LeadersLookedAt, 3, 10)
    run.show(Remembered, 3, "controller", "looked", memories | more)
    assert len(run.violations()) == count


@pytest.mark.parametrize(("moved", "count"), [(True, 0), (False, 1)])
def test_while_a_topic_that_is_to_be_deleted_is_moved_no_leader_is_given_back(moved: bool, count: int) -> None:
    """kafka-2.5, seed 21007: KafkaController.partitionsBeingReassigned has its moves, too."""
    run = cluster()
    run.state(1, (0, 1, 2), 1)
    moves = {0: ReassigningReplicas((1,))} if moved else {}
    run.emit(ZkWritten, -2, "create", topic_path("gone"), 0, 0, encode_topic({0: (1, 2)}, moves))
    run.emit(ZkWritten, -2, "create", delete_topic_path("gone"), 0, 0, "")
    run.passes(6)
    run.show(LeadersLookedAt, 3, 10)
    assert len(run.violations()) == count


@pytest.mark.parametrize(("by", "seconds", "count"), [(1, 6, 0), (1, 11, 1), (3, 6, 1)])
def test_an_isr_that_the_leader_has_written_is_known_once_that_is_announced(by: int, seconds: int, count: int) -> None:
    """kafka-2.6, seed 3065: other ISRs of the leader change meanwhile (ReplicaManager.maybePropagateIsrChanges)."""
    run = cluster()
    run.emit(ZkWritten, by, "setData", state_path(ORDERS_0), 9, 0, run.encoded(1, (0, 1, 2), 1, 1))
    run.passes(seconds)
    run.show(LeadersLookedAt, 3, 10)
    assert len(run.violations()) == count


@pytest.mark.parametrize(
    ("looks", "seconds", "happens", "count"),
    [
        ([], 14, "", 0),
        ([], 17, "", 1),
        ([], 17, "resigns", 0),
        ([], 17, "paused", 0),
        ([], 40, "held", 0),
        ([12], 40, "", 1),
        ([12], 25, "", 0),
        ([12, 30], 40, "", 0),
    ],
)
def test_a_controller_looks_again_and_again(looks: list[int], seconds: int, happens: str, count: int) -> None:
    """5 s after its election, and then each 10 s; 10 s late at most."""
    run = cluster(StartSettings({"leader.imbalance.check.interval.seconds": 10}))
    run.emit(e.ControllerElected, 3, 2)
    if happens == "resigns":
        run.emit(e.ControllerResigned, 3, 2)
    for second in range(1, seconds + 1):
        run.passes(1)
        if happens != "held":
            run.emit(Step, "broker-startup.1", "after", "", -1, 1, 0, 3, "")
        if second in looks:
            run.show(LeadersLookedAt, 3, 100)
        if second == 10 and happens == "paused":
            run.fault("broker.pause", "1")
            run.fault("broker.resume", "1")
    assert len(run.violations()) == count
