"""E3: a broker that is not the controller writes nothing as controller."""

import pytest

from emulator.protocol.znodes import encode_topic, topic_path
from emulator.trace.events import ZkWritten
from scenarios.observe.checkers.controller_fence import ControllerFence
from tests.scenarios.observe.checkers.written_history import WrittenHistory

NAME = ControllerFence.name


def story() -> WrittenHistory:
    """Broker 1 has replaced broker 0."""
    run = WrittenHistory(NAME)
    run.controller(0, 1)
    run.assigned((3, 2))
    run.state(2, (2, 3), 0)
    run.controller(1, 2)
    return run


def test_an_election_under_the_previous_controller_epoch() -> None:
    run = story()
    written = run.state(3, (3,), 1, controller_epoch=1)
    [violation] = run.violations()
    assert violation.seq == written.seq
    assert violation.state == (
        "orders-0: leader epoch 1, leader 3, written by the controller of epoch 1 in controller epoch 2"
    )


@pytest.mark.parametrize(
    ("op", "path"),
    [
        ("setData", topic_path("orders")),
        ("delete", "/admin/reassign_partitions"),
        ("delete", "/admin/delete_topics/orders"),
        ("setData", "/admin/reassign_partitions"),
        ("create", "/brokers/topics/orders/partitions"),
        ("delete", "/brokers/topics/orders/partitions/0/state"),
    ],
)
def test_another_write_under_the_previous_controller_epoch(op: str, path: str) -> None:
    run = story()
    run.emit(ZkWritten, 0, op, path, 1, 9, encode_topic({0: (2, 3)}))
    [violation] = run.violations()
    assert violation.state == f"broker 0 writes {path} ({op}) in controller epoch 2, which is broker 1's"


def test_the_current_controller_and_leaders_and_operators_may_write() -> None:
    run = story()
    run.state(2, (2,), 0, controller_epoch=1)
    run.state(3, (3,), 1, controller_epoch=2)
    run.emit(ZkWritten, 1, "setData", topic_path("orders"), 1, 9, encode_topic({0: (2, 3)}))
    run.emit(ZkWritten, 2, "setData", "/brokers/topics/orders/partitions/0/state", 5, 9, run.encoded(3, (3, 2), 1, 2))
    run.emit(ZkWritten, -10, "create", "/admin/reassign_partitions", 0, 10, "{}")
    run.emit(ZkWritten, 0, "create", "/isr_change_notification/isr_change_1", 0, 11, "{}")
    run.emit(ZkWritten, 3, "create", "/admin/delete_topics", 0, 12, "")
    assert run.violations() == []


def test_what_clients_ask_for_is_no_work_of_a_controller() -> None:
    """2.3, seed 2327: the broker that has a client's request was replaced before its write arrived."""
    run = story()
    run.assigned((2, 3), by=1)
    run.emit(ZkWritten, 0, "create", "/admin/delete_topics/orders", 0, 9, "")
    run.emit(ZkWritten, 0, "create", topic_path("payments"), 0, 10, encode_topic({0: (2, 3)}))
    run.emit(ZkWritten, 0, "setData", topic_path("payments"), 1, 11, encode_topic({0: (2, 3), 1: (3, 2)}))
    assert run.violations() == []
    changed = run.emit(ZkWritten, 0, "setData", topic_path("payments"), 2, 12, encode_topic({0: (3, 2), 1: (3, 2)}))
    dropped = run.emit(ZkWritten, 0, "setData", topic_path("payments"), 3, 13, encode_topic({0: (3, 2)}))
    assert [violation.seq for violation in run.violations()] == [changed.seq, dropped.seq]
