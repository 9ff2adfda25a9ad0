"""E2: epochs never go back."""

from collections.abc import Callable
from typing import Any

import pytest

from emulator.protocol import events as e
from scenarios.observe.checkers.epochs_grow import EpochsGrow
from tests.scenarios.observe.checkers.written_history import ORDERS_0, WrittenHistory

BROKEN: dict[str, tuple[Callable[[WrittenHistory], Any], str]] = {
    "leader epoch": (lambda run: run.state(0, (0, 1), 3), "orders-0, leader epoch in ZooKeeper: epoch 3 after 4"),
    "new leader, old epoch": (
        lambda run: run.state(1, (0, 1), 4),
        "orders-0: the leader in ZooKeeper changes from 0 to 1 in leader epoch 4",
    ),
    "controller epoch": (lambda run: run.controller(1, 7), "controller epoch in ZooKeeper: epoch 7 after 7"),
    "leads again": (lambda run: run.leads(0, 4), "broker 0, orders-0: epoch 4 after 4"),
    "follows in an old epoch": (lambda run: run.follows(0, 1, 3), "broker 0, orders-0: epoch 3 after 4"),
    "obeys an old controller": (lambda run: obeys(run, 6), "broker 0 obeys the controller: epoch 6 after 7"),
    "registers with an old epoch": (lambda run: registers(run, 30), "broker 0, broker epoch: epoch 30 after 30"),
}


def obeys(run: WrittenHistory, controller_epoch: int, error: str = "NONE") -> Any:
    return run.emit(e.ControlResponse, "LeaderAndIsr", 0, 5, controller_epoch, error, (), ())


def registers(run: WrittenHistory, broker_epoch: int) -> Any:
    return run.emit(e.BrokerRegistered, 0, broker_epoch)


def story() -> WrittenHistory:
    """Everything has the epoch that ``BROKEN`` goes back from."""
    run = WrittenHistory(EpochsGrow.name)
    run.controller(5, 7)
    registers(run, 30)
    run.state(0, (0, 1), 4)
    run.leads(0, 4)
    obeys(run, 7)
    return run


@pytest.mark.parametrize(("act", "found"), BROKEN.values(), ids=BROKEN)
def test_an_epoch_that_goes_back(act: Callable[[WrittenHistory], Any], found: str) -> None:
    run = story()
    shown = act(run)
    [violation] = run.violations()
    assert (violation.seq, violation.state) == (shown.seq, found)


def test_epochs_that_grow() -> None:
    run = story()
    run.state(0, (0,), 4)
    run.state(-1, (0,), 5)
    run.state(0, (0,), 6)
    run.follows(0, 1, 5)
    run.leads(0, 6)
    obeys(run, 7)
    obeys(run, 3, "STALE_CONTROLLER_EPOCH")
    run.controller(1, 8)
    obeys(run, 8)
    registers(run, 31)
    assert run.violations() == []


def test_a_restart_a_deleted_replica_and_a_new_topic_start_over() -> None:
    run = story()
    run.emit(e.NodeStarted, 0, 2)
    obeys(run, 6)
    run.leads(0, 4)
    run.emit(e.ReplicaStopped, 0, *ORDERS_0, True)
    run.leads(0, 0)
    run.deleted()
    run.state(1, (0, 1), 0)
    assert run.violations() == []


def test_a_replica_that_is_stopped_and_kept_keeps_its_epoch() -> None:
    run = story()
    run.emit(e.ReplicaStopped, 0, *ORDERS_0, False)
    run.leads(0, 4)
    assert run.invariants() == [EpochsGrow.name]
