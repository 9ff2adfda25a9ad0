"""R1, R4: a move ends once all its replicas are in sync, and one of them leads."""

from typing import Any

import pytest

from emulator.protocol.assignments import ReassigningReplicas, Replicas
from emulator.protocol.znodes import CONTROLLER as CONTROLLER_PATH
from emulator.protocol.znodes import (
    REASSIGN_PARTITIONS,
    broker_path,
    encode_broker,
    encode_controller,
    encode_reassignment,
    encode_topic,
)
from emulator.protocol.znodes import topic_path as path_of
from emulator.trace.events import ZkSession, ZkWritten
from scenarios.observe.checkers.moves_end_in_sync import MovesEndInSync
from tests.scenarios.observe.checkers.written_history import ORDERS_0, WrittenHistory

CONTROLLER, TOOL = 5, -1


def story() -> WrittenHistory:
    """The partition has the replicas 0 and 1, and broker 0 leads. All brokers are registered."""
    run = WrittenHistory(MovesEndInSync.name)
    for broker in (0, 1, 2):
        run.emit(ZkSession, broker, broker + 1, "created", 6_000_000)
        run.emit(ZkWritten, broker, "create", broker_path(broker), 0, broker + 1, encode_broker(broker, 0))
    takes_over(run, CONTROLLER)
    run.assigned((0, 1), by=CONTROLLER)
    run.state(0, (0, 1), 1)
    return run


def takes_over(run: WrittenHistory, broker: int) -> None:
    run.emit(ZkWritten, broker, "create", CONTROLLER_PATH, 0, 0, encode_controller(broker, 0))


def asks(run: WrittenHistory, target: Replicas) -> Any:
    data = encode_reassignment({ORDERS_0: target})
    return run.emit(ZkWritten, TOOL, "create", REASSIGN_PARTITIONS, 0, 0, data)


def names(run: WrittenHistory, replicas: Replicas, adding: Replicas = (), removing: Replicas = ()) -> Any:
    """The controller writes the topic's znode in the format of KIP-455."""
    moves = {0: ReassigningReplicas(adding, removing)} if adding or removing else {}
    return run.emit(ZkWritten, CONTROLLER, "setData", path_of("orders"), 0, 0, encode_topic({0: replicas}, moves))


def found(run: WrittenHistory) -> list[str]:
    return [violation.state for violation in run.violations()]


@pytest.mark.parametrize("by_api", [False, True])
@pytest.mark.parametrize("isr", [(0, 1, 2), (0, 1)])
def test_a_move_that_ends(by_api: bool, isr: Replicas) -> None:
    run = story()
    if by_api:
        names(run, (1, 2, 0), (2,), (0,))
    else:
        asks(run, (1, 2))
        run.assigned((1, 2, 0), by=CONTROLLER)
    run.state(0, isr, 1)
    run.state(1, isr, 2)
    if by_api:
        names(run, (1, 2))
    else:
        run.assigned((1, 2), by=CONTROLLER)
    text = f"orders-0: controller 5 ends the move to [1, 2], which were never all in the ISR; it is {list(isr)}"
    assert found(run) == ([] if 2 in isr else [text])


def test_a_move_whose_leader_is_left_behind() -> None:
    run = story()
    asks(run, (1, 2))
    run.assigned((1, 2, 0), by=CONTROLLER)
    run.state(0, (0, 1, 2), 1)
    run.assigned((1, 2), by=CONTROLLER)
    expected = "orders-0: controller 5 drops leader 0 from the assignment, and could have had [1, 2] lead"
    assert found(run) == [expected]


def test_a_replica_that_stays_and_lags() -> None:
    """Its partition shrinks to it and another one, and it was in sync before that was asked for alone."""
    run = story()
    names(run, (0, 1, 2))
    run.state(0, (0, 1, 2), 1)
    run.state(0, (0, 2), 1)
    names(run, (0, 1, 2), (), (2,))
    run.state(0, (0, 2), 1)
    names(run, (0, 1))
    assert found(run) == [
        "orders-0: controller 5 ends the move to [0, 1], which were never all in the ISR; it is [0, 2]"
    ]


def test_a_cancelled_move() -> None:
    run = story()
    names(run, (1, 2, 0), (2,), (0,))
    names(run, (0, 1))
    assert found(run) == []


def test_a_controller_that_was_replaced() -> None:
    """kafka-1.1, seed 3052: its step is not known any more."""
    run = story()
    asks(run, (1, 2))
    run.assigned((1, 2, 0), by=CONTROLLER)
    takes_over(run, 2)
    run.assigned((1, 2), by=CONTROLLER)
    assert found(run) == []
