"""M17: what a controller answers about elections and moves, beside what ZooKeeper has."""

from __future__ import annotations

from typing import Any

import pytest

from emulator.protocol.alter_reassignments import (
    AlterPartitionReassignmentsRequest,
    AlterPartitionReassignmentsResponse,
)
from emulator.protocol.assignments import ReassigningReplicas, ReplicaAssignment
from emulator.protocol.controlled_shutdown import ControlledShutdownRequest, ControlledShutdownResponse
from emulator.protocol.elect_leaders import ElectionType, ElectLeadersRequest, ElectLeadersResponse
from emulator.protocol.errors import Errors
from emulator.protocol.events import BrokerRegistered, ControllerElected, NodeStarted
from emulator.protocol.list_reassignments import ListPartitionReassignmentsRequest, ListPartitionReassignmentsResponse
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import CONTROLLER, broker_path, encode_broker, encode_topic, topic_path
from emulator.trace.events import ZkSession, ZkWritten
from emulator.trace.shown_znodes import RequestAnswered
from tests.scenarios.observe.checkers.written_history import ORDERS_0, WrittenHistory

SECOND_US = 1_000_000
MOVING = ReplicaAssignment((0, 2, 1), (2,), (1,))


class Controlled(WrittenHistory):
    """Broker 0 has been the controller for a while, and leads ``orders-0``."""

    def __init__(self) -> None:
        super().__init__("controller_answers_true")
        for node in (0, 1, 2):
            self.emit(NodeStarted, node, 1)
            self.emit(ZkSession, node, node, "created")
            self.emit(ZkWritten, node, "create", broker_path(node), 0, 0, encode_broker(node, 0, None))
            self.emit(BrokerRegistered, node, 1)
        self.emit(ZkWritten, 0, "create", CONTROLLER, 0, 0, '{"version":1,"brokerid":0,"timestamp":"0"}')
        self.controller(0, 1)
        self.emit(ControllerElected, 0, 1)
        self.emit(ZkWritten, 0, "create", topic_path("orders"), 0, 0, encode_topic({0: (0, 1)}))
        self.state(0, (0, 1), 0)
        self.world.now += 20 * SECOND_US

    def moves(self) -> None:
        data = encode_topic({0: MOVING.replicas}, {0: ReassigningReplicas(MOVING.adding, MOVING.removing)})
        self.emit(ZkWritten, 0, "setData", topic_path("orders"), 1, 0, data)

    def answers(self, request: Any, response: Any, since_us: int | None = None) -> list[str]:
        self.show(RequestAnswered, 0, -1, request, response, self.world.now if since_us is None else since_us, True)
        return [violation.state for violation in self.violations()]


def elects(run: Controlled, error: Errors, since_us: int | None = None) -> list[str]:
    request = ElectLeadersRequest(ElectionType.PREFERRED, (ORDERS_0,))
    return run.answers(request, ElectLeadersResponse(Errors.NONE, ((ORDERS_0, error),)), since_us)


@pytest.mark.parametrize(
    ("leader", "isr", "error", "found"),
    [
        (0, (0, 1), Errors.NONE, 0),
        (0, (0, 1), Errors.ELECTION_NOT_NEEDED, 0),
        (1, (0, 1), Errors.NONE, 1),
        (1, (0, 1), Errors.ELECTION_NOT_NEEDED, 1),
        (1, (1,), Errors.PREFERRED_LEADER_NOT_AVAILABLE, 0),
        (1, (0, 1), Errors.PREFERRED_LEADER_NOT_AVAILABLE, 1),
        (0, (0, 1), Errors.UNKNOWN_TOPIC_OR_PARTITION, 1),
        (0, (0, 1), Errors.INVALID_TOPIC_EXCEPTION, 1),
    ],
)
def test_elections(leader: int, isr: tuple[int, ...], error: Errors, found: int) -> None:
    run = Controlled()
    run.state(leader, isr, 1)
    run.world.now += 10 * SECOND_US
    assert len(elects(run, error)) == found


@pytest.mark.parametrize(("error", "found"), [(Errors.ELECTION_NOT_NEEDED, 0), (Errors.NONE, 1)])
def test_a_controller_that_was_replaced_sees_no_need(error: Errors, found: int) -> None:
    """kafka-3.9, seed 27016: nothing is written, so that it does not learn of it."""
    run = Controlled()
    run.emit(ZkWritten, -1, "delete", CONTROLLER, 0, 0, "")
    run.state(-1, (1,), 1)
    run.world.now += SECOND_US
    assert len(elects(run, error)) == found


def test_each_partition_is_answered_once() -> None:
    request = ElectLeadersRequest(ElectionType.PREFERRED, (ORDERS_0,))
    for rows in ((), ((ORDERS_0, Errors.NONE),) * 2, ((TopicPartition("other", 0), Errors.NONE),)):
        assert len(Controlled().answers(request, ElectLeadersResponse(Errors.NONE, rows))) == 1


def test_a_controller_says_that_it_is_none() -> None:
    request = ElectLeadersRequest(ElectionType.PREFERRED, None)
    [state] = Controlled().answers(request, ElectLeadersResponse(Errors.NOT_CONTROLLER))
    assert state == "broker 0 answers ElectLeaders: NOT_CONTROLLER; right is: it is the controller"
    assert Controlled().answers(request, ElectLeadersResponse(Errors.NOT_CONTROLLER), since_us=0) == []


@pytest.mark.parametrize(
    ("target", "moves", "error", "found"),
    [
        ((0, 2), True, Errors.NONE, 0),
        ((0, 2), False, Errors.NONE, 1),
        ((0, 1), False, Errors.NONE, 0),
        (None, False, Errors.NO_REASSIGNMENT_IN_PROGRESS, 0),
        (None, False, Errors.NONE, 1),
        ((0, 2), False, Errors.UNKNOWN_TOPIC_OR_PARTITION, 1),
    ],
)
def test_moves(target: tuple[int, ...] | None, moves: bool, error: Errors, found: int) -> None:
    run = Controlled()
    since_us = run.world.now
    if moves:
        run.moves()
    request = AlterPartitionReassignmentsRequest({ORDERS_0: target})
    response = AlterPartitionReassignmentsResponse(Errors.NONE, ((ORDERS_0, error),))
    assert len(run.answers(request, response, since_us)) == found


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        (((ORDERS_0, MOVING),), 0),
        ((), 1),
        (((ORDERS_0, MOVING),) * 2, 1),
        (((ORDERS_0, ReplicaAssignment((0, 2, 1), (2,), ())),), 1),
    ],
)
def test_the_list_of_moves(rows: tuple[tuple[TopicPartition, ReplicaAssignment], ...], found: int) -> None:
    run = Controlled()
    run.moves()
    run.world.now += 10 * SECOND_US
    request = ListPartitionReassignmentsRequest(None)
    assert len(run.answers(request, ListPartitionReassignmentsResponse(Errors.NONE, rows))) == found


@pytest.mark.parametrize(
    ("error", "remaining", "found"),
    [
        (Errors.NONE, (ORDERS_0,), 0),
        (Errors.NONE, (), 1),
        (Errors.NONE, (ORDERS_0, TopicPartition("other", 0)), 1),
        (Errors.STALE_BROKER_EPOCH, (), 1),
        (Errors.UNKNOWN_SERVER_ERROR, (), 0),
    ],
)
def test_shutdowns(error: Errors, remaining: tuple[TopicPartition, ...], found: int) -> None:
    request, response = ControlledShutdownRequest(0, 1), ControlledShutdownResponse(error, remaining)
    assert len(Controlled().answers(request, response)) == found
