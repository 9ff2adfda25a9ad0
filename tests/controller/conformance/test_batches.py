"""ControllerChannelManagerTest of Kafka 2.3.1 and 2.7.2: what a batch makes of what is added to it. Broker 2 is
shutting down, broker 3 is not there."""

from typing import Any

import pytest

from controller.request_batch import ControllerBrokerRequestBatch
from emulator.protocol.stop_replica import StopReplicaRequest
from emulator.protocol.types import TopicPartition
from emulator.protocol.update_metadata import UpdateMetadataRequest
from tests.controller.test_request_batch import A, B, Recorder, ignore, make, state

LEADER_DURING_DELETE = -2
SECOND = TopicPartition("a", 1)


def since_2_6() -> tuple[ControllerBrokerRequestBatch, Recorder]:
    _, recorder, context = make()
    channels: Any = recorder
    batch = ControllerBrokerRequestBatch(0, context, channels, ignore, ignore, stops_name_epochs=True)
    batch.new_batch()
    return batch, recorder


def stops(recorder: Recorder, broker: int) -> list[tuple[bool, tuple[TopicPartition, ...], tuple[int, ...]]]:
    found = [message for to, message in recorder.sent if to == broker and isinstance(message, StopReplicaRequest)]
    return [(each.delete_partitions, each.partitions, each.leader_epochs) for each in found]


@pytest.mark.parametrize("first", [True, False])
def test_stop_replica_request_with_already_defined_deleted_partition(first: bool) -> None:
    """testStopReplicaRequestWithAlreadyDefinedDeletedPartition: once, and with deletion, in either order; with the last
    leader epoch. Before 2.6 both were sent."""
    batch, recorder = since_2_6()
    batch.add_stop_replica(2, A, delete=first)
    batch.context.leadership_info[A] = state(2)
    batch.add_stop_replica(2, A, delete=not first)
    batch.send_to_brokers()
    assert stops(recorder, 2) == [(True, (A,), (2,))]
    early, seen, _ = make()
    early.new_batch()
    early.add_stop_replica(2, A, delete=first)
    early.add_stop_replica(2, A, delete=not first)
    early.send_to_brokers()
    assert stops(seen, 2) == [(True, (A,), ()), (False, (A,), ())]


def test_stop_replica_groups_by_broker() -> None:
    """testStopReplicaGroupsByBroker, testStopReplicaSentOnlyToLiveAndShuttingDownBrokers."""
    batch, recorder = since_2_6()
    for broker in (1, 2, 3):
        for tp in (A, B):
            batch.add_stop_replica(broker, tp, delete=False)
    batch.send_to_brokers()
    assert [stops(recorder, broker) for broker in (1, 2, 3)] == [[(False, (A, B), (1, 1))]] * 2 + [[]]


def test_update_metadata_request_during_topic_deletion() -> None:
    """testUpdateMetadataRequestDuringTopicDeletion: the topic's partitions have no leader, and keep their ISRs."""
    batch, recorder, context = make()
    context.assign(SECOND, (1, 0))
    context.leadership_info[SECOND] = state(1)
    context.deletions.queued["a"] = None
    batch.new_batch()
    batch.add_update_metadata([2], [A, SECOND, B])
    batch.send_to_brokers()
    [(broker, message)] = recorder.sent
    assert (broker, type(message), message.live_brokers) == (2, UpdateMetadataRequest, (0, 1, 2))
    assert {each.tp: each.leader for each in message.partitions} == {
        A: LEADER_DURING_DELETE, SECOND: LEADER_DURING_DELETE, B: 0
    }  # fmt: skip
    assert [each.isr for each in message.partitions] == [(0, 1)] * 3


def test_update_metadata_does_not_include_partitions_without_leader_and_isr() -> None:
    """testUpdateMetadataDoesNotIncludePartitionsWithoutLeaderAndIsr: it goes, for the brokers that it names."""
    batch, recorder, context = make()
    context.leadership_info.clear()
    batch.new_batch()
    batch.add_update_metadata([2], [A, B])
    batch.send_to_brokers()
    [(broker, message)] = recorder.sent
    assert (broker, message.partitions, message.live_brokers) == (2, (), (0, 1, 2))
