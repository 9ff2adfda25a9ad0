"""Which replicas beyond the assignment, and which failed ones, ``converged`` holds against the release."""

from __future__ import annotations

import pytest

from emulator.metrics.metric_events import GaugeSet
from emulator.protocol import events as e
from emulator.protocol.znodes import (
    CONTROLLER,
    broker_path,
    delete_topic_path,
    encode_broker,
    encode_controller,
    encode_topic,
    topic_path,
)
from emulator.trace.events import ZkWritten
from scenarios.observe.checkers.converged import Converged
from scenarios.observe.findings.convergence_facts import Condition
from scenarios.observe.mbeans import ACTIVE_CONTROLLERS, UNDER_REPLICATED
from tests.scenarios.observe.checkers.written_history import ORDERS_0, WrittenHistory

CONSUMER = -101


class Cluster(WrittenHistory):
    """Brokers 0 to 3, each with a replica of ``orders-0``; broker 3 is the controller."""

    def __init__(self) -> None:
        super().__init__("converged")
        for node in range(4):
            self.emit(e.NodeStarted, node, 1)
            self.emit(ZkWritten, node, "create", broker_path(node), 0, 0, encode_broker(node, 0))
            self.loaded(node)
        self.elected(3)

    def elected(self, node: int) -> None:
        self.emit(ZkWritten, node, "create", CONTROLLER, 0, 0, encode_controller(node, 0))

    @property
    def checker(self) -> Converged:
        checker = self.checkers.get(Converged)
        assert checker is not None
        return checker

    def broken(self, condition: Condition, *, probed: bool = False) -> list[str]:
        return [one.found for one in self.checker.broken(self.world.now, probed=probed) if one.condition == condition]

    def moves_off_0(self) -> None:
        """Broker 0 leads, and broker 2 leads after the move, of which broker 0 gets nothing. A consumer has not read
        what broker 2 has committed, and broker 0 shows that it cannot shrink its ISR."""
        self.assigned((0, 1, 2, 3), by=3)
        self.state(0, (0, 1, 2, 3), 0)
        self.leads(0, 0, replicas=(0, 1, 2, 3))
        self.state(2, (1, 2, 3), 1)
        self.leads(2, 1)
        for node in (1, 2, 3):
            self.append(node, 0, 1, 1, leader=node == 2)
            self.high_watermark(node, 10, 1, leader=node == 2)
        for node in range(4):
            self.emit(GaugeSet, node, ACTIVE_CONTROLLERS, int(node == 3))
        self.emit(GaugeSet, 0, UNDER_REPLICATED, 1)
        self.checker.readers = lambda: {CONSUMER: (ORDERS_0,)}

    def of_what_is_left(self) -> list[list[str]]:
        return [
            self.broken(condition, probed=True) for condition in (Condition.NO_STRAYS, Condition.GAUGES, Condition.READ)
        ]


@pytest.fixture
def run() -> Cluster:
    return Cluster()


def test_a_replica_that_its_controller_should_have_stopped(run: Cluster) -> None:
    run.assigned((0, 1, 2, 3), by=3)
    run.assigned((1, 2, 3), by=3)
    assert run.broken(Condition.NO_STRAYS) == ["orders-0: broker 0 still has a replica, assigned to [1, 2, 3]"]


def test_one_that_its_controller_may_not_have_come_to_stays_excused_when_others_leave(run: Cluster) -> None:
    run.assigned((0, 1, 2, 3), by=3)
    run.assigned((1, 2, 3), by=3)
    run.elected(2)
    run.assigned((2, 3), by=2)
    assert run.broken(Condition.NO_STRAYS) == ["orders-0: broker 1 still has a replica, assigned to [2, 3]"]


@pytest.mark.parametrize(("core", "left"), [("0,1,2", True), ("0,1,2,3", False)])
def test_a_topic_that_cannot_be_deleted_without_a_broker_outside_of_the_core(
    run: Cluster, core: str, left: bool
) -> None:
    """Its deletion took the leaders of all partitions, also of those with no replica on broker 3 (3.3, seed 1213)."""
    data = encode_topic({0: (0, 1, 2), 1: (0, 1, 3)})
    run.emit(ZkWritten, 3, "create", topic_path("orders"), 0, 0, data)
    run.state(-1, (2,), 1)
    run.emit(e.Fault, "heal", core, "")
    led = ["orders-0: no leader, isr [2]", "orders-1: no leader was ever elected"]
    assert run.broken(Condition.LED) == led
    run.emit(ZkWritten, -1, "create", delete_topic_path("orders"), 0, 0, "")
    assert run.broken(Condition.LED) == ([] if left else led)
    assert (run.broken(Condition.NOTHING_ASKED) == []) == left


def test_a_leader_whose_process_is_another_by_now_has_to_be_told(run: Cluster) -> None:
    run.assigned((0, 1, 2, 3))
    run.state(0, (0, 1, 2, 3), 0)
    run.leads(0, 0)
    assert run.broken(Condition.LED) == []
    run.emit(e.NodeCrashed, 0, 1, "process")
    run.emit(e.NodeStarted, 0, 2)
    assert run.broken(Condition.LED) == ["orders-0: broker 0 does not lead in epoch 0"]


@pytest.mark.parametrize(("isr", "found"), [((0,), []), ((0, 2), ["orders-0: failed on broker 1 (KIP-461)"])])
def test_a_failed_partition_is_fetched_again_only_where_a_replica_may_lead(
    run: Cluster, isr: tuple[int, ...], found: list[str]
) -> None:
    """Only a later leader epoch takes it up again (kafka-3.9, seed 112 of the default swarm)."""
    run.assigned((0, 1, 2, 3))
    run.state(-1, isr, 1)
    run.emit(e.NodeCrashed, 0, 1, "stop")
    run.emit(e.PartitionFailed, 1, "ReplicaFetcherThread-0-0", "orders", 0, 0, "fenced", "FENCED_LEADER_EPOCH")
    assert run.broken(Condition.FETCHED) == found


@pytest.mark.parametrize(("replicas", "found"), [((1, 2), 1), ((0, 2), 0)])
def test_a_deletion_that_needs_a_broker_outside_the_core_may_wait(
    run: Cluster, replicas: tuple[int, ...], found: int
) -> None:
    run.assigned(replicas)
    run.emit(ZkWritten, -2, "create", delete_topic_path("orders"), 0, 0, "")
    run.emit(e.Fault, "heal", "1,2,3", "")
    assert len(run.broken(Condition.NOTHING_ASKED)) == found


STRAY = "orders-0: broker 0 still has a replica, assigned to [1, 2, 3]"
UNREAD = f"orders-0: consumer {CONSUMER} is nowhere, the high watermark at 10"


def test_what_is_left_on_a_broker_that_its_controller_should_have_stopped(run: Cluster) -> None:
    run.moves_off_0()
    run.assigned((1, 2, 3), by=3)
    assert run.of_what_is_left() == [[STRAY], ["broker 0 shows UnderReplicatedPartitions = 1"], [UNREAD]]


def test_what_is_left_by_a_controller_that_was_replaced_before_it_wrote_the_assignment(run: Cluster) -> None:
    """Its successor reads that the move is done (kafka-1.1, seed 22012; KAFKA-6082)."""
    run.moves_off_0()
    run.assigned((1, 2, 3), by=1)
    assert run.of_what_is_left() == [[], [], []]


def test_what_is_left_by_a_controller_that_was_replaced_afterwards(run: Cluster) -> None:
    run.moves_off_0()
    run.assigned((1, 2, 3), by=3)
    run.elected(2)
    run.emit(GaugeSet, 3, ACTIVE_CONTROLLERS, 0)
    run.emit(GaugeSet, 2, ACTIVE_CONTROLLERS, 1)
    assert run.of_what_is_left() == [[], [], []]


def test_a_consumer_is_excused_only_where_such_a_broker_leads(run: Cluster) -> None:
    """Here it follows, so it sends on who asks it."""
    run.moves_off_0()
    run.follows(0, 2, 1)
    run.assigned((1, 2, 3), by=1)
    assert run.of_what_is_left() == [[], [], [UNREAD]]
