"""M7 and M8: what a controller refuses, and when a broker that shuts down may leave."""

from __future__ import annotations

import pytest

from emulator.protocol import events as e
from emulator.protocol.shown import MistakeAnswered
from emulator.protocol.znodes import (
    BROKER_IDS,
    CONTROLLER,
    PREFERRED_REPLICA_ELECTION,
    encode_controller,
    encode_preferred_election,
)
from emulator.trace.events import Step, ZkSession, ZkWritten
from emulator.zookeeper import ZOOKEEPER
from scenarios.observe.checkers.leaves_in_order import LeavesInOrder
from scenarios.observe.checkers.refusals_have_reasons import RefusalsHaveReasons
from tests.scenarios.observe.checkers.test_led_in_time import Cluster
from tests.scenarios.observe.checkers.written_history import ORDERS_0, WrittenHistory

SECOND = 1_000_000


def living(since_s: int) -> WrittenHistory:
    """Brokers 0 to 2, of which 2 is the controller; it is so many seconds later."""
    run = WrittenHistory(RefusalsHaveReasons.name)
    for broker in range(3):
        run.emit(e.NodeStarted, broker, 1)
        run.emit(ZkSession, broker, broker + 1, "created")
        run.emit(ZkWritten, broker, "create", f"{BROKER_IDS}/{broker}", 0, 0, "")
        run.emit(e.BrokerRegistered, broker, broker + 1)
    run.emit(ZkWritten, 2, "create", CONTROLLER, 0, 0, encode_controller(2, 0))
    run.emit(e.ControllerElected, 2, 1)
    run.world.now += since_s * SECOND
    return run


@pytest.mark.parametrize(
    ("since_s", "error", "violations"),
    [(6, "UNKNOWN_SERVER_ERROR", 1), (6, "BROKER_NOT_AVAILABLE", 1), (4, "UNKNOWN_SERVER_ERROR", 0), (6, "NONE", 0)],
)
def test_a_broker_that_is_known_is_not_refused_as_unknown(since_s: int, error: str, violations: int) -> None:
    run = living(since_s)
    run.emit(e.ControlledShutdownAnswered, 0, 2, 1, error, -1)
    assert len(run.violations()) == violations


@pytest.mark.parametrize(
    ("target", "leaves", "violations"), [((0, 1), (), 1), ((0, 7), (), 0), ((0, 1), (1,), 0), ((0, 1), (2,), 1)]
)
def test_a_move_to_brokers_that_live_is_not_refused_as_invalid(
    target: tuple[int, ...], leaves: tuple[int, ...], violations: int
) -> None:
    """kafka-2.8, seed 39: a broker that shuts down, which takes 10 s for want of other leaders, is no live one."""
    run = living(6)
    for broker in leaves:
        run.emit(e.Fault, "broker.controlled_shutdown", str(broker), "")
    run.emit(e.MoveStarted, *ORDERS_0, target)
    run.emit(e.MoveAnswered, *ORDERS_0, "INVALID_REPLICA_ASSIGNMENT")
    assert len(run.violations()) == violations


@pytest.mark.parametrize(("had", "violations"), [((0, 7), 1), ((0, 1), 0)])
def test_of_a_move_what_stays_may_be_dead(had: tuple[int, ...], violations: int) -> None:
    run = living(6)
    run.assigned(had)
    run.emit(e.MoveStarted, *ORDERS_0, (1, 7))
    run.emit(e.MoveAnswered, *ORDERS_0, "INVALID_REPLICA_ASSIGNMENT")
    assert len(run.violations()) == violations


@pytest.mark.parametrize(("error", "violations"), [("INVALID_REPLICA_ASSIGNMENT", 0), ("NONE", 1)])
def test_a_move_that_no_partition_can_make_is_refused(error: str, violations: int) -> None:
    run = living(6)
    run.show(MistakeAnswered, -1, *ORDERS_0, (0, 0), error)
    assert len(run.violations()) == violations


@pytest.mark.parametrize(
    ("why", "violations"),
    [
        ("", 1), ("elected", 0), ("not in the ISR", 0), ("left the ISR", 0), ("leads", 0), ("moved", 0), ("dead", 0),
        ("shuts down", 0), ("back since", 0), ("another controller", 0), ("deleted by another", 0),
        ("another epoch", 0),
    ],
)  # fmt: skip
def test_a_preferred_replica_that_can_lead_is_elected_where_that_is_asked_for(why: str, violations: int) -> None:
    run = living(0)
    run.assigned((1, 0))
    run.state(1 if why == "leads" else 0, (0,) if why == "not in the ISR" else (0, 1), 3)
    if why == "shuts down":
        run.emit(e.Fault, "broker.controlled_shutdown", "1", "")
    run.emit(ZkWritten, -5, "create", PREFERRED_REPLICA_ELECTION, 0, 0, encode_preferred_election([ORDERS_0]))
    if why == "elected":
        run.state(1, (0, 1), 4)
    elif why == "left the ISR":
        run.state(0, (0,), 3)
    elif why == "moved":
        run.assigned((0, 1))
    elif why in ("dead", "back since"):
        run.emit(ZkWritten, -1, "delete", f"{BROKER_IDS}/1", 0, 0, "")
    elif why == "another controller":
        run.emit(ZkWritten, 2, "create", CONTROLLER, 0, 0, encode_controller(2, 0))
    elif why == "another epoch":  # kafka-1.1, seed 13030: the controller of /controller is not that of the last epoch
        run.emit(e.ControllerElected, 1, 2)
    if why == "back since":
        run.emit(ZkWritten, 1, "create", f"{BROKER_IDS}/1", 0, 0, "")
    run.emit(ZkWritten, -5 if why == "deleted by another" else 2, "delete", PREFERRED_REPLICA_ELECTION, 0, 0, "")
    expected = "orders-0: controller 2 takes the election of preferred replica 1 for done, and leader 0 stays"
    assert [violation.state for violation in run.violations()] == [expected] * violations


@pytest.mark.parametrize(
    ("steps", "violations"),
    [
        ((("failover.F3", "before"),), 0),
        ((("failover.F3", "before"), ("failover.F9", "before")), 0),
        ((("failover.F3", "before"), ("failover.F9", "after")), 1),
        ((), 1),
    ],
)
@pytest.mark.parametrize("comes_back", [True, False])
def test_a_controller_that_takes_over_knows_the_brokers_that_it_has_loaded(
    steps: tuple[tuple[str, str], ...], violations: int, comes_back: bool
) -> None:
    """kafka-2.3, seed 44191: the preferred replica is registered again while a failover is under way, at the end of
    which the controller reads what was asked for meanwhile."""
    run = living(0)
    run.assigned((1, 0))
    run.state(0, (0, 1), 3)
    for step, edge in steps[:1]:
        run.emit(Step, step, edge, "", -1, -1, 1, 2, "")
    if comes_back:
        run.emit(ZkWritten, -1, "delete", f"{BROKER_IDS}/1", 0, 0, "")
        run.emit(ZkWritten, 1, "create", f"{BROKER_IDS}/1", 0, 0, "")
    for step, edge in steps[1:]:
        run.emit(Step, step, edge, "", -1, -1, 1, 2, "")
    run.emit(ZkWritten, -5, "create", PREFERRED_REPLICA_ELECTION, 0, 0, encode_preferred_election([ORDERS_0]))
    run.emit(ZkWritten, 2, "delete", PREFERRED_REPLICA_ELECTION, 0, 0, "")
    assert len(run.violations()) == (violations if comes_back else 1)


@pytest.mark.parametrize("data", ["", "{}", "[]"])
def test_a_request_for_elections_that_cannot_be_read(data: str) -> None:
    run = living(6)
    run.emit(ZkWritten, -5, "create", PREFERRED_REPLICA_ELECTION, 0, 0, data)
    run.emit(ZkWritten, 2, "delete", PREFERRED_REPLICA_ELECTION, 0, 0, "")
    assert run.violations() == []


@pytest.mark.parametrize(
    ("answer", "after_s", "violations"),
    [(None, 1, 1), (("NONE", 0), 1, 0), (("NONE", 2), 1, 1), (("NOT_CONTROLLER", -1), 1, 1), (None, 15, 0)],
)
def test_a_broker_leaves_when_it_is_let_or_all_attempts_are_over(
    answer: tuple[str, int] | None, after_s: int, violations: int
) -> None:
    run = WrittenHistory(LeavesInOrder.name)
    run.emit(ZkSession, 0, 1, "created")
    run.emit(e.Fault, "broker.controlled_shutdown", "0", "")
    if answer is not None:
        run.emit(e.ControlledShutdownAnswered, 0, 2, 1, *answer)
    run.world.now += after_s * SECOND
    shown = run.emit(e.NodeCrashed, 0, 1, "stop")
    assert [violation.seq for violation in run.violations()] == [shown.seq] * violations


@pytest.mark.parametrize("ends", [("crash",), ("expired", "stop"), ("broker.stop", "stop")])
def test_a_broker_that_something_else_ends_does_not_leave(ends: tuple[str, ...]) -> None:
    run = WrittenHistory(LeavesInOrder.name)
    run.emit(ZkSession, 0, 1, "created")
    run.emit(e.Fault, "broker.controlled_shutdown", "0", "")
    for end in ends:
        if end == "expired":
            run.emit(ZkSession, 0, 1, end)
        elif end == "broker.stop":
            run.emit(e.Fault, end, "0", "")
        else:
            run.emit(e.NodeCrashed, 0, 1, "process" if end == "crash" else end)
    assert run.violations() == []


def test_a_broker_whose_session_had_expired_before_may_leave() -> None:
    run = WrittenHistory(LeavesInOrder.name)
    run.emit(ZkSession, 0, 1, "created")
    run.emit(ZkSession, 0, 1, "expired")
    run.emit(e.Fault, "broker.controlled_shutdown", "0", "")
    run.emit(e.NodeCrashed, 0, 1, "stop")
    assert run.violations() == []


def test_one_that_is_asked_once_more_goes_on_as_before() -> None:
    """Its session had expired when it was asked first."""
    run = WrittenHistory(LeavesInOrder.name)
    run.emit(e.Fault, "broker.controlled_shutdown", "0", "")
    run.emit(ZkSession, 0, 1, "created")
    run.emit(e.Fault, "broker.controlled_shutdown", "0", "")
    run.emit(e.NodeCrashed, 0, 1, "stop")
    assert run.violations() == []


@pytest.mark.parametrize(("ends", "cut", "count"), [("expired", False, 1), ("closed", False, 0), ("expired", True, 0)])
def test_a_broker_that_ends_by_itself_closes_its_session(ends: str, cut: bool, count: int) -> None:
    run = WrittenHistory(LeavesInOrder.name)
    run.emit(e.NodeStarted, 0, 1)
    run.emit(ZkSession, 0, 1, "created")
    if cut:
        run.emit(e.RoutesChanged, True, (0,), (ZOOKEEPER,))
    run.emit(e.Fault, "broker.stop", "0", "")
    run.emit(e.NodeCrashed, 0, 1, "stop")
    run.emit(ZkSession, 0, 1, ends)
    assert len(run.violations()) == count


def test_a_broker_that_may_leave_does_not_ask_again() -> None:
    run = WrittenHistory(LeavesInOrder.name)
    run.emit(ZkSession, 0, 1, "created")
    run.emit(e.Fault, "broker.controlled_shutdown", "0", "")
    run.emit(e.ControlledShutdownAnswered, 0, 2, 1, "NONE", 1)
    run.emit(e.ControlledShutdownAnswered, 0, 2, 2, "NONE", 0)
    run.emit(e.ControlledShutdownAnswered, 0, 2, 3, "NONE", 0)
    [violation] = run.violations()
    assert violation.state == "broker 0 asks the controller again, which has answered that it may leave"


@pytest.mark.parametrize(
    ("isr", "wait_s", "error", "remaining", "count"),
    [
        ((0, 1), 3, "NONE", 1, 1), ((0, 1), 1, "NONE", 1, 0), ((0,), 3, "NONE", 1, 0), ((0, 1), 3, "NONE", 0, 0),
        ((0, 1), 3, "UNKNOWN_SERVER_ERROR", 1, 0),
    ],
)  # fmt: skip
def test_nothing_is_left_to_move_that_another_can_lead(
    isr: tuple[int, ...], wait_s: int, error: str, remaining: int, count: int
) -> None:
    run = Cluster(LeavesInOrder.name)
    run.assigned((0, 1))
    run.emit(ZkSession, 0, 1, "created")
    run.emit(e.Fault, "broker.controlled_shutdown", "0", "")
    run.passes(10)
    run.state(0, isr, 1)
    run.passes(wait_s)
    run.emit(e.ControlledShutdownAnswered, 0, 3, 1, error, remaining)
    assert len(run.violations()) == count
