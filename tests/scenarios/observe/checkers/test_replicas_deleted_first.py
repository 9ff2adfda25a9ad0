"""R7: a topic is gone only once its replicas are."""

from typing import Any

from emulator.protocol import events as e
from emulator.protocol.znodes import delete_topic_path, encode_topic, topic_path
from emulator.trace.events import Step, ZkWritten
from scenarios.observe.checkers.replicas_deleted_first import FORGETS, ReplicasDeletedFirst
from tests.scenarios.observe.checkers.written_history import ORDERS_0, WrittenHistory


def story() -> WrittenHistory:
    """The topic has one partition on the brokers 0 and 1, and is to be deleted."""
    run = WrittenHistory(ReplicasDeletedFirst.name)
    run.assigned((0, 1))
    run.state(0, (0, 1), 0)
    run.emit(ZkWritten, -1, "create", delete_topic_path("orders"), 0, 0, "")
    return run


def stops(run: WrittenHistory, broker: int, *, deleted: bool = True) -> Any:
    return run.emit(e.ReplicaStopped, broker, *ORDERS_0, deleted)


def forgets(run: WrittenHistory) -> list[str]:
    run.emit(Step, FORGETS, "before", "orders", -1, -1, -1, 2, "")
    return [violation.state for violation in run.violations()]


def test_all_are_deleted() -> None:
    run = story()
    stops(run, 0)
    stops(run, 1)
    assert forgets(run) == []


def test_one_is_stopped_and_not_deleted() -> None:
    run = story()
    stops(run, 0)
    stops(run, 1, deleted=False)
    assert forgets(run) == [
        "orders-0: controller 2 is about to delete the znodes of the topic, and broker 1 has not deleted its replica"
    ]


def test_one_has_been_started_again() -> None:
    run = story()
    stops(run, 0)
    stops(run, 1)
    run.follows(1, 0, 4)
    assert len(forgets(run)) == 1


def test_what_was_deleted_before_the_request_does_not_count() -> None:
    run = WrittenHistory(ReplicasDeletedFirst.name)
    run.assigned((0,))
    run.state(0, (0,), 0)
    stops(run, 0)
    run.emit(ZkWritten, -1, "create", delete_topic_path("orders"), 0, 0, "")
    assert len(forgets(run)) == 1


def test_a_partition_that_was_added_too_late_to_get_a_leader_has_no_replicas() -> None:
    run = story()
    stops(run, 0)
    stops(run, 1)
    run.emit(ZkWritten, -1, "setData", topic_path("orders"), 1, 0, encode_topic({0: (0, 1), 1: (1,)}))
    assert forgets(run) == []
