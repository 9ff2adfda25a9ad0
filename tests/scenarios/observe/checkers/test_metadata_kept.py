"""E7: what a broker knows is what it was sent."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from emulator.protocol import events as e
from emulator.protocol.clients.metadata import (
    ClientMetadataRequest,
    ClientMetadataResponse,
    PartitionAnswer,
    TopicAnswer,
)
from emulator.protocol.control_requests import ControlHandled
from emulator.protocol.errors import Errors
from emulator.protocol.metadata import MetadataRequest, MetadataResponse
from emulator.protocol.shown import MetadataCached
from emulator.protocol.types import LEADER_DURING_DELETE, TopicPartition
from emulator.protocol.update_metadata import PartitionMetadata, UpdateMetadataRequest
from emulator.protocol.znodes import broker_path, delete_topic_path
from emulator.trace.events import ZkWritten
from emulator.trace.shown_znodes import RequestAnswered
from scenarios.observe.history.settings_history import StartSettings
from tests.scenarios.observe.checkers.test_led_in_time import Cluster
from tests.scenarios.observe.checkers.written_history import ORDERS_0

NAME = "metadata_kept"
RS = (0, 1, 2)
PAYMENTS_0 = TopicPartition("payments", 0)


def said(leader: int = 0, epoch: int = 0, tp: TopicPartition = ORDERS_0) -> PartitionMetadata:
    return PartitionMetadata(tp, 1, leader, epoch, RS, 0, RS, ())


class Brokers(Cluster):
    """Brokers that take over what they are sent, or something else."""

    def __init__(self, *, raised_epochs: bool = True) -> None:
        super().__init__(NAME, start=StartSettings(metadata_has_raised_epochs=raised_epochs))
        self.assigned(RS)

    def sends(
        self,
        broker: int,
        *states: PartitionMetadata,
        knows: tuple[PartitionMetadata, ...] | None = None,
        live: tuple[int, ...] = RS,
        error: Errors = Errors.NONE,
    ) -> None:
        """The controller sends ``states`` to a broker, which knows ``knows`` afterwards; None: what it was sent."""
        kept = [state for state in states if state.leader != LEADER_DURING_DELETE] if knows is None else knows
        topics: dict[str, Mapping[int, PartitionMetadata]] = {}
        for state in kept:
            topics[state.tp.topic] = {**topics.get(state.tp.topic, {}), state.tp.partition: state}
        if error is Errors.NONE or knows is not None:
            self.show(MetadataCached, broker, topics, live)
        self.show(ControlHandled, broker, UpdateMetadataRequest(3, 1, 1, states, RS), error)

    def to_all(self, *states: PartitionMetadata) -> None:
        for broker in range(4):
            self.sends(broker, *states)

    def rests(self) -> list[str]:
        """All that can be done has been done for long enough; the states of what is found."""
        self.passes(60)
        self.rest()
        return [violation.state for violation in self.violations()]


def test_brokers_know_what_they_were_sent() -> None:
    run = Brokers()
    run.to_all(said())
    run.state(1, (1, 2), 1)
    run.to_all(said(1, 1))
    assert run.rests() == []


def test_a_partition_that_is_not_taken_over() -> None:
    run, payments = Brokers(), said(tp=PAYMENTS_0)
    run.sends(1, said(), payments, knows=(said(), payments))
    [violation] = run.violations()
    assert violation.state.startswith("orders-0: broker 1 knows leader 0 of leader epoch 0, and was sent leader 0")


def test_a_partition_that_is_kept_though_it_is_deleted() -> None:
    run, kept = Brokers(), said()
    run.sends(1, kept)
    run.sends(1, said(LEADER_DURING_DELETE), knows=(kept,))
    [violation] = run.violations()
    assert violation.state == "orders-0: broker 1 knows leader 0 of leader epoch 0, and was sent nothing"


def test_live_brokers_that_are_not_taken_over() -> None:
    run = Brokers()
    run.sends(1, said(), live=(0, 1))
    [violation] = run.violations()
    assert violation.state == "broker 1 takes [0, 1] for alive, after a request that names [0, 1, 2]"


@pytest.mark.parametrize("takes", [False, True])
def test_a_request_that_is_refused(takes: bool) -> None:
    run = Brokers()
    run.to_all(said())
    later = said(1, 1)
    run.sends(1, later, knows=(later,) if takes else None, error=Errors.STALE_CONTROLLER_EPOCH)
    found = [violation.state for violation in run.violations()]
    assert found == (["broker 1 refuses metadata (STALE_CONTROLLER_EPOCH), and has taken it over"] if takes else [])


@pytest.mark.parametrize("raised_epochs", [False, True])
def test_a_leader_epoch_that_goes_back(raised_epochs: bool) -> None:
    """KAFKA-9212: up to 2.3 a controller does not remember an epoch that it has raised."""
    run = Brokers(raised_epochs=raised_epochs)
    run.sends(1, said(0, 2))
    run.sends(1, said(0, 1))
    found = [violation.state for violation in run.violations()]
    assert (
        found
        == ["orders-0: broker 1 knows leader 0 of leader epoch 1, after leader 0 of leader epoch 2"] * raised_epochs
    )


def test_a_broker_that_starts_again_begins_with_nothing() -> None:
    run = Brokers()
    run.to_all(said(0, 2))
    run.state(0, RS, 2)
    run.dies(1)
    run.emit(e.NodeStarted, 1, 1)
    run.registers(1)
    run.sends(1, said(0, 2))
    assert run.rests() == []


def test_a_broker_that_lacks_what_others_know() -> None:
    run = Brokers()
    run.to_all(said())
    run.state(1, (1, 2), 1)
    for broker in (0, 1, 3):
        run.sends(broker, said(1, 1))
    assert run.rests() == [
        "broker 2: orders-0: leader 0 of leader epoch 0, and in ZooKeeper leader 1 of leader epoch 1"
    ]


def deletes_payments(run: Brokers) -> None:
    """A topic is deleted, and then broker 2 registers again."""
    run.passes(1)
    run.emit(ZkWritten, 3, "create", delete_topic_path("payments"), 0, 0, "")
    run.emit(ZkWritten, 3, "delete", delete_topic_path("payments"), 0, 0, "")
    run.passes(1)
    run.emit(ZkWritten, -1, "delete", broker_path(2), 0, 0, "")
    run.registers(2)


def test_a_topic_that_is_gone() -> None:
    """Broker 2 registers again later, and is sent nothing about the topic (kafka-2.7, seed 43019)."""
    run = Brokers()
    run.to_all(said(), said(tp=PAYMENTS_0))
    deletes_payments(run)
    assert run.rests() == [f"broker {broker}: payments is known, and gone from ZooKeeper" for broker in (0, 1, 3)]


def test_a_broker_that_the_controller_does_not_reach_need_not_know() -> None:
    run = Brokers()
    run.to_all(said())
    run.routes(3, 2, cut=True)
    run.state(1, (1, 2), 1)
    for broker in (0, 1, 3):
        run.sends(broker, said(1, 1))
    assert run.rests() == []


def test_a_new_topic_of_a_name_whose_deletion_a_broker_has_missed() -> None:
    """kafka-2.4, seed 3063 of the default swarm: broker 2 registers again in between, and broker 1 does not."""
    run = Brokers()
    for broker in (1, 2):
        run.sends(broker, said(0, 2, PAYMENTS_0))
    deletes_payments(run)
    for broker in (1, 2):
        run.sends(broker, said(0, 0, PAYMENTS_0))
    assert [violation.state for violation in run.violations()] == [
        "payments-0: broker 1 knows leader 0 of leader epoch 0, after leader 0 of leader epoch 2"
    ]


def test_such_a_topic_begins_with_an_earlier_leader_epoch_once() -> None:
    run = Brokers()
    run.sends(2, said(0, 2, PAYMENTS_0))
    deletes_payments(run)
    run.sends(2, said(0, 0, PAYMENTS_0))
    run.sends(2, said(0, 1, PAYMENTS_0))
    assert run.violations() == []
    run.sends(2, said(0, 0, PAYMENTS_0))
    assert len(run.violations()) == 1
    run = Brokers()
    run.sends(2, said(0, 2, PAYMENTS_0))
    for epoch in (1, 0):
        deletes_payments(run)
        run.sends(2, said(0, epoch, PAYMENTS_0))
    assert run.violations() == [], "each deletion may be missed"


PAYMENTS = said(1, 4, PAYMENTS_0)
ORDERS = said()


@pytest.mark.parametrize(
    ("topics", "states", "live", "controller", "found"),
    [
        (None, (ORDERS, PAYMENTS), RS, 3, ""),
        (("orders",), (ORDERS,), RS, 3, ""),
        (("none",), (), RS, 3, ""),
        (None, (ORDERS,), RS, 3, "1 partitions as it knows them, of 1, and knows 2 of them"),
        (None, (ORDERS, ORDERS), RS, 3, "1 partitions as it knows them, of 2, and knows 2"),
        (("orders",), (said(),), RS, 3, "0 partitions as it knows them, of 1, and knows 1"),
        (("orders",), (ORDERS,), (0, 1), 3, "live brokers [0, 1], and knows live brokers [0, 1, 2]"),
        (("orders",), (ORDERS,), RS, 1, "controller 1, and knows controller 3"),
    ],
)
def test_a_client_gets_what_is_known(
    topics: tuple[str, ...] | None, states: tuple[PartitionMetadata, ...], live: tuple[int, ...], controller: int,
    found: str,
) -> None:  # fmt: skip
    run = Brokers()
    run.sends(0, ORDERS, PAYMENTS)
    response = MetadataResponse(states, live, controller)
    run.show(RequestAnswered, 0, -9, MetadataRequest(topics), response, run.world.now, True)
    seen = [str(violation.state) for violation in run.violations()]
    assert (found in seen[0] and len(seen) == 1) if found else not seen


@pytest.mark.parametrize(
    ("answers", "found"),
    [
        ((TopicAnswer("orders", Errors.NONE, (PartitionAnswer(Errors.NONE, ORDERS),)),), ""),
        ((), "topics , and knows orders"),
        ((TopicAnswer("orders", Errors.NONE, ()),), "0 partitions of orders, and knows 1"),
        ((TopicAnswer("orders", Errors.UNKNOWN_TOPIC_OR_PARTITION, ()),), "0 partitions of orders"),
        (
            (TopicAnswer("orders", Errors.NONE, (PartitionAnswer(Errors.LEADER_NOT_AVAILABLE, ORDERS),)),),
            "orders-0 with LEADER_NOT_AVAILABLE, leader 0, and knows leader 0",
        ),
    ],
)
def test_a_real_client_gets_what_is_known(answers: tuple[TopicAnswer, ...], found: str) -> None:
    run = Brokers()
    run.sends(0, ORDERS)
    response = ClientMetadataResponse((ORDERS,), RS, 3, topics=answers)
    run.show(RequestAnswered, 0, -9, ClientMetadataRequest(("orders",)), response, run.world.now + 1000, True)
    seen = [str(violation.state) for violation in run.violations()]
    assert (found in seen[0] and len(seen) == 1) if found else not seen
