"""V12: a cluster that stands idle changes nothing."""

from __future__ import annotations

import pytest

from emulator.protocol import events as e
from emulator.protocol.control_requests import ControlQueued
from emulator.protocol.elect_leaders import ElectionsRequested, ElectionType, ElectLeadersRequest
from emulator.protocol.leader_and_isr import LeaderAndIsrPartition, LeaderAndIsrRequest
from emulator.protocol.znodes import delete_topic_path
from emulator.trace.events import Step, ZkWritten
from scenarios.observe.checkers.idle_changes_nothing import IdleChangesNothing
from scenarios.observe.history.settings_history import StartSettings
from tests.scenarios.observe.checkers.test_led_in_time import Cluster
from tests.scenarios.observe.checkers.written_history import ORDERS_0

NAME = "idle_changes_nothing"
RS = (0, 1, 2)


class Idle(Cluster):
    """Broker 0 leads in epoch 0, all are in sync, and the cluster stands idle."""

    def __init__(self, leader: int = 0) -> None:
        super().__init__(NAME)
        self.assigned(RS)
        self.state(leader, RS, 0)
        self.stands(idle=True)

    def stands(self, *, idle: bool) -> None:
        checker = self.checkers.get(IdleChangesNothing)
        assert checker is not None
        checker.idle = idle

    def sends(self, leader: int, epoch: int) -> None:
        state = LeaderAndIsrPartition(ORDERS_0, 1, leader, epoch, RS, 0, RS, False)
        self.show(ControlQueued, 3, 1, LeaderAndIsrRequest(3, 1, 1, (state,), RS))

    def states(self) -> list[str]:
        return [violation.state for violation in self.violations()]


def test_an_isr_that_shrinks() -> None:
    run = Idle()
    run.state(0, (0, 1), 0)
    before, after = "leader 0 of leader epoch 0, ISR [0, 1, 2]", "leader 0 of leader epoch 0, ISR [0, 1]"
    assert run.states() == [f"orders-0: {before} becomes {after}"]


def test_a_leader_that_is_elected_again() -> None:
    run = Idle()
    run.state(0, RS, 1)
    run.sends(0, 1)
    assert run.states() == [
        "orders-0: leader 0 of leader epoch 0, ISR [0, 1, 2] becomes leader 0 of leader epoch 1, ISR [0, 1, 2]",
        "controller 3 sends broker 1 a LeaderAndIsr of orders-0, leader 0 of leader epoch 1",
    ]


def test_a_request_that_says_nothing_new() -> None:
    run = Idle()
    run.sends(0, 0)
    assert run.states() == ["controller 3 sends broker 1 a LeaderAndIsr of orders-0, leader 0 of leader epoch 0"]


def test_a_partition_may_go_to_its_preferred_replica() -> None:
    run = Idle(leader=1)
    run.state(0, RS, 1)
    run.sends(0, 1)
    assert run.states() == []


@pytest.mark.parametrize(("leader", "count"), [(0, 0), (2, 1)])
def test_one_that_has_gone_there_as_the_cluster_comes_to_stand_idle(leader: int, count: int) -> None:
    """kafka-2.7, seed 7009: the controller has written the election, and announces it then."""
    run = Idle(leader=1)
    run.stands(idle=False)
    run.state(leader, RS, 1)
    run.stands(idle=True)
    run.sends(leader, 1)
    assert len(run.states()) == count


def test_one_that_goes_elsewhere() -> None:
    run = Idle()
    run.state(1, RS, 1)
    assert len(run.states()) == 1


@pytest.mark.parametrize("asks", ["move", "elections", "assignment", "deletion"])
def test_what_an_operator_asks_for_meanwhile_changes_something(asks: str) -> None:
    """kafka-2.6, seed 46 of the default swarm: the tool's first request was lost, and it sends another."""
    run = Idle()
    if asks == "move":
        run.emit(Step, "kip-455.U1", "before", *ORDERS_0, -1, 0, 3, "to 1,0,2")
    elif asks == "elections":
        run.show(ElectionsRequested, 3, ElectLeadersRequest(ElectionType.UNCLEAN, (ORDERS_0,)))
    elif asks == "assignment":
        run.assigned((0, 1))
    else:
        run.emit(ZkWritten, 3, "create", delete_topic_path("orders"), 0, 0, "")
    run.state(0, RS, 1)
    run.sends(0, 1)
    assert run.states() == []


@pytest.mark.parametrize(
    ("idle", "outcome", "isr", "count"),
    [(False, False, (0, 1), 0), (False, False, (0, 2), 2), (False, True, (0, 1), 2), (True, False, (0, 1), 2)],
    ids=("asked-before", "for-another-one", "and-refused", "asked-since"),
)
def test_a_change_of_an_isr_may_wait_for_a_dead_controller(
    idle: bool, outcome: bool, isr: tuple[int, ...], count: int
) -> None:
    """kafka-3.0, seed 26003: the leader asks the next controller when it has waited for 30 s, and for its undoing as
    it has that answer."""
    run = Idle()
    run.stands(idle=idle)
    run.emit(e.IsrProposed, 0, *ORDERS_0, 0, "shrink", isr, 0, 0, 0, (2,), (-1,), (-1,), (9,), 3_000_000, -1)
    if outcome:
        run.emit(e.IsrUpdateFailed, 0, *ORDERS_0, 0)
    run.stands(idle=True)
    run.state(0, (0, 1), 0)
    run.state(0, RS, 0)
    assert len(run.states()) == count


def test_before_it_stands_idle_and_after_that_all_may_change() -> None:
    run = Idle()
    run.stands(idle=False)
    run.state(1, RS, 1)
    run.sends(1, 1)
    assert run.states() == []


def test_it_stands_for_two_looks_at_the_isrs() -> None:
    for lag_ms, window_us in ((10_000, 20_000_000), (30_000, 60_000_000)):
        run = Cluster(NAME, start=StartSettings(brokers={"replica.lag.time.max.ms": lag_ms}))
        checker = run.checkers.get(IdleChangesNothing)
        assert checker is not None
        assert checker.window_us == window_us
