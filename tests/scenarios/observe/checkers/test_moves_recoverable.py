"""R1: replicas change only while ZooKeeper asks for a move, which it does until the move is over."""

from typing import Any

import pytest

from emulator.protocol import events as e
from emulator.protocol.assignments import ReassigningReplicas, Replicas
from emulator.protocol.shown import RequestedMovesRead
from emulator.protocol.znodes import REASSIGN_PARTITIONS, encode_reassignment, encode_topic, topic_path
from emulator.trace.events import ZkWritten
from scenarios.observe.checkers.moves_recoverable import MovesRecoverable
from tests.scenarios.observe.checkers.written_history import ORDERS_0, WrittenHistory

TOOL = -1


def story(reassigning: dict[int, ReassigningReplicas] | None = None) -> WrittenHistory:
    """The partition has the replicas 0 and 1, and a leader. ``reassigning``: {} for the format of KIP-455."""
    run = WrittenHistory(MovesRecoverable.name)
    run.emit(ZkWritten, TOOL, "create", topic_path("orders"), 0, 0, encode_topic({0: (0, 1)}, reassigning))
    run.state(0, (0, 1), 1)
    return run


def asks(run: WrittenHistory, target: Replicas, client: int = TOOL) -> Any:
    """/admin/reassign_partitions asks for ``target``; for none, it is deleted."""
    op, data = ("setData", encode_reassignment({ORDERS_0: target})) if target else ("delete", "")
    return run.emit(ZkWritten, client, op, REASSIGN_PARTITIONS, 0, 0, data)


def reads(run: WrittenHistory, target: Replicas, controller: int = 5) -> None:
    run.show(RequestedMovesRead, controller, {ORDERS_0: target})


def found(run: WrittenHistory) -> list[str]:
    return [violation.state for violation in run.violations()]


def test_a_move_as_it_should_be() -> None:
    run = story()
    asks(run, (1, 2))
    run.assigned((1, 2, 0))
    run.assigned((1, 2))
    asks(run, (), client=5)
    assert found(run) == []


def test_replicas_that_were_not_asked_for() -> None:
    run = story()
    asks(run, (1, 2))
    run.assigned((1, 3, 0))
    assert found(run) == [
        "orders-0: broker 0 changes its replicas from [0, 1] to [1, 3, 0], and ZooKeeper asks for [1, 2]"
    ]


def test_another_order_that_the_api_asks_for() -> None:
    """KIP-455: nothing is added or removed, so the topic's znode names no move (ReplicaAssignment, 2.4)."""
    run = story()
    run.assigned((1, 0))
    assert found(run) == []


def test_a_move_whose_request_is_gone() -> None:
    run = story()
    asks(run, (1, 2))
    run.assigned((1, 2, 0))
    asks(run, (), client=5)
    run.assigned((1, 2))
    assert found(run) == [
        (
            "orders-0: broker 5 takes the request for [1, 2] unread out of /admin/reassign_partitions; its replicas "
            "are [1, 2, 0], and were [0, 1]"
        ),
        "orders-0: broker 0 changes its replicas from [1, 2, 0] to [1, 2], and ZooKeeper asks for no move of it",
    ]


def test_a_request_that_is_refused_or_that_its_operator_takes_back() -> None:
    run = story()
    asks(run, (1, 2))
    reads(run, (1, 2))
    asks(run, (), client=5)
    asks(run, (1, 2))
    run.assigned((1, 2, 0))
    run.emit(e.MoveReported, *ORDERS_0, False, True)
    asks(run, ())
    assert found(run) == []


@pytest.mark.parametrize("read", [(), (0, 2)])
def test_a_request_that_is_taken_away_unread(read: Replicas) -> None:
    """The controller has read nothing, or an earlier request; another broker has read this one."""
    run = story()
    if read:
        asks(run, read)
        reads(run, read)
        asks(run, ())
    asks(run, (1, 2))
    reads(run, (1, 2), controller=4)
    asks(run, (), client=5)
    assert found(run) == [
        (
            "orders-0: broker 5 takes the request for [1, 2] unread out of /admin/reassign_partitions; its replicas "
            "are [0, 1], as before"
        )
    ]


def test_a_move_that_the_topics_znode_names() -> None:
    run = story({})
    moving = {0: ReassigningReplicas((2,), (0,))}
    run.emit(ZkWritten, 5, "setData", topic_path("orders"), 0, 0, encode_topic({0: (1, 2, 0)}, moving))
    run.emit(ZkWritten, 5, "setData", topic_path("orders"), 1, 0, encode_topic({0: (1, 2)}, {}))
    assert found(run) == []
    run.emit(ZkWritten, 5, "setData", topic_path("orders"), 2, 0, encode_topic({0: (0, 1)}, {}))
    assert len(found(run)) == 1


def test_a_topics_znode_that_gets_another_format() -> None:
    """Kafka 2.3 does not know version 2."""
    run = story()
    run.emit(ZkWritten, 5, "setData", topic_path("orders"), 1, 0, encode_topic({0: (0, 1)}, {}))
    assert found(run) == ['broker 5 writes /brokers/topics/orders as {"version":2}, which was {"version":1}']


def test_a_topic_gets_an_id_with_another_format_once() -> None:
    """KafkaController.processTopicIds, 2.8; without the id it would be another format as before."""
    run = story()
    with_id = encode_topic({0: (0, 1)}, {}, "AAAAAAAAQACAAAAAAAAAAQ")
    run.emit(ZkWritten, 5, "setData", topic_path("orders"), 1, 0, with_id)
    assert found(run) == []
    run.emit(ZkWritten, 5, "setData", topic_path("orders"), 2, 0, encode_topic({0: (0, 1)}, {}))
    assert len(found(run)) == 1


def test_a_topic_that_is_made_again_may_have_another_format() -> None:
    run = story()
    run.emit(ZkWritten, 5, "delete", topic_path("orders"), 1, 0, "")
    run.emit(ZkWritten, 5, "create", topic_path("orders"), 0, 0, encode_topic({0: (0, 1)}, {}))
    assert found(run) == []
