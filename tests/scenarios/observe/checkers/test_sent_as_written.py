"""M15: what a controller sends is what ZooKeeper has, or had, in each field."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from emulator.protocol import events as e
from emulator.protocol.assignments import ReassigningReplicas
from emulator.protocol.control_requests import ControlChannelClosed, ControlQueued, ReplicasChanged
from emulator.protocol.leader_and_isr import LeaderAndIsrPartition, LeaderAndIsrRequest
from emulator.protocol.stop_replica import EPOCH_DURING_DELETE, NO_EPOCH, StopReplicaRequest
from emulator.protocol.types import TopicPartition
from emulator.protocol.update_metadata import PartitionMetadata, UpdateMetadataRequest
from emulator.protocol.znodes import delete_topic_path, encode_topic, topic_path
from emulator.trace.events import Step, ZkWritten
from tests.scenarios.observe.checkers.test_led_in_time import Cluster
from tests.scenarios.observe.checkers.written_history import ORDERS_0

RS = (0, 1, 2)
LIVE = (0, 1, 2, 3)
ID = "AAAAAAAAAAAAAAAAAAAAAQ"


class Sender(Cluster):
    """Broker 3 is the controller of epoch 1; ``orders-0`` is on brokers 0, 1 and 2, all registered as of epoch 0."""

    def __init__(self) -> None:
        super().__init__("sent_as_written")
        self.assigned(RS)

    def queued(self, broker: int, request: Any) -> None:
        self.show(ControlQueued, 3, broker, request)

    def step(self, name: str, edge: str, broker: int) -> None:
        self.emit(Step, name, edge, "", -1, broker, 0, 3, "")

    def states(self) -> list[str]:
        return [violation.state for violation in self.violations()]


def led(**changes: Any) -> LeaderAndIsrRequest:
    """A LeaderAndIsr about ``orders-0``, of which parts are changed."""
    state = LeaderAndIsrPartition(ORDERS_0, 1, 0, 0, RS, 0, RS, False)
    own = {name: changes.pop(name) for name in list(changes) if hasattr(state, name)}
    return evolve(LeaderAndIsrRequest(3, 1, 0, (evolve(state, **own),), RS), **changes)


def metadata(*live: int, offline: tuple[int, ...] = (), **changes: Any) -> UpdateMetadataRequest:
    state = PartitionMetadata(ORDERS_0, 1, 0, 0, RS, 0, RS, offline)
    return UpdateMetadataRequest(3, 1, 0, (evolve(state, **changes),), live)


def stop(epoch: int, tp: TopicPartition = ORDERS_0) -> StopReplicaRequest:
    return StopReplicaRequest(3, 1, 0, False, (tp,), (epoch,))


# -- the living -------------------------------------------------------------------------------------------------------


def test_a_broker_that_is_known_to_be_dead_is_called_alive() -> None:
    run = Sender()
    run.dies(2)
    run.step("broker-failure.1", "before", 2)
    run.queued(0, metadata(0, 1, 3, offline=(2,)))
    run.queued(0, metadata(0, 1, 2, 3))
    assert run.states() == ["controller 3 sends broker 0 that broker 2 is alive, and has begun to handle its end"]


def test_a_log_directory_that_fails_is_no_end_of_its_broker() -> None:
    """kafka-2.3, seed 15039: its broker was gone by then, and the controller had not looked at /brokers/ids."""
    run = Sender()
    run.dies(2)
    run.emit(Step, "broker-failure.1", "before", "", -1, 2, 0, 3, "log directories")
    run.queued(0, metadata(*LIVE))
    assert run.states() == []


def test_a_broker_that_is_sent_that_it_does_not_live() -> None:
    run = Sender()
    run.queued(2, metadata(0, 1, offline=(2,)))
    assert run.states() == ["controller 3 sends broker 2 that [0, 1] are alive"]


@pytest.mark.parametrize("why", ["", "not known", "back since", "its channel was closed"])
def test_a_broker_that_its_controller_knows_is_left_out(why: str) -> None:
    run = Sender()
    if why != "not known":
        run.queued(2, metadata(*LIVE))
    if why == "back since":
        run.dies(2)
        run.registers(2)
    if why == "its channel was closed":
        run.show(ControlChannelClosed, 3, 2, False)
    run.queued(0, metadata(0, 1, 3, offline=(2,)))
    expected = "controller 3 sends broker 0 UpdateMetadata with live_brokers [0, 1, 3]; it is also broker 2"
    assert run.states() == ([] if why else [expected])


@pytest.mark.parametrize(("named", "count"), [(True, 0), (False, 1)])
def test_all_brokers_get_the_metadata_of_what_a_leader_and_isr_names(named: bool, count: int) -> None:
    run = Sender()
    run.queued(0, led())
    run.queued(0, metadata(*LIVE) if named else UpdateMetadataRequest(3, 1, 0, (), LIVE))
    run.queued(0, UpdateMetadataRequest(3, 1, 0, (), LIVE))
    expected = "orders-0: controller 3 sends broker 0 UpdateMetadata with leader none; it is in the LeaderAndIsr before"
    assert run.states() == [expected] * count


# -- offline replicas -------------------------------------------------------------------------------------------------


def test_a_replica_that_does_not_live_and_is_not_offline() -> None:
    run = Sender()
    run.queued(0, metadata(0, 1, 3))
    assert run.states() == [
        "orders-0: controller 3 sends that of the replicas [0, 1, 2] [] are offline, and that [0, 1, 3] are alive"
    ]


@pytest.mark.parametrize(
    "why",
    [
        "",
        "shuts down",
        "has shut down",
        "shut down before the controller",
        "lost a directory",
        "had one",
        "had one before the controller",
    ],
)
def test_a_replica_that_is_called_offline(why: str) -> None:
    run = Sender()
    if "shut" in why:
        run.step("shutdown.1", "before", 2)
    if why == "has shut down":
        run.step("broker-failure.1", "before", 2)
    if why.startswith("had") or why.endswith("directory"):
        run.emit(e.LogDirFailed, 2, "/data/0", "injected by the scenario", 1, False)
    if why.startswith("had"):
        run.emit(e.NodeCrashed, 2, 0, "process")
        run.emit(e.NodeStarted, 2, 1)
        run.registers(2)
    if why == "had one":
        run.step("broker-startup.1", "before", 2)
    if why.endswith("before the controller"):
        run.emit(e.ControllerElected, 3, 1)
    run.queued(0, metadata(*LIVE, offline=(2,)))
    fits = why in ("shuts down", "lost a directory")
    expected = "orders-0: controller 3 sends that of the replicas [0, 1, 2] [2] are offline, and that [0, 1, 2, 3] are "
    assert run.states() == ([] if fits else [f"{expected}alive"])


@pytest.mark.parametrize("is_replaced", [False, True])
def test_a_replica_of_a_broker_that_shuts_down_is_offline(is_replaced: bool) -> None:
    """kafka-2.4, seed 28012: so it is for a controller that does not know yet that another one is elected."""
    run = Sender()
    run.step("shutdown.1", "before", 2)
    if is_replaced:
        run.emit(e.ControllerElected, 1, 2)
    run.queued(0, metadata(*LIVE, offline=(2,)))
    assert run.violations() == []
    run.queued(0, metadata(*LIVE))
    assert len(run.violations()) == 1


# -- states -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("api", ["LeaderAndIsr", "UpdateMetadata"])
def test_a_state_that_is_sent_as_it_was_written(api: str) -> None:
    run = Sender()
    run.state(0, RS, 1)
    version = run.version
    run.state(0, (0, 1), 1)

    def says(isr: tuple[int, ...], version: int) -> Any:
        changes: dict[str, Any] = {"isr": isr, "leader_epoch": 1, "zk_version": version}
        return led(**changes) if api == "LeaderAndIsr" else metadata(*LIVE, **changes)

    run.queued(1, says(RS, version))
    run.queued(1, says((0, 1), version + 1))
    assert run.violations() == []
    run.queued(1, says(RS, version + 1))
    run.queued(1, says(RS, version + 2))
    has = f"leader 0 of leader epoch 1, ISR [0, 1, 2], as version {version + 1}"
    assert run.states() == [
        f"orders-0: controller 3 sends broker 1 {has}; that was leader 0 of leader epoch 1, ISR [0, 1]",
        f"orders-0: controller 3 sends broker 1 {api} with zk_version {version + 2}; it is {version + 1}",
    ]


def test_the_controller_epoch_of_a_state_is_that_of_its_write_or_of_the_sender() -> None:
    run = Sender()
    run.emit(e.ControllerElected, 3, 2)
    for epoch in (1, 2, 3):
        run.queued(0, evolve(led(), controller_epoch=2, partitions=led(controller_epoch=epoch).partitions))
    assert run.states() == [
        "orders-0: controller 3 sends broker 0 LeaderAndIsr with controller_epoch of the state 3; it is 1"
    ]


@pytest.mark.parametrize(
    ("changes", "field", "wanted"),
    [
        ({"recovering": True}, "recovering True", "False"),
        ({"replicas": (0, 1)}, "replicas [0, 1]", "[0, 1, 2]"),
        ({"is_new": True, "zk_version": 1, "leader_epoch": 1}, "is_new True", "False"),
        ({"controller_id": 2}, "controller_id 2", "3"),
        ({"broker_epoch": 7}, "broker_epoch 7", "0"),
    ],
)
def test_a_field_that_is_otherwise(changes: dict[str, Any], field: str, wanted: str) -> None:
    run = Sender()
    run.state(0, RS, 1)
    run.queued(1, led())
    assert run.states() == []
    run.queued(1, led(**changes))
    of = "" if field.startswith(("controller_id", "broker_epoch")) else "orders-0: "
    assert run.states() == [f"{of}controller 3 sends broker 1 LeaderAndIsr with {field}; it is {wanted}"]


def test_the_controller_epoch_of_a_request() -> None:
    run = Sender()
    run.queued(1, StopReplicaRequest(3, 1, 0, True, (ORDERS_0,)))
    run.queued(1, StopReplicaRequest(3, 2, 0, True, (ORDERS_0,)))
    assert run.states() == ["controller 3 sends broker 1 StopReplica with controller_epoch 2; it is 1"]


def test_replicas_of_an_earlier_assignment_and_of_a_move() -> None:
    run = Sender()
    run.assigned((0, 1))
    run.emit(e.MoveStarted, *ORDERS_0, (3, 1))
    for replicas in (RS, (0, 1), (3, 1)):
        run.queued(1, led(replicas=replicas))
    assert run.states() == []


@pytest.mark.parametrize("why", ["new", "added", "its first state"])
def test_a_replica_may_be_announced_as_new(why: str) -> None:
    run = Sender()
    run.state(0, RS, 1)
    later: dict[str, Any] = {"zk_version": 1, "leader_epoch": 1, "is_new": True}
    if why == "new":
        run.show(ReplicasChanged, 3, 1, (ORDERS_0,), (7,), 1)
    run.queued(1, led(adding=(1,), **later) if why == "added" else led(**(later if why == "new" else {"is_new": True})))
    assert run.states() == []
    if why == "new":
        run.show(ReplicasChanged, 3, 1, (ORDERS_0,), (1,), 2)
        run.queued(1, led(**later))
        assert len(run.violations()) == 1


@pytest.mark.parametrize("removing", [(2,), ()])
def test_what_a_move_removes_is_sent(removing: tuple[int, ...]) -> None:
    run = Sender()
    data = encode_topic({0: RS}, {0: ReassigningReplicas((), (2,))})
    run.emit(ZkWritten, 3, "setData", topic_path("orders"), 1, 0, data)
    run.queued(0, led(removing=removing))
    assert run.states() == (
        []
        if removing
        else ["orders-0: controller 3 sends broker 0 adding [] and removing []; the topic's znode has [] and [2]"]
    )


@pytest.mark.parametrize(("ids", "violations"), [({"orders": ID}, 0), ({}, 1), ({"orders": "other"}, 1)])
def test_the_id_of_a_topic(ids: dict[str, str], violations: int) -> None:
    run = Sender()
    run.queued(0, led(topic_ids={}))
    data = encode_topic({0: RS}, topic_id=ID)
    run.emit(ZkWritten, 3, "setData", topic_path("orders"), 1, 0, data)
    run.queued(0, led(topic_ids=ids))
    assert len(run.violations()) == violations


# -- StopReplica ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("epoch", "why", "violations"),
    [
        (0, "", 0), (7, "", 1), (NO_EPOCH, "", 0), (NO_EPOCH, "announced", 1), (EPOCH_DURING_DELETE, "", 1),
        (EPOCH_DURING_DELETE, "is deleted", 0),
    ],
)  # fmt: skip
def test_the_leader_epoch_of_a_stop(epoch: int, why: str, violations: int) -> None:
    run = Sender()
    if why == "announced":
        run.queued(1, led())
    elif why == "is deleted":
        run.emit(ZkWritten, -5, "create", delete_topic_path("orders"), 0, 0, "")
    run.queued(1, stop(epoch))
    expected = f"orders-0: controller 3 sends broker 1 StopReplica with leader_epochs {epoch}; it is 0"
    assert run.states() == [expected] * violations
