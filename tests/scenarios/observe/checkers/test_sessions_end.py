"""E11: ZooKeeper ends the sessions that are silent, with what belongs to them, and no others."""

from __future__ import annotations

import pytest

from emulator.trace.events import ZkSession
from emulator.trace.shown_znodes import ExpiryInjected
from emulator.zookeeper import ZOOKEEPER
from tests.scenarios.observe.checkers.test_led_in_time import Cluster


def cluster() -> Cluster:
    """Each broker has a session of the number after its own."""
    run = Cluster("sessions_end")
    for broker in range(4):
        run.emit(ZkSession, broker, broker + 1, "created")
    run.passes(20)
    assert run.violations() == []
    run = Cluster("sessions_end")
    for broker in range(4):
        run.emit(ZkSession, broker, broker + 1, "created")
    run.passes(20)
    return run


def expires(run: Cluster, broker: int) -> None:
    run.emit(ZkSession, broker, broker + 1, "expired")


def test_znodes_that_outlive_their_session() -> None:
    run = cluster()
    run.emit(ZkSession, 3, 4, "closed")
    run.passes(3)
    assert [violation.state for violation in run.violations()] == [
        "/brokers/ids/3 is there, and broker 3 has no session",
        "/controller is there, and broker 3 has no session",
    ]


def test_a_session_that_expires_though_it_is_heard() -> None:
    run = cluster()
    expires(run, 1)
    [violation] = run.violations()
    assert violation.state == "session 2 of broker 1 expires, and the broker runs and reaches ZooKeeper"


def test_sessions_that_may_expire() -> None:
    run = cluster()
    run.fault("zk.expire", "1")
    expires(run, 1)
    run.passes(20)
    run.registers(1)
    assert all("expires" not in violation.state for violation in run.violations())
    run = cluster()
    run.routes(1, ZOOKEEPER, cut=True)
    run.world.now += 20_000_000
    expires(run, 1)
    assert run.violations() == []
    run = cluster()
    run.emit(ZkSession, 1, 9, "created")  # the first attempt to connect was given up
    expires(run, 1)
    assert run.violations() == []


def test_a_session_whose_process_has_ended() -> None:
    run = cluster()
    run.dies(1)
    run.passes(10)
    expires(run, 1)
    run.passes(20)
    assert run.violations() == []
    run = cluster()
    run.dies(1)
    run.passes(12)
    [violation] = run.violations()
    assert "session 2 of broker 1 lives, 11" in violation.state


@pytest.mark.parametrize(("later_us", "count"), [(0, 1), (3_000_000, 1), (7_000_000, 0)])
def test_a_session_has_its_whole_timeout_when_zookeeper_is_back(later_us: int, count: int) -> None:
    run = cluster()
    run.fault("zookeeper.stop")
    run.passes(20)
    run.fault("zookeeper.start")
    run.world.now += later_us - 1000
    expires(run, 1)
    assert len(run.violations()) == count


def test_a_scenario_may_end_a_session_as_zookeeper_is_back() -> None:
    run = cluster()
    run.fault("zookeeper.stop")
    run.fault("zookeeper.start")
    run.trace.show(ExpiryInjected, 1, 2)
    run.world.now -= 1000
    expires(run, 1)
    assert run.violations() == []
