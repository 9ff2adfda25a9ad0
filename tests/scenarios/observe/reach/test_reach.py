"""Reach of a run: each counter from the events that it is for, and the names of all that can be reached."""

from __future__ import annotations

from typing import Any

import pytest

from emulator.protocol import events as e
from emulator.protocol.control_requests import PartitionsChanged, ReplicasChanged
from emulator.protocol.types import TopicPartition
from emulator.trace.events import Step
from scenarios.observe.reach import Reach, never, reachable
from scenarios.observe.reach.reach import PARTS
from scenarios.profiles import PROFILES
from scenarios.runs import run_scenario
from tests.scenarios.observe.checkers.written_history import ORDERS_0, WrittenHistory
from tests.scenarios.runs.building import EXECUTE, Table, scenario

ORDERS_1 = TopicPartition("orders", 1)


class Watched(WrittenHistory):
    """A written history, and what it reaches."""

    def __init__(self) -> None:
        super().__init__("append_shape")
        self.reach = Reach(self.trace)

    def step(self, step: str, edge: str, node: int = 0, tp: Any = ORDERS_0) -> None:
        self.emit(Step, step, edge, *tp, -1, 0, node, "")

    def elected(self, node: int, epoch: int) -> None:
        self.emit(e.ControllerElected, node, epoch)

    def fault(self, action: str) -> None:
        self.emit(e.Fault, action, "0", "")

    @property
    def found(self) -> dict[str, int]:
        return {name: count for name, count in self.reach.counts.items() if not name.startswith("step ")}


NO_TOPIC = ("", -1)


def test_a_failover_within_a_step_and_the_move_that_goes_on() -> None:
    run = Watched()
    run.elected(0, 1)
    run.step("wiki.3", "before")
    run.step("wiki.3", "after")
    run.step("wiki.4", "before")
    run.fault("controller.crash")
    run.emit(e.NodeCrashed, 0, 1, "process")
    run.elected(1, 2)
    run.step("failover.F8", "before", 1, NO_TOPIC)
    run.step("wiki.1", "before", 1)
    assert run.found == {
        "controller elected": 2, "controller.crash in wiki.4": 1, "failover in wiki.4": 1, "resumption after wiki.4": 1,
    }  # fmt: skip
    assert run.reach.counts["step wiki.3"] == 1


def test_a_fault_at_the_edge_after_a_step_counts_for_it() -> None:
    run = Watched()
    run.elected(0, 1)
    run.step("failover.F7", "before", 0, NO_TOPIC)
    run.step("failover.F7", "after", 0, NO_TOPIC)
    run.trace.emit(e.Fault, "zk.expire", "0", "")
    run.trace.emit(e.ControllerResigned, 0, 1)
    run.elected(1, 2)
    found = {"zk.expire in failover.F7": 1, "failover in failover.F7": 1, "controller resigned": 1}
    assert run.found == {"controller elected": 2, **found}


def test_a_fault_while_nothing_is_under_way_counts_for_no_step() -> None:
    run = Watched()
    run.elected(0, 1)
    run.step("wiki.11", "before")
    run.step("wiki.11", "after")
    run.fault("broker.pause")
    assert run.found == {"controller elected": 1}


def test_a_controller_that_lives_on_when_it_is_replaced() -> None:
    run = Watched()
    run.emit(e.NodeStarted, 0, 1)
    run.elected(0, 1)
    run.elected(1, 2)
    assert run.found == {"controller elected": 2, "a replaced controller lives on": 1}


def test_a_leader_that_appends_after_zookeeper_has_another_one() -> None:
    run = Watched()
    run.emit(e.NodeStarted, 0, 1)
    run.begin()
    run.append(0, 0, 1, leader=True)
    run.state(1, (1, 2), 1)
    run.append(0, 10, 2, leader=True)
    run.leads(1, 1)
    run.append(1, 10, 3, 1, leader=True)
    run.follows(0, 1, 1)
    assert run.reach.counts["a replaced leader appends"] == 1


def test_requests_of_two_controllers_race() -> None:
    run = Watched()
    for api, controller in (("StopReplica", 0), ("LeaderAndIsr", 1)):
        run.emit(e.ControlRequest, api, controller, 3, controller, -1, 1, "")
    run.emit(e.ControlResponse, "LeaderAndIsr", 3, 1, 1, "NONE", ("orders-0",), ("UNKNOWN_SERVER_ERROR",))
    run.emit(e.ControlResponse, "StopReplica", 3, 0, 0, "STALE_CONTROLLER_EPOCH", (), ())
    assert run.found == {
        "StopReplica races LeaderAndIsr": 1, "LeaderAndIsr refused for partitions": 1,
        "StopReplica refused: STALE_CONTROLLER_EPOCH": 1,
    }  # fmt: skip


def test_one_controller_s_requests_do_not_race() -> None:
    run = Watched()
    for api in ("LeaderAndIsr", "StopReplica"):
        run.emit(e.ControlRequest, api, 0, 3, 1, -1, 1, "")
    assert run.found == {}


def test_the_states_of_partitions_and_replicas() -> None:
    run = Watched()
    run.trace.show(PartitionsChanged, 3, (ORDERS_0, ORDERS_1), (1, 1), 2)
    run.trace.show(ReplicasChanged, 3, 1, (ORDERS_0, ORDERS_1), (2, 7), 3)
    found = ["partition ONLINE to OFFLINE", "replica ONLINE to OFFLINE", "replica NON_EXISTENT to OFFLINE"]
    assert run.found == dict.fromkeys(found, 1)
    assert found[-1] not in reachable("kafka-2.3")
    assert set(found[:-1]) <= set(reachable("kafka-2.3"))


@pytest.mark.parametrize(
    ("event", "name"),
    [
        ((e.PartitionFailed, 1, "f", *ORDERS_0, 0, "append: broken", "DiskError"), "partition failed: append"),
        ((e.PartitionFailureCleared, 1, *ORDERS_0, "epoch"), "failed partition taken up: epoch"),
        ((e.IsrUpdateFailed, 1, *ORDERS_0, 0), "ISR change refused"),
        ((e.IsrChanged, 1, *ORDERS_0, 0, "shrink", (1, 2), 3), "ISR shrink"),
        ((e.LogRecovered, 1, *ORDERS_0, 0, 1, "torn"), "log recovered: torn"),
        ((e.Truncated, 1, *ORDERS_0, 0, 10, 5), "truncation above the high watermark"),
        ((e.Truncated, 1, *ORDERS_0, 0, 10, 10), "truncation to the high watermark or below"),
        ((e.Truncated, 1, *ORDERS_0, 0, 0, 0), "truncation of everything"),
        ((e.LeaderElected, *ORDERS_0, 1, 1, (1,), "offline", 1, True), "leader elected: offline, unclean"),
        ((e.AckedLost, *ORDERS_0, -1, False, True, 1, 10, 1, 0, 10, 1, 1, 0), "lost with acks=all: unflushed"),
        ((e.MoveAnswered, *ORDERS_0, "INVALID_REPLICA_ASSIGNMENT"), "move refused: INVALID_REPLICA_ASSIGNMENT"),
    ],
)
def test_what_one_event_shows(event: tuple[Any, ...], name: str) -> None:
    run = Watched()
    run.emit(*event)
    assert run.found == {name: 1}
    assert name in reachable("kafka-2.4")


def test_every_name_of_a_release_is_there_once_and_says_what_it_has() -> None:
    for profile in PROFILES:
        names = reachable(profile)
        assert len(set(names)) == len(names)
    assert len(PARTS) == len(dict.fromkeys(PARTS))
    new, old = reachable("kafka-2.4"), reachable("kafka-0.8")
    assert "failover in kip-455.B3" in new
    assert "failover in wiki.4" not in new
    assert "broker.crash in kafka-42.3" in old
    assert "LeaderAndIsr refused: STALE_BROKER_EPOCH" not in old
    assert "failed partition taken up: epoch" not in old
    assert not any("delete." in name for name in old)
    assert "failover in kafka-6794.5" in reachable("kafka-2.3", "kafka-6794")


MOVE: dict[str, Any] = {"brokers": 4, "controller": 3, "assignment": [[0, 1]], "plan": {0: [1, 2]}, "rate": 0}


def test_a_run_counts_only_where_it_is_asked_to_and_then_the_same_events() -> None:
    crash: Table = {"when": {"step": "wiki.5", "edge": "before"}, "action": "controller.crash"}
    wanted = scenario(**MOVE, method=[EXECUTE, crash])
    plain, counted = run_scenario(wanted), run_scenario(wanted, counts_reach=True)
    assert plain.reach == {}
    assert plain.digest == counted.digest
    assert counted.reach["failover in wiki.5"] == 1
    assert counted.reach["controller.crash in wiki.5"] == 1
    assert counted.reach["resumption after wiki.5"] == 1
    assert counted.reach["replica NON_EXISTENT to NEW"] > 0
    missing = never(counted.reach, reachable("kafka-2.3"))
    assert "failover in wiki.5" not in missing
    assert "failover in wiki.6" in missing
