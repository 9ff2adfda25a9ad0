"""R9: a replica that leaves the assignment is stopped first, or by the step that follows."""

import pytest

from emulator.protocol import events as e
from emulator.protocol.control_requests import ControlQueued
from emulator.protocol.stop_replica import StopReplicaRequest
from emulator.trace.events import Step, ZkWritten
from scenarios.observe.checkers.drops_stopped import DropsStopped
from tests.scenarios.observe.checkers.written_history import ORDERS_0, WrittenHistory


def step(run: WrittenHistory, name: str, edge: str) -> None:
    run.emit(Step, name, edge, *ORDERS_0, -1, 0, 0, "to 1")


@pytest.mark.parametrize("asks_again", [False, True])
@pytest.mark.parametrize("stops", [True, False])
def test_what_a_protocol_stops_after_its_write(stops: bool, asks_again: bool) -> None:
    """kafka-3.0, seed 7033 of the default swarm: an operator asks for another move between the step and its write."""
    run = WrittenHistory(DropsStopped.name)
    run.emit(ZkWritten, 2, "create", "/brokers/ids/2", 0, 1, "{}")
    run.assigned((1, 2))
    run.emit(e.ControllerElected, 0, 1)
    step(run, "kip-455.U1", "before")
    if asks_again:
        run.emit(e.MoveStarted, *ORDERS_0, (1, 3))
    run.assigned((1,))
    step(run, "kip-455.U1", "after")
    step(run, "kip-455.U3", "before")
    if stops:
        run.show(ControlQueued, 0, 2, StopReplicaRequest(0, 1, 1, True, (ORDERS_0,)))
    step(run, "kip-455.U3", "after")
    found = [violation.state for violation in run.violations()]
    wanted = "orders-0: controller 0 writes the assignment [1] after [1, 2], and has not asked broker 2 to delete its"
    assert found == ([] if stops else [f"{wanted} replica"])
