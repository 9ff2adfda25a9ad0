"""C53: StopReplica of both kinds, and whose answers are heard (Kafka 2.3.1: ControllerChannelManagerTest)."""

from collections.abc import Callable
from typing import Any

import pytest

from controller.context import ControllerContext
from controller.events import TopicDeletionStopReplicaResponseReceived
from controller.request_batch import ControllerBrokerRequestBatch
from controller.states import ReplicaState
from emulator.protocol.errors import Errors
from emulator.protocol.stop_replica import StopReplicaResponse
from emulator.protocol.types import TopicPartition
from tests.controller.conformance.test_topic_deletion import states
from tests.controller.lab import Lab, run
from tests.controller.notes import request

TP, ADDED = TopicPartition("orders", 0), TopicPartition("orders", 1)
R = ReplicaState


class Recorder:
    """Takes the place of the senders."""

    def __init__(self) -> None:
        self.sent: list[tuple[int, Any, Callable[[Any], None] | None]] = []

    def send(self, broker: int, message: Any, done: Callable[[Any], None] | None = None) -> None:
        self.sent.append((broker, message, done))


class Inbox:
    """Takes the place of the event queue."""

    def __init__(self) -> None:
        self.events: list[TopicDeletionStopReplicaResponseReceived] = []

    def put(self, event: TopicDeletionStopReplicaResponseReceived) -> None:
        self.events.append(event)


Answers = list[tuple[int, StopReplicaResponse]]


def batch_of(context: ControllerContext) -> tuple[ControllerBrokerRequestBatch, Recorder, Answers]:
    recorder, answers = Recorder(), list[tuple[int, StopReplicaResponse]]()
    batch = ControllerBrokerRequestBatch(
        0, context, recorder,  # type: ignore[arg-type]
        lambda _b, _r: None, lambda broker, response: answers.append((broker, response)),
    )  # fmt: skip
    return batch, recorder, answers


def test_C53_mixed_delete_and_not_delete_stop_replica_requests() -> None:
    """Two requests, the one with deletion first; only its answer is asked for."""
    context = ControllerContext(epoch=1)
    context.set_brokers([(0, 10), (1, 11)])
    batch, recorder, answers = batch_of(context)
    batch.add_stop_replica(1, TP, delete=False)
    batch.add_stop_replica(1, ADDED, delete=True)
    batch.send_to_brokers()
    assert [request(message) for _, message, _ in recorder.sent] == [
        "StopReplica delete orders-1",
        "StopReplica keep orders-0",
    ]
    first, second = [done for _, _, done in recorder.sent]
    assert first is not None
    assert second is None
    response = StopReplicaResponse(Errors.NONE, ((ADDED, Errors.NONE),))
    first(response)
    assert answers == [(1, response)]


@pytest.mark.parametrize(("begun", "heard"), [(False, []), (True, ["orders"])])
def test_C53_stop_replica_answers_are_heard_once_deletion_has_started(begun: bool, heard: list[str]) -> None:
    """Queued for deletion is not enough: a move may delete a replica of such a topic too."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        await lab.create_topic("other", {0: (0, 1, 2)})
        c = lab.active
        c.context.deletions.queued["orders"] = None
        if begun:
            c.context.deletions.begun["orders"] = None
        queue = c.event_manager = Inbox()  # type: ignore[assignment]
        c.batch.new_batch()
        c.batch.add_stop_replica(1, TP, delete=True)
        c.batch.add_stop_replica(1, TopicPartition("other", 0), delete=True)
        c.batch.send_to_brokers()
        await lab.settle()
        assert [tp.topic for event in queue.events for tp, _ in event.partitions] == heard

    run(test)


def test_C53_a_request_that_fails_as_a_whole() -> None:
    """Its error counts for every replica that it names, whatever their own errors are: the topic waits."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        c = lab.active
        refused = TopicDeletionStopReplicaResponseReceived(1, Errors.STALE_BROKER_EPOCH, ((TP, Errors.NONE),))
        c.event_manager.put(refused)
        await lab.settle()
        assert states(lab) == [R.ONLINE] * 3  # the topic is not being deleted
        lab.at_gate("delete.start", "after", lambda _: c.event_manager.put(refused))
        await lab.delete_topic("orders")
        assert states(lab) == [R.DELETION_SUCCESSFUL, R.OFFLINE, R.DELETION_SUCCESSFUL]
        assert c.context.deletions.ineligible == {"orders": None}

    run(test)
