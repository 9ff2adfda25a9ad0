"""V2: a partition with a live in-sync replica has a leader soon."""

import pytest
from attrs import evolve

from emulator.protocol import events as e
from emulator.protocol.znodes import CONTROLLER, broker_path, delete_topic_path, encode_broker, encode_controller
from emulator.trace.events import ZkWritten
from emulator.zookeeper import ZOOKEEPER
from scenarios.language.actions import all_actions, undone_by
from scenarios.observe.checkers.led_in_time import LedInTime
from scenarios.observe.history.settings_history import StartSettings
from tests.scenarios.observe.checkers.written_history import WrittenHistory

NAME = LedInTime.name
LATE_S = 12
"""Longer than a session timeout of 6 s and 5 s."""


class Cluster(WrittenHistory):
    """Brokers 0 to 3 are up; broker 3 is the controller, broker 0 leads."""

    def __init__(self, *names: str, start: StartSettings | None = None) -> None:
        super().__init__(*names, start=evolve(start or StartSettings(), undone_by=undone_by))
        all_actions()
        for broker in range(4):
            self.emit(e.NodeStarted, broker, 0)
            self.registers(broker)
        self.emit(ZkWritten, 3, "create", CONTROLLER, 0, 0, encode_controller(3, 0))
        self.emit(e.ControllerElected, 3, 1)
        self.state(0, (0, 1, 2), 0)

    def registers(self, broker: int) -> None:
        self.emit(ZkWritten, broker, "create", broker_path(broker), 0, 0, encode_broker(broker, 0))

    def dies(self, broker: int) -> None:
        """The broker's process ends, and then its session."""
        self.emit(e.NodeCrashed, broker, 0, "process")
        self.emit(ZkWritten, -1, "delete", broker_path(broker), 0, 0, "")

    def fault(self, action: str, target: str = "") -> None:
        self.emit(e.Fault, action, target, "")

    def routes(self, source: int, target: int, *, cut: bool) -> None:
        self.emit(e.RoutesChanged, cut, (source,), (target,))

    def passes(self, seconds: int = LATE_S) -> None:
        """Time passes, second by second."""
        for _ in range(seconds):
            self.world.now += 1_000_000
            self.checkers.look(self.world.now)


def leaderless() -> Cluster:
    run = Cluster(NAME)
    run.dies(0)
    return run


def test_no_leader_is_elected() -> None:
    run = leaderless()
    run.passes(11)
    assert run.violations() == []
    run.checkers.look(run.world.now + 1_000_000)
    [violation] = run.violations()
    assert violation.state == ("orders-0: leader 0, ISR [0, 1, 2], registered [1, 2, 3], for 12.0 s under controller 3")


def test_an_election_in_time() -> None:
    run = leaderless()
    run.passes(5)
    run.state(1, (1, 2), 1)
    run.passes()
    assert run.violations() == []


def test_at_rest_there_is_no_bound() -> None:
    run = leaderless()
    run.rest()
    assert run.invariants() == [NAME]


def test_a_leader_that_comes_back_leads() -> None:
    run = leaderless()
    run.passes(5)
    run.emit(e.NodeStarted, 0, 1)
    run.registers(0)
    run.passes()
    assert run.violations() == []


@pytest.mark.parametrize("isr", [(0,), (0, 1)])
def test_only_the_isr_counts(isr: tuple[int, ...]) -> None:
    run = leaderless()
    run.state(-1, isr, 1)
    run.dies(1)
    run.passes()
    assert run.violations() == []


def test_a_member_of_the_isr_that_is_not_assigned_any_more() -> None:
    run = leaderless()
    run.assigned((3,))
    run.passes()
    assert run.violations() == []


def test_a_topic_that_is_being_deleted() -> None:
    run = leaderless()
    run.emit(ZkWritten, -5, "create", delete_topic_path("orders"), 0, 0, "")
    run.passes()
    assert run.violations() == []


def test_without_a_controller_nothing_is_expected_until_there_is_one() -> None:
    run = leaderless()
    run.dies(3)
    run.passes(30)
    assert run.violations() == []
    run.emit(ZkWritten, 2, "setData", CONTROLLER, 0, 0, encode_controller(2, 0))
    run.passes(10)
    assert run.violations() == []
    run.passes(14)
    assert [violation.state.rpartition(" ")[2] for violation in run.violations()] == ["2"]


@pytest.mark.parametrize(
    ("begins", "ends"),
    [
        (("broker.pause", "3"), ("broker.resume", "3")),
        (("gate.hold", ""), ("gate.release", "")),
        (("disk.slow", "1"), ("disk.heal", "1")),
        (("link.delay", "3"), ("link.heal", "3")),
        (("host.flap", "3"), ("host.reconnect", "3")),
        (("zookeeper.stop", ""), ("heal", "0,1,2,3")),
    ],
)
def test_a_fault_that_lasts_is_an_excuse(begins: tuple[str, str], ends: tuple[str, str]) -> None:
    run = leaderless()
    run.fault(*begins)
    run.passes(30)
    run.fault(*ends)
    run.passes(10)
    assert run.violations() == []
    run.passes(14)
    assert run.invariants() == [NAME]


@pytest.mark.parametrize(("source", "target"), [(3, ZOOKEEPER), (ZOOKEEPER, 3)])
def test_a_controller_that_does_not_reach_zookeeper(source: int, target: int) -> None:
    run = leaderless()
    run.routes(source, target, cut=True)
    run.passes(30)
    run.routes(source, target, cut=False)
    run.passes(10)
    assert run.violations() == []
    run.passes(14)
    assert run.invariants() == [NAME]


def test_brokers_outside_the_core_that_is_healed() -> None:
    run = leaderless()
    run.fault("heal", "1,3")
    run.passes()
    assert run.invariants() == [NAME]
    other = leaderless()
    other.fault("heal", "0,3")
    other.passes()
    assert other.violations() == []


def test_what_operators_do_is_no_excuse() -> None:
    run = leaderless()
    for _ in range(3):
        run.fault("reassign.execute")
        run.passes(4)
    assert run.invariants() == [NAME]
