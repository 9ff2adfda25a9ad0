"""T10: what a broker tells an administrator about groups, transactions and producers, beside what it has shown."""

from __future__ import annotations

from typing import Any

import pytest

from emulator.protocol import events as e
from emulator.protocol.describe_producers import (
    ActiveProducer,
    DescribedProducers,
    DescribeProducersRequest,
    DescribeProducersResponse,
)
from emulator.protocol.errors import Errors
from emulator.protocol.groups.group_offsets import OffsetDeleteRequest, OffsetDeleteResponse
from emulator.protocol.groups.operations import (
    DeleteGroupsRequest,
    DeleteGroupsResponse,
    DescribedGroup,
    DescribedMember,
    DescribeGroupsRequest,
    DescribeGroupsResponse,
    ListedGroup,
    ListGroupsRequest,
    ListGroupsResponse,
)
from emulator.protocol.shown import MetadataCached
from emulator.protocol.shown_coordination import AssignmentsMade, TransactionTimed
from emulator.protocol.transactions.describing import (
    DescribedTransaction,
    DescribeTransactionsRequest,
    DescribeTransactionsResponse,
    ListedTransaction,
    ListTransactionsRequest,
    ListTransactionsResponse,
)
from emulator.trace.shown_znodes import RequestAnswered
from tests.scenarios.observe.checkers.written_history import ORDERS_0, WrittenHistory

GROUP, ANNE, WRITER = "readers", "anne", "writer"
MEMBER = DescribedMember(ANNE, "first", "", "", b"metadata", b"orders-0")
STABLE = DescribedGroup(GROUP, Errors.NONE, "Stable", "consumer", "range", (MEMBER,))
ONGOING = DescribedTransaction(WRITER, Errors.NONE, "Ongoing", 5000, 1, 7, 2, (ORDERS_0,))


def answers(run: WrittenHistory, request: Any, response: Any) -> list[str]:
    run.show(RequestAnswered, 0, -1, request, response, run.world.now, True)
    return [violation.state for violation in run.violations()]


def grouped() -> WrittenHistory:
    """Broker 0 has the stable group ``readers`` of one static member."""
    run = WrittenHistory("descriptions_true")
    run.emit(e.GroupMemberAdded, 0, GROUP, ANNE, "first", "")
    run.emit(e.GroupStateChanged, 0, GROUP, "PreparingRebalance", 0, "anne joins")
    run.emit(e.GroupGeneration, 0, GROUP, 1, "range", ANNE, (ANNE,))
    run.show(AssignmentsMade, 0, GROUP, 1, ((ANNE, b"orders-0"),))
    run.emit(e.GroupStateChanged, 0, GROUP, "Stable", 1, "")
    return run


@pytest.mark.parametrize(
    ("row", "found"),
    [
        (STABLE, ""),
        (STABLE._replace(state="Empty"), "Empty; right is: Stable"),
        (STABLE._replace(members=()), "the members []; right is: ['anne']"),
        (STABLE._replace(members=(MEMBER._replace(instance_id="second"),)), "the instance second; right is: first"),
        (STABLE._replace(members=(MEMBER._replace(assignment=b""),)), "another assignment of anne"),
        (STABLE._replace(protocol="sticky"), "the protocol 'sticky'; right is: 'range'"),
        (STABLE._replace(protocol_type=""), "no protocol type"),
        (STABLE._replace(group="others"), "['others']; right is: ['readers']"),
        (DescribedGroup(GROUP, Errors.NOT_COORDINATOR), ""),
        (STABLE._replace(error=Errors.NOT_COORDINATOR), "NOT_COORDINATOR, and a group"),
    ],
)
def test_groups(row: DescribedGroup, found: str) -> None:
    states = answers(grouped(), DescribeGroupsRequest((GROUP,)), DescribeGroupsResponse((row,)))
    assert [found in state for state in states] == ([True] if found else [])


@pytest.mark.parametrize(
    ("states", "rows", "found"),
    [
        ((), (ListedGroup(GROUP, "consumer", "Stable"),), 0),
        ((), (), 1),
        (("Empty",), (), 0),
        ((), (ListedGroup(GROUP, "consumer", "Empty"),), 1),
        ((), (ListedGroup(GROUP, "consumer", "Stable"),) * 2, 1),
        (("Empty",), (ListedGroup(GROUP, "consumer", "Stable"),), 1),
        ((), (ListedGroup(GROUP, "", "Stable"),), 1),
    ],
)
def test_the_list_of_groups(states: tuple[str, ...], rows: tuple[ListedGroup, ...], found: int) -> None:
    assert len(answers(grouped(), ListGroupsRequest(states), ListGroupsResponse(Errors.NONE, rows))) == found


@pytest.mark.parametrize(
    ("removed", "error", "found"),
    [
        (False, Errors.NON_EMPTY_GROUP, 0),
        (False, Errors.GROUP_ID_NOT_FOUND, 1),
        (False, Errors.NONE, 1),
        (True, Errors.NONE, 0),
    ],
)
def test_deletions_of_groups(removed: bool, error: Errors, found: int) -> None:
    run = grouped()
    if removed:
        run.emit(e.OffsetsRemoved, 0, GROUP, "deleted", True, (), ())
    assert len(answers(run, DeleteGroupsRequest((GROUP,)), DeleteGroupsResponse(((GROUP, error),)))) == found


def test_deletions_of_offsets() -> None:
    request = OffsetDeleteRequest(GROUP, (ORDERS_0,))
    found = OffsetDeleteResponse(Errors.NONE, ((ORDERS_0, Errors.NONE),))
    run = grouped()
    run.show(MetadataCached, 0, {}, (0,))
    [state] = answers(run, request, found)
    assert state.endswith("NONE; right is: there is no such partition")
    assert len(answers(grouped(), request, OffsetDeleteResponse(Errors.GROUP_ID_NOT_FOUND))) == 1
    assert answers(grouped(), request, OffsetDeleteResponse(Errors.NON_EMPTY_GROUP)) == []


def transacting() -> WrittenHistory:
    """Broker 0 has a transaction of ``writer``, with producer 7 of epoch 2, in ``orders-0``."""
    run = WrittenHistory("descriptions_true")
    run.emit(e.TransactionStateChanged, 0, WRITER, 7, 2, "Ongoing", ("orders",), (0,))
    run.show(TransactionTimed, 0, WRITER, 5_000_000)
    return run


@pytest.mark.parametrize(
    ("row", "found"),
    [
        (ONGOING, 0),
        (ONGOING._replace(state="Empty"), 1),
        (ONGOING._replace(producer_id=8), 1),
        (ONGOING._replace(producer_epoch=3), 1),
        (ONGOING._replace(timeout_ms=1), 1),
        (ONGOING._replace(partitions=()), 1),
        (ONGOING._replace(start_ms=-1), 1),
        (ONGOING._replace(id="other"), 1),
        (DescribedTransaction(WRITER, Errors.TRANSACTIONAL_ID_NOT_FOUND), 1),
        (DescribedTransaction(WRITER, Errors.NOT_COORDINATOR), 0),
    ],
)
def test_transactions(row: DescribedTransaction, found: int) -> None:
    request = DescribeTransactionsRequest((WRITER,))
    assert len(answers(transacting(), request, DescribeTransactionsResponse((row,)))) == found


@pytest.mark.parametrize(
    ("states", "unknown", "rows", "found"),
    [
        ((), (), (ListedTransaction(WRITER, 7, "Ongoing"),), 0),
        ((), (), (), 1),
        ((), (), (ListedTransaction(WRITER, 7, "Empty"),), 1),
        (("Empty",), (), (), 0),
        (("Empty",), (), (ListedTransaction(WRITER, 7, "Ongoing"),), 1),
        (("Unheard",), ("Unheard",), (), 0),
        (("Unheard",), (), (), 1),
    ],
)
def test_the_list_of_transactions(
    states: tuple[str, ...], unknown: tuple[str, ...], rows: tuple[ListedTransaction, ...], found: int
) -> None:
    response = ListTransactionsResponse(Errors.NONE, unknown, rows)
    assert len(answers(transacting(), ListTransactionsRequest(states), response)) == found


@pytest.mark.parametrize(
    ("rows", "found"),
    [
        ((ActiveProducer(7, 2, 0, 0, 1, 20),), 0),
        ((), 1),
        ((ActiveProducer(7, 2, 0, 0, 1),), 1),
        ((ActiveProducer(7, 2, 0, 0, 2, 20),), 1),
        ((ActiveProducer(7, 1, 0, 0, 1, 20),), 1),
        ((ActiveProducer(8, 2, 0, 0, 1, 20), ActiveProducer(7, 2, 0, 0, 1, 20)), 1),
    ],
)
def test_producers(rows: tuple[ActiveProducer, ...], found: int) -> None:
    run = WrittenHistory("descriptions_true")
    run.emit(e.TransactionMarked, 0, *ORDERS_0, 7, 2, 1, True)
    run.emit(e.TransactionalAppended, 0, *ORDERS_0, 7, 5, 20)
    request = DescribeProducersRequest((ORDERS_0,))
    response = DescribeProducersResponse((DescribedProducers(ORDERS_0, Errors.NONE, rows),))
    assert len(answers(run, request, response)) == found
