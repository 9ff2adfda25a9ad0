"""V3: a live replica follows the leader that ZooKeeper names."""

from __future__ import annotations

from emulator.protocol import events as e
from emulator.protocol.control_requests import ControlChannelClosed, ControlDelivered
from tests.scenarios.observe.checkers.test_control_requests import (
    RS,
    leader_and_isr,
    queued,
)
from tests.scenarios.observe.checkers.test_led_in_time import Cluster
from tests.scenarios.observe.checkers.written_history import ORDERS_0


def adopting() -> Cluster:
    """Broker 0 leads, the others follow."""
    run = Cluster("roles_adopted")
    run.assigned(RS)
    run.leads(0, 0)
    for broker in (1, 2):
        run.follows(broker, 0, 0)
    return run


def test_a_replica_that_follows_the_last_leader() -> None:
    run = adopting()
    run.state(1, RS, 1)
    run.leads(1, 1)
    run.follows(0, 1, 1)
    run.passes(34)
    assert run.violations() == []
    run.passes(3)
    [violation] = run.violations()
    assert violation.state == ("orders-0: leader 1 of epoch 1 in ZooKeeper, and broker 2 follows broker 0, for 36.0 s")


def test_a_role_that_waits_in_the_queue_of_a_slow_broker() -> None:
    """The time counts from the answer to the request that names the leader, and not at all while the queue holds only
    what names another one."""
    run = adopting()
    run.state(1, RS, 1)
    run.leads(1, 1)
    run.follows(0, 1, 1)
    request = queued(run, 2, leader_and_isr(1, 1))
    run.passes(60)
    assert run.violations() == []
    run.show(ControlDelivered, 3, 2, request)
    queued(run, 2, leader_and_isr(0, 0))
    run.passes(80)
    [violation] = run.violations()
    assert "broker 2 follows broker 0" in violation.state


def test_a_role_that_waited_in_a_queue_that_was_closed() -> None:
    run = adopting()
    run.state(1, RS, 1)
    run.leads(1, 1)
    run.follows(0, 1, 1)
    queued(run, 2, leader_and_isr(1, 1))
    run.show(ControlChannelClosed, 3, 2, False)
    run.passes(37)
    [violation] = run.violations()
    assert "broker 2 follows broker 0" in violation.state


def test_a_replica_without_a_role_after_its_start() -> None:
    run = adopting()
    run.dies(2)
    run.passes(40)
    run.emit(e.NodeStarted, 2, 1)
    run.registers(2)
    run.rest()
    [violation] = run.violations()
    assert "broker 2 has no role" in violation.state


def test_a_new_replica_and_one_that_was_stopped() -> None:
    run = adopting()
    run.emit(e.ReplicaStopped, 2, *ORDERS_0, False)
    run.assigned((0, 1, 2, 3))
    run.rest()
    found = [violation.state.partition("and ")[2].partition(",")[0] for violation in run.violations()]
    assert found == ["broker 2 has no role", "broker 3 has no role"]


def test_replicas_that_are_excused() -> None:
    run = adopting()
    run.emit(e.ReplicaOffline, 1, *ORDERS_0)
    run.fault("broker.fail_start_replica", "2")
    run.state(0, RS, 1)
    run.state(3, RS, 2)
    run.leads(3, 2)
    run.fault("broker.controlled_shutdown", "0")
    run.rest()
    assert run.violations() == []


def test_a_log_directory_that_cannot_be_read_at_the_start() -> None:
    run = adopting()
    run.dies(2)
    run.emit(e.NodeStarted, 2, 1)
    run.emit(e.LogDirFailed, 2, "/data/0", "it cannot be read", 0, False)
    run.registers(2)
    run.rest()
    assert run.violations() == []


def test_without_a_leader_there_is_no_role() -> None:
    run = adopting()
    run.state(-1, (0,), 1)
    run.rest()
    assert run.violations() == []
