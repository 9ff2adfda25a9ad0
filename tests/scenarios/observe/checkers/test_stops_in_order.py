"""R6: no replica is stopped by a request from before the one that started it."""

from typing import Any

import pytest

from emulator.protocol import events as e
from scenarios.observe.checkers.stops_in_order import StopsInOrder
from tests.scenarios.observe.checkers.written_history import ORDERS_0, WrittenHistory


def caused_by(run: WrittenHistory, request: int, kind: Any, *fields: Any) -> Any:
    run.trace.cause = request
    return run.emit(kind, 1, *ORDERS_0, *fields)


@pytest.mark.parametrize("deleted", [True, False])
def test_a_stop_from_before_the_start(deleted: bool) -> None:
    run = WrittenHistory(StopsInOrder.name)
    caused_by(run, 20, e.BecameFollower, 3, 0, 0, 0)
    caused_by(run, 10, e.ReplicaStopped, deleted)
    [violation] = run.violations()
    assert violation.state == (
        f"broker 1 {'deletes' if deleted else 'stops'} its replica of orders-0 because of a StopReplica (event 10) "
        "that was sent before the LeaderAndIsr that started it (event 20)"
    )


def test_a_stop_from_after_the_start_and_one_that_stops_nothing() -> None:
    run = WrittenHistory(StopsInOrder.name)
    caused_by(run, 20, e.BecameFollower, 3, 0, 0, 0)
    caused_by(run, 30, e.ReplicaStopped, True)
    caused_by(run, 25, e.ReplicaStopped, True)
    assert run.violations() == []


def test_a_broker_that_starts_again_has_no_roles() -> None:
    run = WrittenHistory(StopsInOrder.name)
    caused_by(run, 20, e.BecameFollower, 3, 0, 0, 0)
    run.emit(e.NodeStarted, 1, 2)
    caused_by(run, 10, e.ReplicaStopped, True)
    assert run.violations() == []
