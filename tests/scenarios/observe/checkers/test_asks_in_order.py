"""E12: requests come to ZooKeeper in the order in which they were submitted."""

from __future__ import annotations

import pytest

from emulator.trace.shown_znodes import ZkAsked
from scenarios.observe.checkers.asks_in_order import AsksInOrder
from tests.scenarios.observe.checkers.written_history import WrittenHistory

Connection = tuple[int, ...]
"""The numbers of the requests that come on one connection."""


def asked(*connections: Connection, session: int = 7) -> list[str]:
    run = WrittenHistory(AsksInOrder.name).begin()
    for numbers in connections:
        before = -1
        for number in numbers:
            run.show(ZkAsked, 0, session, number, before)
            before = number
    return [violation.state for violation in run.violations()]


@pytest.mark.parametrize(
    "connections", [((0, 1, 2),), ((3, 4), (5, 6)), ((3, 4, 5), (4, 5, 6)), ((3, 4), (3, 4), (3, 4, 5))]
)
def test_in_order(connections: tuple[Connection, ...]) -> None:
    assert asked(*connections) == []


@pytest.mark.parametrize(
    ("connections", "expected"),
    [(((0, 2),), 1), (((0, 1, 1),), 2), (((0, 1, 2), (2, 1)), 3), (((0, 1), (3,)), 2)],
)
def test_out_of_order(connections: tuple[Connection, ...], expected: int) -> None:
    [state] = asked(*connections)
    assert f"where {expected} should come" in state
