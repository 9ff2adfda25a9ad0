"""T7: what a broker says of its log directories is so."""

from __future__ import annotations

from typing import Any

import pytest

from emulator.protocol.errors import Errors
from emulator.protocol.events import CopyAbandoned, CopyStarted, LogReplaced, NodeStarted
from emulator.protocol.log_dirs import (
    AlterReplicaLogDirsRequest,
    AlterReplicaLogDirsResponse,
    DescribeLogDirsRequest,
    DescribeLogDirsResponse,
    LogDirInfo,
    ReplicaInfo,
)
from emulator.protocol.types import TopicPartition
from emulator.trace.shown_znodes import RequestAnswered
from scenarios.observe.checkers.log_dirs_true import LogDirsTrue
from tests.scenarios.observe.checkers.written_history import ORDERS_0, WrittenHistory

ORDERS_1 = TopicPartition("orders", 1)
CURRENT = ReplicaInfo(ORDERS_0, 500, 0, False)
COPY = ReplicaInfo(ORDERS_0, 0, 50, True)
ONE, TWO = "/data/0", "/data/1"


def history() -> WrittenHistory:
    """Broker 1 has orders-0 in ``ONE``, and copies it to ``TWO``."""
    run = WrittenHistory(LogDirsTrue.name)
    run.emit(NodeStarted, 1, 1)
    run.loaded(1, 50)
    run.follows(1, 0, 0, end=50)
    run.emit(CopyStarted, 1, *ORDERS_0, ONE, TWO, 0)
    return run


def describes(
    run: WrittenHistory,
    first: tuple[ReplicaInfo, ...] = (CURRENT,),
    second: tuple[ReplicaInfo, ...] = (COPY,),
    asked: tuple[TopicPartition, ...] | None = None,
    errors: tuple[Errors, Errors] = (Errors.NONE, Errors.NONE),
) -> None:
    found = LogDirInfo(ONE, errors[0], first), LogDirInfo(TWO, errors[1], second)
    run.show(RequestAnswered, 1, -1, DescribeLogDirsRequest(asked), DescribeLogDirsResponse(found), run.world.now, True)


def states(run: WrittenHistory) -> list[str]:
    return [violation.state for violation in run.violations()]


@pytest.mark.parametrize(
    ("told", "found"),
    [
        ({}, ""),
        ({"asked": (ORDERS_0,)}, ""),
        ({"asked": (ORDERS_1,), "second": ()}, "broker 1 describes orders-0, which it was not asked for"),
        ({"first": (CURRENT, CURRENT)}, "broker 1 has two current logs of orders-0"),
        ({"second": (COPY._replace(lag=51),)}, "a copy of orders-0 on broker 1 is 51 behind 50"),
        ({"first": (CURRENT._replace(lag=1),)}, "the log of orders-0 on broker 1 is 1 behind 0"),
        ({"first": (CURRENT._replace(lag=-1),)}, "the log of orders-0 on broker 1 is -1 behind 0"),
        ({"first": (CURRENT._replace(size=0),)}, "0 bytes"),
        ({"first": ()}, "no log; right is: the replica's"),
        ({"second": ()}, "no copy; right is: one in /data/1"),
        ({"first": (COPY,), "second": (CURRENT,)}, "right is: "),
        ({"errors": (Errors.NONE, Errors.KAFKA_STORAGE_ERROR)}, "/data/1: KAFKA_STORAGE_ERROR; right is: it works"),
    ],
)
def test_what_is_described(told: dict[str, Any], found: str) -> None:
    run = history()
    describes(run, **told)
    violations = states(run)
    assert found in violations[0] if found else violations == []


def test_a_log_stays_where_it_is_and_has_its_size() -> None:
    run = history()
    run.emit(CopyAbandoned, 1, *ORDERS_0, TWO, "altered")
    describes(run, second=())
    describes(run, first=(CURRENT._replace(size=501),), second=())
    describes(run, first=(), second=(CURRENT._replace(size=501),))
    size, place = states(run)
    assert "501 bytes" in size
    assert place.endswith("the log in /data/1; right is: /data/0")


def test_a_log_that_was_replaced_is_elsewhere() -> None:
    run = history()
    run.emit(LogReplaced, 1, *ORDERS_0, ONE, TWO, 50)
    describes(run, first=(), second=(CURRENT,))
    assert states(run) == []


def test_the_directories_are_the_same_each_time() -> None:
    run = history()
    run.emit(CopyAbandoned, 1, *ORDERS_0, TWO, "altered")
    describes(run, second=())
    found = (LogDirInfo(ONE, Errors.NONE, (CURRENT,)),)
    run.show(RequestAnswered, 1, -1, DescribeLogDirsRequest(), DescribeLogDirsResponse(found), run.world.now, True)
    assert len(states(run)) == 1


@pytest.mark.parametrize(
    ("name", "error", "tp", "found"),
    [
        (TWO, Errors.NONE, ORDERS_0, 0),
        (ONE, Errors.NONE, ORDERS_0, 1),
        (TWO, Errors.NONE, ORDERS_1, 0),
        (TWO, Errors.REPLICA_NOT_AVAILABLE, ORDERS_1, 0),
        (TWO, Errors.REPLICA_NOT_AVAILABLE, ORDERS_0, 1),
        (TWO, Errors.KAFKA_STORAGE_ERROR, ORDERS_0, 1),
        (TWO, Errors.LOG_DIR_NOT_FOUND, ORDERS_0, 1),
        ("/data/2", Errors.LOG_DIR_NOT_FOUND, ORDERS_0, 0),
    ],
)
def test_moves_between_directories(name: str, error: Errors, tp: TopicPartition, found: int) -> None:
    run = history()
    describes(run)
    request = AlterReplicaLogDirsRequest(((tp, name),))
    run.show(RequestAnswered, 1, -1, request, AlterReplicaLogDirsResponse(((tp, error),)), run.world.now, True)
    assert len(states(run)) == found
