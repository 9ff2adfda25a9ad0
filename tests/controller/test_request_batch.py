"""The rules of a batch of requests (kafka-behaviour §7.1)."""

from collections.abc import Callable
from typing import Any

import pytest

from controller.context import ControllerContext
from controller.errors import IllegalState
from controller.request_batch import ControllerBrokerRequestBatch
from emulator.protocol.leader_and_isr import LeaderAndIsrRequest
from emulator.protocol.types import TopicPartition
from emulator.protocol.update_metadata import UpdateMetadataRequest
from emulator.protocol.znodes import LeaderAndIsr
from tests.controller.notes import request

A, B = TopicPartition("a", 0), TopicPartition("b", 0)


class Recorder:
    """Takes the place of the channel manager and records the requests."""

    def __init__(self) -> None:
        self.sent: list[tuple[int, Any]] = []

    def send(self, broker: int, message: Any, done: Callable[[Any], None] | None = None) -> None:
        self.sent.append((broker, message))

    def lines(self) -> list[tuple[int, str]]:
        return [(broker, request(message)) for broker, message in self.sent]


def ignore(_broker: int, _response: object) -> None:
    """Takes a response and does nothing."""


def make() -> tuple[ControllerBrokerRequestBatch, Recorder, ControllerContext]:
    """Brokers 0 to 2 with epochs 100 to 102; 2 is shutting down; broker 3 is not there."""
    context = ControllerContext(epoch=7)
    context.set_brokers([(2, 102), (0, 100), (1, 101)])
    context.shutting_down[2] = None
    for tp in (A, B):
        context.assign(tp, (0, 1, 3))
        context.leadership_info[tp] = state(1)
    recorder = Recorder()
    return ControllerBrokerRequestBatch(0, context, recorder, ignore, ignore), recorder, context  # type: ignore[arg-type]


@pytest.mark.parametrize(("all_of_them", "named"), [(True, [A, B]), (False, [])])
def test_an_update_for_no_partitions_held_all_of_them_before_kafka_7537(
    all_of_them: bool, named: list[TopicPartition]
) -> None:
    batch, recorder, _ = make()
    batch.no_partitions_are_all = all_of_them
    batch.send_update_metadata([0])
    [(_, message)] = recorder.sent
    assert [state.tp for state in message.partitions] == named


@pytest.mark.parametrize(("needs", "sent"), [(True, 0), (False, 1)])
def test_without_a_partition_no_update_was_sent_before_kafka_1867(needs: bool, sent: int) -> None:
    batch, recorder, context = make()
    batch.no_partitions_are_all, batch.metadata_needs_partitions = True, needs
    context.leadership_info.clear()
    batch.send_update_metadata([0])
    assert len(recorder.sent) == sent
    context.leadership_info[A] = state(1)
    batch.send_update_metadata([0])
    assert len(recorder.sent) == sent + 1


@pytest.mark.parametrize(("all_of_them", "named"), [(True, {A: 0, B: -2}), (False, {A: 0})])
def test_an_update_held_all_partitions_that_are_to_be_deleted_before_kafka_6481(
    all_of_them: bool, named: dict[TopicPartition, int]
) -> None:
    batch, recorder, context = make()
    batch.names_all_deleting = all_of_them
    context.queue_deletion(B.topic)
    batch.send_update_metadata([0], [A])
    [(_, message)] = recorder.sent
    assert {state.tp: state.leader for state in message.partitions} == named


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        (True, ["StopReplica delete b-0", "StopReplica keep a-0; b-0"]),
        (False, ["StopReplica keep ", "StopReplica delete b-0", "StopReplica keep b-0", "StopReplica keep a-0"]),
    ],
)
def test_each_replica_was_stopped_by_a_request_of_its_own_before_kafka_8294(groups: bool, expected: list[str]) -> None:
    """One request for none comes first: 1.1.1 meant to group those without a callback there, and all have one. The
    others have the order of Scala's hashes of the replicas."""
    batch, recorder, _ = make()
    batch.groups_stops = groups
    batch.new_batch()
    batch.add_stop_replica(1, A, delete=False)
    batch.add_stop_replica(1, B, delete=True)
    batch.add_stop_replica(1, B, delete=False)
    batch.send_to_brokers()
    assert recorder.lines() == [(1, line) for line in expected]


def state(epoch: int) -> LeaderAndIsr:
    return LeaderAndIsr(0, epoch, (0, 1), 7, 3)


def test_the_last_state_wins_and_new_is_sticky() -> None:
    batch, recorder, _ = make()
    batch.add_leader_and_isr([1], A, state(1), (0, 1), is_new=True)
    batch.add_leader_and_isr([1], A, state(2), (0, 1), is_new=False)
    batch.send_to_brokers()
    assert recorder.lines()[0] == (1, "LeaderAndIsr a-0 0/{0,1} epoch 2 AR {0,1} new")


def test_order_recipients_and_epochs() -> None:
    """LeaderAndIsr, UpdateMetadata to all brokers, StopReplica with deletion, then without; none to brokers that are
    not registered."""
    batch, recorder, _ = make()
    batch.add_stop_replica(1, A, delete=False)
    batch.add_stop_replica(1, B, delete=True)
    batch.add_stop_replica(3, A, delete=True)
    batch.add_leader_and_isr([1, 0, 3, -1], A, state(1), (0, 1, 3), is_new=False)
    batch.send_to_brokers()
    kinds = [(broker, line.split(" a-0")[0].split(" b-0")[0].split(" live")[0]) for broker, line in recorder.lines()]
    assert kinds == [
        (0, "LeaderAndIsr"), (1, "LeaderAndIsr"),
        (0, "UpdateMetadata"), (1, "UpdateMetadata"), (2, "UpdateMetadata"),
        (1, "StopReplica delete"), (1, "StopReplica keep"),
    ]  # fmt: skip
    for broker, message in recorder.sent:
        assert (message.controller_epoch, message.broker_epoch) == (7, 100 + broker)
        if isinstance(message, LeaderAndIsrRequest):
            assert message.live_leaders == (0,)
        if isinstance(message, UpdateMetadataRequest):
            assert message.live_brokers == (0, 1, 2)
            assert message.partitions[0].offline_replicas == (3,)


def test_brokers_share_one_state_object() -> None:
    batch, recorder, _ = make()
    batch.add_leader_and_isr([0, 1], A, state(1), (0, 1), is_new=False)
    batch.send_to_brokers()
    first, second = [m.partitions[0] for _, m in recorder.sent if isinstance(m, LeaderAndIsrRequest)]
    assert first is second


def test_kip_570_stops_bear_the_leader_epoch_of_the_moment() -> None:
    """A step stops replicas first and raises the epoch later; a partition that never had a leader, or is being deleted,
    has none."""
    _, recorder, context = make()
    batch = ControllerBrokerRequestBatch(0, context, recorder, ignore, ignore, stops_name_epochs=True)  # type: ignore[arg-type]
    batch.new_batch()
    batch.add_stop_replica(1, A, delete=False)
    context.leadership_info[A] = state(2)
    batch.add_stop_replica(2, A, delete=True)
    del context.leadership_info[B]
    batch.add_stop_replica(2, B, delete=True)
    context.deletions.queued["b"] = None
    batch.add_stop_replica(0, B, delete=True)
    batch.send_to_brokers()
    assert recorder.lines() == [
        (0, "StopReplica delete b-0 epoch -2"),
        (1, "StopReplica keep a-0 epoch 1"),
        (2, "StopReplica delete a-0 epoch 2; b-0 epoch -1"),
    ]


def test_a_partition_without_leader_is_not_in_the_metadata() -> None:
    batch, recorder, context = make()
    del context.leadership_info[A]
    batch.add_update_metadata([0], [A, B])
    batch.send_to_brokers()
    assert [m.partitions[0].tp for _, m in recorder.sent] == [B]


def test_a_batch_that_was_not_sent_is_an_illegal_state() -> None:
    batch, recorder, _ = make()
    batch.new_batch()
    batch.add_stop_replica(1, A, delete=False)
    with pytest.raises(IllegalState):
        batch.new_batch()
    batch.clear()
    batch.new_batch()
    batch.send_to_brokers()
    assert recorder.sent == []


def test_the_state_of_a_partition_is_made_once_for_all_its_replicas() -> None:
    """At a failover each replica is handled by itself: all get one object, and one of metadata."""
    batch, recorder, context = make()
    known = context.leadership_info[A]
    for broker in (0, 1):
        batch.add_leader_and_isr([broker], A, known, context.replicas(A), is_new=False)
    batch.send_to_brokers()
    first, second = (m.partitions[0] for _, m in recorder.sent if isinstance(m, LeaderAndIsrRequest))
    assert first is second
    metadata = [m.partitions for _, m in recorder.sent if isinstance(m, UpdateMetadataRequest)]
    assert [[state.tp for state in partitions] for partitions in metadata] == [[A]] * 3


def test_a_newer_state_in_the_same_batch_is_made_again() -> None:
    batch, recorder, context = make()
    batch.add_leader_and_isr([0], A, context.leadership_info[A], context.replicas(A), is_new=False)
    context.leadership_info[A] = state(2)
    batch.add_leader_and_isr([1], A, context.leadership_info[A], context.replicas(A), is_new=False)
    batch.send_to_brokers()
    epochs = [m.partitions[0].leader_epoch for _, m in recorder.sent]
    assert epochs == [1, 2, 2, 2, 2]
