"""M16: a step of a procedure has done what it says when it ends; the widened M11 and T8."""

from __future__ import annotations

from typing import Any

import pytest

from emulator.metrics.metric_events import MetricRegistered, MetricRemoved
from emulator.protocol import events as e
from emulator.protocol.control_requests import ControlQueued
from emulator.protocol.leader_and_isr import LeaderAndIsrPartition, LeaderAndIsrRequest
from emulator.protocol.stop_replica import StopReplicaRequest
from emulator.protocol.types import TopicPartition
from emulator.protocol.update_metadata import PartitionMetadata, UpdateMetadataRequest
from emulator.protocol.znodes import (
    CONFIG_TOPICS,
    LeaderAndIsr,
    delete_topic_path,
    encode_topic,
    state_path,
    topic_path,
)
from emulator.trace.events import Step, ZkWritten
from scenarios.observe.history.settings_history import StartSettings
from tests.scenarios.observe.checkers.test_led_in_time import Cluster
from tests.scenarios.observe.checkers.written_history import ORDERS_0

RS = (0, 1, 2)
SETTINGS = f"{CONFIG_TOPICS}/orders"


class Controller(Cluster):
    """Broker 3 is the controller; ``orders-0`` is on brokers 0, 1 and 2."""

    def __init__(self, *names: str, start: StartSettings | None = None) -> None:
        super().__init__(*names, start=start)
        self.assigned(RS)
        if "notifications_taken" in names:
            self.step("failover.F3", "after", topic="", partition=-1, detail="")

    def step(
        self, name: str, edge: str, *, detail: str = "to 0,1,2", partition: int = 0, topic: str = "orders"
    ) -> None:
        self.emit(Step, name, edge, topic, partition, -1, 0, 3, detail)

    def queued(self, broker: int, request: Any) -> None:
        self.show(ControlQueued, 3, broker, request)

    def states(self) -> list[str]:
        return [violation.state for violation in self.violations()]


def metadata(*live: int, offline: tuple[int, ...] = (), replicas: tuple[int, ...] = RS) -> UpdateMetadataRequest:
    return UpdateMetadataRequest(3, 1, 1, (PartitionMetadata(ORDERS_0, 1, 0, 0, RS, 0, replicas, offline),), live)


def test_settings_that_a_deletion_leaves() -> None:
    run = Controller("steps_done")
    run.emit(ZkWritten, -2, "create", SETTINGS, 0, 0, "")
    run.step("delete.config", "before", partition=-1)
    run.step("delete.config", "after", partition=-1)
    assert run.states() == ["orders: delete.config ends on controller 3, and what it deletes is still there"]


@pytest.mark.parametrize("by", [3, -2])
def test_settings_that_are_gone_or_that_someone_else_has_made(by: int) -> None:
    run = Controller("steps_done")
    run.emit(ZkWritten, -2, "create", SETTINGS, 0, 0, "")
    run.step("delete.config", "before", partition=-1)
    run.emit(ZkWritten, 3, "delete", SETTINGS, 0, 0, "")
    if by < 0:
        run.emit(ZkWritten, by, "create", SETTINGS, 0, 0, "")
    run.step("delete.config", "after", partition=-1)
    assert run.states() == []


def test_a_step_that_is_left_out() -> None:
    run = Controller("steps_done")
    for name in ("new-partition.1", "new-partition.2", "new-partition.4"):
        run.step(name, "before", partition=-1)
        run.step(name, "after", partition=-1)
    assert run.states() == ["orders: controller 3 leaves out new-partition.3"]


@pytest.mark.parametrize(("isr", "found"), [((0, 1), 1), ((0, 1, 2, 3), 0)])
def test_a_target_that_is_in_sync_is_not_assigned_first(isr: tuple[int, ...], found: int) -> None:
    """wiki-text, seed 21034: a replica had left the assignment, its controller died, and it was still in the ISR."""
    run = Controller("steps_done")
    run.state(0, isr, 1)
    run.step("wiki.1", "before", detail="to 0,3")
    run.step("wiki.1", "after", detail="to 0,3")
    assert len(run.states()) == found


def test_a_controller_that_is_replaced_goes_on_with_nothing() -> None:
    run = Controller("steps_done")
    run.step("delete.forget", "after", partition=-1)
    run.emit(e.ControllerResigned, 3, 1)
    run.step("failover.F1", "before", topic="", partition=-1, detail="")
    assert run.states() == []


@pytest.mark.parametrize("told", [RS, (0, 1)])
def test_the_last_step_of_a_move_tells_all_brokers(told: tuple[int, ...]) -> None:
    run = Controller("steps_done")
    run.step("wiki.12", "before")
    for broker in (*told, 3):
        run.queued(broker, metadata(*range(4)))
    run.step("wiki.12", "after")
    left = ["orders-0: wiki.12 ends on controller 3, and no UpdateMetadata was sent to broker 2"]
    assert run.states() == ([] if told == RS else left)


@pytest.mark.parametrize("deletes", [True, False])
def test_what_leaves_is_deleted(deletes: bool) -> None:
    run = Controller("steps_done")
    run.step("kip-455.B5", "before", detail="to 0,1")
    run.queued(2, StopReplicaRequest(3, 1, 1, deletes, (ORDERS_0,)))
    run.step("kip-455.B5", "after", detail="to 0,1")
    left = ["orders-0: kip-455.B5 ends on controller 3, and no StopReplica was sent to broker 2"]
    assert run.states() == ([] if deletes else left)


@pytest.mark.parametrize("stops", [True, False])
def test_what_leaves_is_stopped_since_0_8_1(stops: bool) -> None:
    run = Controller("steps_done", start=StartSettings(stops_offline=stops))
    run.step("wiki.8", "before", detail="to 0,1")
    run.step("wiki.8", "after", detail="to 0,1")
    left = ["orders-0: wiki.8 ends on controller 3, and no StopReplica was sent to broker 2"]
    assert run.states() == (left if stops else [])


@pytest.mark.parametrize(("path", "count"), [("orders", 0), ("other", 2)])
def test_a_move_beside_the_deletion_of_its_topic_neither_elects_nor_stops(path: str, count: int) -> None:
    """kafka-2.4, seed 16109: what the deletion has brought offline can do neither."""
    run = Controller("steps_done")
    run.emit(ZkWritten, -2, "create", delete_topic_path(path), 0, 0, "")
    for step in ("kip-455.B3", "kip-455.B4"):
        run.step(step, "before", detail="to 0,1")
        run.step(step, "after", detail="to 0,1")
    assert len(run.states()) == count


@pytest.mark.parametrize("epoch", [0, 1])
def test_a_leader_that_stays_is_sent_with_a_new_epoch(epoch: int) -> None:
    run = Controller("steps_done")
    run.step("wiki.7", "before")
    run.state(0, RS, epoch)
    for broker in RS:
        state = LeaderAndIsrPartition(ORDERS_0, 1, 0, epoch, RS, 0, RS, False)
        run.queued(broker, LeaderAndIsrRequest(3, 1, 1, (state,), RS))
    run.step("wiki.7", "after")
    assert run.states() == (
        [] if epoch else ["orders-0: wiki.7 ends on controller 3, and the leader epoch has not risen"]
    )


@pytest.mark.parametrize("registers", [False, True])
def test_a_directory_has_failed_until_the_broker_registers_again(registers: bool) -> None:
    """kafka-2.7, seed 21015: a broker is killed and started within its session, and its directory is well again."""
    run = Controller("steps_done")
    run.emit(e.LogDirFailed, 0, "/data/0", "", 1, False)
    run.emit(e.NodeCrashed, 0, 0, "process")
    run.emit(e.NodeStarted, 0, 1)
    if registers:
        run.registers(0)
    run.queued(0, metadata(*RS))
    run.state(0, (0,), 0)
    run.step("wiki.7", "before")
    run.step("wiki.7", "after")
    assert len(run.states()) == registers


@pytest.mark.parametrize(("by", "sent"), [(2, True), (3, True), (2, False)])
def test_a_new_controller_has_not_read_what_a_replaced_one_creates_meanwhile(by: int, sent: bool) -> None:
    """kafka-1.1, seed 12016: it elects first leaders of a topic while the next one is in its failover (KAFKA-6082)."""
    run = Controller("steps_done")
    run.emit(ZkWritten, -2, "create", topic_path("made"), 0, 0, encode_topic({0: (1,)}))
    made = TopicPartition("made", 0)
    run.emit(ZkWritten, by, "create", state_path(made), 0, 0, LeaderAndIsr(1, 0, (1,), 0).encode())
    run.step("failover.F6", "before", topic="", partition=-1, detail="")
    state = LeaderAndIsrPartition(ORDERS_0, 1, 0, 0, RS, 0, RS, False)
    for broker in RS if sent else ():
        run.queued(broker, LeaderAndIsrRequest(3, 1, 1, (state,), RS))
    run.step("failover.F6", "after", topic="", partition=-1, detail="")
    left = {(2, True): (), (3, True): (1,), (2, False): RS}[by, sent]
    assert run.states() == [
        f"failover.F6 ends on controller 3, and no LeaderAndIsr was sent to broker {broker}" for broker in left
    ]


# -- notifications_taken ----------------------------------------------------------------------------------------------


def goes_on(run: Controller) -> None:
    """The controller does something else meanwhile: its thread is not held."""
    run.passes(6)
    run.step("wiki.11", "after")
    run.passes(7)


@pytest.mark.parametrize("begun", [True, False])
def test_a_deletion_that_is_asked_for_is_begun(begun: bool) -> None:
    run = Controller("notifications_taken")
    run.emit(ZkWritten, -5, "create", delete_topic_path("orders"), 0, 0, "")
    if begun:
        run.step("delete.queue", "before", partition=-1)
    goes_on(run)
    late = (
        "/admin/delete_topics/orders has changed 6.0 s ago, and controller 3, which works, has not begun delete.queue"
    )
    assert run.states() == ([] if begun else [late])


@pytest.mark.parametrize(("held", "found"), [(False, ["notifications_taken"]), (True, [])])
def test_a_broker_that_is_gone_is_handled(held: bool, found: list[str]) -> None:
    run = Controller("notifications_taken")
    run.dies(2)
    if held:
        run.passes(13)
    else:
        goes_on(run)
    assert run.invariants() == found


# -- counts_true ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("removed", [True, False])
def test_metrics_of_a_thread_that_has_ended(removed: bool) -> None:
    run = Controller("counts_true")
    metric = (
        "kafka.server:type=FetcherStats,name=BytesPerSec,clientId=ReplicaFetcherThread-0-2,brokerHost=b,brokerPort=1"
    )
    run.emit(MetricRegistered, 0, "meter", metric)
    run.emit(e.FetcherStarted, 0, "ReplicaFetcherThread-0-2", 2)
    run.passes(1)
    run.emit(e.FetcherStopped, 0, "ReplicaFetcherThread-0-2", 2, "idle", "", -1, "")
    if removed:
        run.emit(MetricRemoved, 0, metric)
    run.passes(1)
    assert run.states() == ([] if removed else [f"broker 0 shows {metric}, and what it measured is gone"])


@pytest.mark.parametrize(("isr", "written", "found"), [((0, 2), True, 0), (RS, False, 1), (RS, True, 0)])
def test_a_broker_that_shuts_down_leaves_the_isrs(isr: tuple[int, ...], written: bool, found: int) -> None:
    """A leader that has written the ISR meanwhile may have taken the broker in again."""
    run = Controller("steps_done")
    for number in (1, 2, 3):
        run.emit(Step, f"shutdown.{number}", "before", "", -1, 1, 0, 3, "")
        if number == 2:
            run.queued(1, StopReplicaRequest(3, 1, 1, False, (ORDERS_0,)))
        elif number == 3 and written:
            run.state(0, isr, 1)
        run.emit(Step, f"shutdown.{number}", "after", "", -1, 1, 0, 3, "")
    assert run.states() == ["shutdown.3 ends on controller 3, and an ISR still has broker 1"] * found
