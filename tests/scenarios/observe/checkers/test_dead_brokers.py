"""M6: a controller brings no dead broker into an ISR, and removes those that die."""

import pytest

from emulator.protocol import events as e
from emulator.protocol.znodes import state_path
from emulator.trace.events import Step, ZkWritten
from tests.scenarios.observe.checkers.test_led_in_time import Cluster
from tests.scenarios.observe.checkers.written_history import ORDERS_0


def learns(run: Cluster, broker: int, controller: int = 3) -> None:
    """The controller begins to handle the failure of ``broker``."""
    run.emit(Step, "broker-failure.1", "before", "", -1, broker, 0, controller, "")


def takes_over(run: Cluster) -> None:
    """Broker 3 is elected again, and reads which brokers live."""
    run.emit(e.ControllerElected, 3, 2)
    run.emit(Step, "failover.F3", "after", "", -1, -1, 0, 3, "")


def writes(run: Cluster, client: int, isr: tuple[int, ...], epoch: int = 0, leader: int = 0) -> None:
    """A new state, written by ``client``."""
    data = run.encoded(leader, isr, epoch, 1)
    run.emit(ZkWritten, client, "setData", state_path(ORDERS_0), 9, 0, data)


@pytest.mark.parametrize("how", [lambda run: learns(run, 1), takes_over])
def test_an_election_that_keeps_the_dead(how: object) -> None:
    run = Cluster("elects_the_living")
    run.dies(0)
    run.dies(1)
    learns(run, 0)
    assert callable(how)
    how(run)
    writes(run, 3, (1, 2), 1, leader=2)
    [violation] = run.violations()
    assert violation.state == (
        "orders-0: ISR [1, 2] under leader 2 of epoch 1, written by controller 3, which knows that broker 1 is dead"
    )


def test_what_a_controller_writes_that_has_been_replaced() -> None:
    """It loaded the brokers before broker 1 died, its successor after that (kafka-0.8, seed 1111)."""
    run = Cluster("elects_the_living", "dead_leave_isr")
    run.dies(1)
    run.emit(e.ControllerElected, 2, 2)
    run.emit(Step, "failover.F3", "after", "", -1, -1, 0, 2, "")
    writes(run, 3, (1, 2), 1, leader=1)
    assert run.violations() == []


@pytest.mark.parametrize(("controller", "found"), [(2, ["elects_the_living"]), (3, [])])
@pytest.mark.parametrize("step", ["failover.F3", "broker-failure.1"])
def test_what_a_controller_knows_its_successor_does_not(step: str, controller: int, found: list[str]) -> None:
    """kafka-0.8, seed 1111: the former controller went on with its failover."""
    run = Cluster("elects_the_living")
    run.dies(1)
    run.emit(e.ControllerElected, 2, 2)
    if step == "failover.F3":
        run.emit(Step, step, "after", "", -1, -1, 0, controller, "")
    else:
        learns(run, 1, controller)
    writes(run, 2, (0, 2), 1, leader=2)
    assert run.violations() == []
    writes(run, 2, (0, 1, 2), 2, leader=0)
    assert run.invariants() == found


def test_an_election_that_replaces_a_living_leader_keeps_the_isr_as_it_is() -> None:
    """Election.leaderForReassign, leaderForPreferredReplica and leaderForControlledShutdown, 2.3.1."""
    run = Cluster("elects_the_living")
    run.dies(1)
    learns(run, 1)
    writes(run, 3, (0, 1, 2), 1, leader=2)
    assert run.violations() == []


def test_an_isr_that_a_leader_asked_for() -> None:
    """KAFKA-14140: the controller writes what the leader asks for (KIP-497)."""
    run = Cluster("elects_the_living")
    run.dies(1)
    learns(run, 1)
    writes(run, 3, (0, 2))
    writes(run, 3, (0, 2, 1))
    assert run.invariants() == ["elects_the_living"]


def test_what_a_controller_may_write() -> None:
    run = Cluster("elects_the_living")
    run.dies(1)
    writes(run, 3, (1, 2), 1, leader=2)  # it does not know yet
    learns(run, 1)
    run.dies(0)
    learns(run, 0)
    writes(run, 3, (1, 2), 2, leader=2)  # the same leader: the dead leave one after the other
    writes(run, 3, (1,), 3, leader=-1)
    run.registers(1)
    writes(run, 3, (1,), 4, leader=1)
    assert run.violations() == []


def test_what_a_leader_writes_itself() -> None:
    run = Cluster("elects_the_living")
    run.dies(1)
    learns(run, 1)
    writes(run, 0, (0, 2))
    writes(run, 0, (0, 2, 1))
    assert run.violations() == []


@pytest.mark.parametrize("how", [lambda run: learns(run, 1), takes_over])
def test_the_dead_stay(how: object) -> None:
    run = Cluster("dead_leave_isr")
    run.dies(1)
    run.passes(20)
    assert run.violations() == []
    assert callable(how)
    how(run)
    run.passes(11)
    assert run.violations() == []
    run.passes(2)
    [violation] = run.violations()
    assert violation.state.startswith("orders-0: ISR [0, 1, 2] under leader 0, while controller 3 has known for ")


def test_the_dead_come_back_into_the_isr() -> None:
    run = Cluster("dead_leave_isr")
    run.dies(1)
    learns(run, 1)
    run.state(0, (0, 2), 1)
    run.passes()
    assert run.violations() == []
    writes(run, 0, (0, 2, 1), 1)
    run.rest()
    assert run.invariants() == ["dead_leave_isr"]


def test_the_dead_that_leave_or_return_and_the_last_member() -> None:
    run = Cluster("dead_leave_isr")
    run.dies(1)
    learns(run, 1)
    run.state(0, (0, 2), 1)
    run.dies(2)
    learns(run, 2)
    run.emit(e.NodeStarted, 2, 1)
    run.registers(2)
    run.passes(30)
    run.dies(0)
    run.state(-1, (0,), 2)
    learns(run, 0)
    run.passes(30)
    run.rest()
    assert run.violations() == []
