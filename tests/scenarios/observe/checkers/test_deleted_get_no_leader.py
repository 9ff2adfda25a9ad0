"""R8: a topic whose deletion has begun gets no leaders."""

from emulator.protocol import events as e
from emulator.protocol.znodes import delete_topic_path
from emulator.trace.events import Step, ZkWritten
from scenarios.observe.checkers.deleted_get_no_leader import BEGINS, DeletedGetNoLeader
from tests.scenarios.observe.checkers.test_led_in_time import Cluster
from tests.scenarios.observe.checkers.written_history import ORDERS_0


def begun() -> Cluster:
    """Broker 3 is the controller, and has begun to delete the topic."""
    run = Cluster(DeletedGetNoLeader.name)
    run.emit(Step, BEGINS, "after", "orders", -1, -1, -1, 3, "")
    return run


def elects(run: Cluster) -> None:
    run.emit(e.LeaderElected, *ORDERS_0, 1, 4, (1,), "offline", 1, False)


def test_an_election() -> None:
    run = begun()
    elects(run)
    [violation] = run.violations()
    assert violation.state == "orders-0: controller 3 elects broker 1 in epoch 4, and has begun to delete the topic"


def test_before_the_deletion_begins_and_after_it_is_over() -> None:
    run = Cluster(DeletedGetNoLeader.name)
    elects(run)
    run = begun()
    run.emit(ZkWritten, 3, "delete", delete_topic_path("orders"), 0, 0, "")
    elects(run)
    assert run.violations() == []


def test_another_controller_begins_again() -> None:
    run = begun()
    run.emit(ZkWritten, -1, "delete", "/controller", 0, 0, "")
    elects(run)
    assert run.violations() == []
