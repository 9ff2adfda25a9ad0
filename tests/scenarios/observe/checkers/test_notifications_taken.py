"""M11: what brokers announce to the controller is taken: read, and then deleted."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from emulator.protocol import events as e
from emulator.protocol.control_requests import ControlQueued
from emulator.protocol.leader_and_isr import LeaderAndIsrPartition, LeaderAndIsrRequest
from emulator.protocol.update_metadata import PartitionMetadata, UpdateMetadataRequest
from emulator.protocol.znodes import (
    ISR_CHANGE_NOTIFICATION,
    LOG_DIR_EVENT_NOTIFICATION,
    PREFERRED_REPLICA_ELECTION,
    REASSIGN_PARTITIONS,
    broker_path,
    delete_topic_path,
    encode_isr_change,
    encode_log_dir_event,
    encode_preferred_election,
    state_path,
)
from emulator.trace.events import Step, ZkSession, ZkWritten
from scenarios.observe.history.settings_history import StartSettings
from tests.scenarios.observe.checkers.test_coordinators import looks, works
from tests.scenarios.observe.checkers.test_led_in_time import Cluster
from tests.scenarios.observe.checkers.written_history import ORDERS_0

RS = (0, 1, 2)
CHANGED, LOST = f"{ISR_CHANGE_NOTIFICATION}/isr_change_0000000000", f"{LOG_DIR_EVENT_NOTIFICATION}/log_dir_event_0"


class Announced(Cluster):
    """Broker 3 is the controller, and has sent something to each broker; 0 leads ``orders-0``, whose version is 1."""

    def __init__(self, start: StartSettings | None = None) -> None:
        super().__init__("notifications_taken", start=start)
        self.assigned(RS)
        for broker in RS:
            self.sends(broker, UpdateMetadataRequest(3, 1, 0, (), RS))
        self.state(0, (0, 1), 0)

    def sends(self, broker: int, request: Any) -> None:
        self.show(ControlQueued, 3, broker, request)

    def announces(self, path: str) -> None:
        data = encode_isr_change([ORDERS_0]) if path == CHANGED else encode_log_dir_event(0)
        self.emit(ZkWritten, 0, "create", path, 0, 0, data)

    def deletes(self, path: str, by: int = 3) -> None:
        self.emit(ZkWritten, by, "delete", path, 0, 0, "")

    def states(self) -> list[str]:
        return [violation.state for violation in self.violations()]


def metadata(version: int) -> UpdateMetadataRequest:
    state = PartitionMetadata(ORDERS_0, 1, 0, 0, (0, 1), version, RS, ())
    return UpdateMetadataRequest(3, 1, 0, (state,), RS)


def led() -> LeaderAndIsrRequest:
    return LeaderAndIsrRequest(3, 1, 0, (LeaderAndIsrPartition(ORDERS_0, 1, 0, 0, RS, 1, RS, False),), RS)


@pytest.mark.parametrize(
    ("why", "violations"),
    [
        ("", 1), ("read", 0), ("read late", 1), ("an older state", 1), ("of another controller", 0), ("takes over", 0),
        ("has taken over", 1), ("deleted by a broker", 0), ("the topic is deleted", 0), ("no topic", 0),
    ],
)  # fmt: skip
def test_an_isr_is_read_before_its_announcement_is_deleted(why: str, violations: int) -> None:
    run = Announced()
    run.announces(CHANGED)
    if why in ("read", "an older state"):
        run.sends(1, metadata(1 if why == "read" else 0))
    elif why == "of another controller":
        run.emit(e.ControllerElected, 3, 2)
    elif why in ("takes over", "has taken over"):
        run.emit(Step, "failover.F2", "before", "", -1, -1, 0, 3, "")
        if why == "has taken over":
            run.emit(Step, "failover.F2", "after", "", -1, -1, 0, 3, "")
    elif why == "the topic is deleted":
        run.emit(ZkWritten, -5, "create", delete_topic_path("orders"), 0, 0, "")
    elif why == "no topic":
        run.deleted()
    run.deletes(CHANGED, by=1 if why == "deleted by a broker" else 3)
    if why == "read late":
        run.sends(1, metadata(1))
    expected = (
        f"controller 3 deletes {CHANGED}, and has sent no metadata of orders-0, of which broker 0 says there that "
    )
    assert run.states() == [f"{expected}its ISR changed"] * violations


@pytest.mark.parametrize("why", ["", "sent", "to another", "back since", "no replicas"])
def test_a_lost_log_directory_is_asked_about_before_its_announcement_is_deleted(why: str) -> None:
    run = Announced()
    run.announces(LOST)
    if why in ("sent", "to another"):
        run.sends(0 if why == "sent" else 1, led())
    elif why == "back since":
        run.dies(0)
        run.registers(0)
    elif why == "no replicas":
        run.assigned((1, 2))
    run.deletes(LOST)
    found = why in ("", "to another")
    expected = f"controller 3 deletes {LOST}, and has sent broker 0, which lost a log directory, no LeaderAndIsr"
    assert run.states() == ([expected] if found else [])


@pytest.mark.parametrize("why", ["", "announced", "crashed", "registers again", "halts", "starts", "cut off"])
def test_a_broker_that_loses_a_log_directory_announces_it(why: str) -> None:
    run = Announced()
    run.emit(ZkSession, 0, 1, "created")
    if why == "starts":
        run.emit(e.NodeCrashed, 0, 0, "process")
        run.emit(e.NodeStarted, 0, 1)
    run.emit(e.LogDirFailed, 0, "/data/1", "injected by the scenario", 1, why == "halts")
    if why == "announced":
        run.announces(LOST)
        run.sends(0, led())
        run.deletes(LOST)
    elif why == "crashed":
        run.emit(e.NodeCrashed, 0, 0, "process")
    elif why == "registers again":
        run.dies(0)
        run.registers(0)
    elif why == "cut off":
        run.routes(0, -1, cut=True)
    run.passes(25)
    late = "broker 0 lost /data/1 10.0 s ago, and has announced nothing to the controller"
    assert run.states() == ([] if why else [late])


@pytest.mark.parametrize(("deleted", "bounces", "violations"), [(True, True, 0), (False, True, 1), (False, False, 0)])
def test_a_request_for_elections_is_deleted(deleted: bool, bounces: bool, violations: int) -> None:
    run = Announced(evolve(StartSettings(), detects_bounces=bounces))
    data = encode_preferred_election([ORDERS_0])
    run.emit(ZkWritten, -5, "create", PREFERRED_REPLICA_ELECTION, 0, 0, data)
    if deleted:
        run.deletes(PREFERRED_REPLICA_ELECTION)
    run.passes(6)
    run.emit(Step, "wiki.11", "after", "orders", 0, -1, 0, 3, "")
    run.passes(12)
    assert len(run.violations()) == violations


@pytest.mark.parametrize(
    ("happens", "epoch", "writes", "count"),
    [("", 0, True, 1), ("announced", 0, True, 0), ("", 1, True, 0), ("cut", 0, True, 0), ("", 0, False, 0)],
    ids=["forgotten", "announced", "written by the controller", "disturbed", "asked of the controller"],
)
def test_a_leader_announces_the_isrs_that_it_writes(happens: str, epoch: int, writes: bool, count: int) -> None:
    run = Cluster("notifications_taken", start=StartSettings(awaits_isr_writes=writes))
    run.passes(20)
    data = run.encoded(0, (0, 1), epoch, 1)
    run.emit(ZkWritten, 0, "setData", state_path(ORDERS_0), run.version + 1, 0, data)
    if happens == "announced":
        run.emit(ZkWritten, 0, "create", CHANGED, 0, 7, encode_isr_change((ORDERS_0,)))
    elif happens == "cut":
        run.fault("message.cut", "0")
    run.passes(12)
    assert len(run.violations()) == count


@pytest.mark.parametrize("taken", [True, False])
def test_announcements_are_taken(taken: bool) -> None:
    run = works("notifications_taken")
    run.emit(ZkWritten, 1, "create", CHANGED, 0, 7, encode_isr_change([]))
    if taken:
        run.emit(ZkWritten, 0, "delete", CHANGED, 0, 8, "")
    assert looks(run, 20) == [], "the controller's thread may be held"
    run.emit(Step, "broker-startup.1", "", "", -1, 1, -1, 0, "")
    found = looks(run, 20)
    assert (found == []) is taken
    assert taken or found[0].startswith(f"{CHANGED} is there for")


@pytest.mark.parametrize(("begins", "violations"), [("a move", 0), ("", 1), ("a part is over", 0)])
def test_a_request_for_moves_is_begun(begins: str, violations: int) -> None:
    run = Announced(evolve(StartSettings(), detects_bounces=True))
    run.emit(ZkWritten, -5, "create", REASSIGN_PARTITIONS, 0, 0, '{"version":1,"partitions":[]}')
    if begins == "a move":
        run.emit(Step, "wiki.1", "before", "orders", 0, -1, 0, 3, "to 0,1")
    elif begins:
        run.emit(ZkWritten, 3, "setData", REASSIGN_PARTITIONS, 0, 0, '{"version":1,"partitions":[]}')
    run.passes(6)
    run.emit(Step, "broker-startup.1", "after", "", -1, 1, 0, 3, "")
    run.passes(12)
    assert len(run.violations()) == violations


@pytest.mark.parametrize(("begins", "violations"), [(True, 1), (False, 0)], ids=["was known", "came and went"])
def test_a_broker_that_comes_and_goes_need_not_be_seen(begins: bool, violations: int) -> None:
    run = Announced(evolve(StartSettings(), detects_bounces=True))
    run.emit(Step, "failover.F3", "after", "", -1, -1, 0, 3, "")
    run.emit(ZkWritten, 0, "create", broker_path(0), 0, 0, "{}")
    if begins:
        run.emit(Step, "broker-startup.1", "before", "", -1, 0, 0, 3, "")
    run.emit(ZkWritten, -1, "delete", broker_path(0), 0, 0, "")
    run.passes(6)
    run.emit(Step, "broker-startup.1", "after", "", -1, 1, 0, 3, "")
    run.passes(12)
    assert len(run.violations()) == violations
