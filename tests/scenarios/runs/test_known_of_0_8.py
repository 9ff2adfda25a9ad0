"""Known findings of 0.8: what its controller and its leaders do with replicas that are moved, or dead."""

from __future__ import annotations

from typing import Any

from attrs import evolve

from emulator.protocol import events as e
from emulator.protocol.shown import Deviated
from emulator.protocol.znodes import REASSIGN_PARTITIONS, LeaderAndIsr, broker_path, encode_reassignment, state_path
from emulator.trace.events import Step, ZkWritten
from scenarios.runs import Run
from scenarios.runs.finding import UNFINISHED, Finding
from scenarios.runs.known_findings import known
from tests.scenarios.runs.building import TP
from tests.scenarios.runs.stated import (
    GAUGES,
    IN_SYNC,
    LED,
    NO_STRAYS,
    NOTHING_ASKED,
    stated,
)
from tests.scenarios.runs.test_known_findings import assigned, elected, quiet, tickets, told

__all__ = ["quiet"]


def test_a_move_of_0_8_whose_target_has_a_dead_broker_is_given_up(quiet: Run) -> None:
    asks, ends = e.MoveStarted(3, 3, 0, *TP, (0, 2)), e.MoveFinished(6, 6, 0, *TP, (0, 2))
    comes, dies = (
        ZkWritten(seq, seq, 0, 2, op, broker_path(2), 0, 0, "") for seq, op in ((2, "create"), (5, "delete"))
    )
    lives = ZkWritten(2, 2, 0, 0, "create", broker_path(0), 0, 0, "")

    def reasons(profile: str, *marks: Any) -> list[str]:
        run = told(quiet, profile, [assigned(1, 0, 1), lives, *marks])
        return [reason.ticket for reason in known(run, Finding(UNFINISHED))]

    assert reasons("kafka-0.8", comes, asks, dies, ends) == ["KAFKA-4214"]
    assert reasons("kafka-0.8", asks, comes._replace(seq=4), ends) == ["KAFKA-4214"]
    later, controller = comes._replace(seq=5), e.ControllerElected(5, 5, 0, 0, 2)
    assert reasons("kafka-0.8", comes, asks, controller, ends) == []
    gone = dies._replace(seq=4)
    assert reasons("kafka-0.8", comes, asks, gone, controller, later, ends) == ["KAFKA-4214"]
    assert reasons("kafka-1.1", comes, asks, dies, ends) == []
    assert reasons("kafka-0.8", comes, asks, ends) == []
    assert reasons("kafka-0.8", comes, asks, dies) == []
    assert reasons("kafka-0.8", comes, asks, assigned(4, 0, 2), dies, ends) == []


def test_a_move_of_0_8_waits_for_a_new_replica_whose_broker_was_started_meanwhile(quiet: Run) -> None:
    asks = e.MoveStarted(2, 2, 0, *TP, (0, 1))
    waits = Step(3, 3, 0, "kafka-42.3", "before", *TP, 3, 0, 2, "")
    back = e.BrokerRegistered(4, 4, 0, 1, 40)
    follows = e.BecameFollower(5, 5, 0, 1, *TP, 0, 1, 0, 0)
    found = stated("converged", NOTHING_ASKED, 9, 9, "/admin/reassign_partitions is still there")
    ticket = "KafkaController.onPartitionReassignment (0.8.1)"
    assert tickets(told(quiet, "kafka-0.8", [asks, waits, back], found)) == [ticket]
    for marks in ([asks, back], [asks, waits], [asks, waits, back, follows], [waits, back]):
        assert tickets(told(quiet, "kafka-0.8", marks, found)) == [None]
    assert tickets(told(quiet, "kafka-1.1", [asks, waits, back], found)) == [None]
    told_of_another = [asks, waits, follows, elected(6, 2, 3)]
    assert tickets(told(quiet, "kafka-0.8", told_of_another, found)) == [ticket]
    assert tickets(told(quiet, "kafka-0.8", [*told_of_another, assigned(7, 0, 1)], found)) == [None]
    in_zookeeper = ZkWritten(2, 2, 0, -2, "create", REASSIGN_PARTITIONS, 0, 9, encode_reassignment({TP: (0, 1)}))
    assert tickets(told(quiet, "kafka-0.8", [in_zookeeper, *told_of_another[1:]], found)) == [ticket]  # seed 28049
    assert tickets(told(quiet, "kafka-0.8", [in_zookeeper, waits, follows], found)) == [None]
    chosen = e.LeaderElected(6, 6, 0, *TP, 2, 3, (2,), "offline", 1, unclean=True)
    has_no_role = [assigned(1, 0), asks, waits, chosen]
    assert tickets(told(quiet, "kafka-0.8", has_no_role, found)) == [ticket]
    for marks in ([chosen._replace(seq=1), *has_no_role[:3]], [*has_no_role, follows._replace(seq=7)]):
        assert tickets(told(quiet, "kafka-0.8", marks, found)) == [None]
    left = stated("converged", NO_STRAYS, 9, 9, "orders-0: broker 1 still has a replica, assigned to [0]", brokers=(1,))
    assert tickets(told(quiet, "kafka-0.8", [asks, follows], left)) == [ticket]
    earlier = [assigned(0, 0, 1), assigned(1, 0)]  # of a move that is over
    assert tickets(told(quiet, "kafka-0.8", [*earlier, asks, follows], left)) == [ticket]
    came = e.PartitionCreated(5, 5, 0, 1, *TP, 2)  # and its leader was dead: it has no role
    assert tickets(told(quiet, "kafka-0.8", [asks, came], left)) == [ticket]
    assert tickets(told(quiet, "kafka-0.8", [asks, came._replace(node=2)], left)) == [None]
    for others in (
        [asks._replace(target=(0, 2)), follows],
        [asks, follows, assigned(7, 0, 1), assigned(8, 0)],
        [asks],
        [follows._replace(seq=1), asks],
    ):
        assert tickets(told(quiet, "kafka-0.8", others, left)) == [None]


def test_a_move_of_0_8_to_replicas_that_are_in_the_isr_marks_none_as_online(quiet: Run) -> None:
    """Seeds 10009 and 417 of the default swarm."""
    ticket = "KafkaController.onPartitionReassignment (0.8.0)"
    unmarked = Deviated(4, 4, 0, 2, "KafkaController.onPartitionReassignment", *TP, 1)
    found = stated(
        "roles_adopted", "…", 9, 9, "orders-0: leader 0 of epoch 1 in ZooKeeper, and broker 1 has no role", brokers=(1,)
    )
    marks = [assigned(2, 0), unmarked, assigned(5, 0, 1)]
    kept = stated("drops_stopped", "…", 9, 9, "orders-0: …", brokers=(1,))
    left = stated("converged", NO_STRAYS, 9, 9, "orders-0: broker 1 still has a replica, assigned to [0]", brokers=(1,))
    assert tickets(told(quiet, "kafka-0.8", marks, found)) == [ticket]
    for about in (kept, left):
        assert tickets(told(quiet, "kafka-0.8", [*marks, assigned(8, 0)], about)) == [ticket]
        assert tickets(told(quiet, "kafka-0.8", marks, about)) == [None]
    takes_over = e.ControllerElected(6, 6, 0, 2, 5)  # it takes all that are assigned for online or offline
    again = [assigned(6, 0), assigned(7, 0, 1)]  # another move has brought it
    for others in (
        [marks[0], marks[2]],
        [marks[0], unmarked._replace(replica=0), marks[2]],
        [*marks, takes_over],
        [*marks, *again],
    ):
        assert tickets(told(quiet, "kafka-0.8", others, found)) == [None]
        assert tickets(told(quiet, "kafka-0.8", [*others, assigned(8, 0)], kept)) == [None]
    assert tickets(told(quiet, "kafka-1.1", marks, found)) == [None]


def test_a_move_of_0_8_makes_a_replica_the_leader_that_has_left_the_isr(quiet: Run) -> None:
    """Seed 405 of the default swarm."""
    ticket = "ReassignedPartitionLeaderSelector.selectLeader (0.8.0)"
    chosen = e.LeaderElected(3, 3, 0, *TP, 1, 3, (0,), "reassigned", 1, unclean=True)
    outside = stated("leader_in_isr", "…", 9, 9, "orders-0, epoch 3: broker 1 leads and the ISR is [0]")
    stays = stated("converged", IN_SYNC, 9, 9, "orders-0: isr [2], assignment [1, 2], leader 1", brokers=(1,))
    marks: list[Any] = [elected(1, 0), led_by(2, 1, 0), chosen, led_by(5, 1, 2)]
    for found in (outside, stays):
        assert tickets(told(quiet, "kafka-0.8", marks, found)) == [ticket]
        for others in (
            [*marks[:2], chosen._replace(selector="offline"), marks[3]],
            [*marks[:2], chosen._replace(leader_epoch=2), marks[3]],
            [*marks[:3], led_by(4, 1, 1, 2), marks[3]],
            [*marks, elected(6, 2)],
        ):
            assert tickets(told(quiet, "kafka-0.8", others, found)) == [None]
        assert tickets(told(quiet, "kafka-1.1", marks, found)) == [None]
    assert tickets(told(quiet, "kafka-0.8", marks, evolve(stays, brokers=(2,)))) == [None]


def led_by(seq: int, leader: int, *isr: int) -> ZkWritten:
    """The state znode gets this leader and this ISR, in epoch 3."""
    data = LeaderAndIsr(leader, 3, isr, 1).encode()
    return ZkWritten(seq, seq, 0, 2, "setData", state_path(TP), seq, seq, data)


def test_a_leader_of_0_8_counts_the_replicas_that_a_partition_came_with(quiet: Run) -> None:
    found = stated("converged", GAUGES, 9, 9, "broker 0 shows UnderReplicatedPartitions = 1", brokers=(0,))
    marks: list[Any] = [e.PartitionCreated(3, 3, 0, 0, *TP, 3), elected(4, 0, 1), assigned(5, 0, 1)]
    assert tickets(told(quiet, "kafka-0.8", marks, found)) == ["Partition.isUnderReplicated (0.8.0)"]
    more = stated("converged", GAUGES, 9, 9, "broker 0 shows UnderReplicatedPartitions = 2", brokers=(0,))
    assert tickets(told(quiet, "kafka-0.8", marks, more)) == [None]
    assert tickets(told(quiet, "kafka-1.1", marks, found)) == [None]
    for others in (
        [*marks[:2], assigned(5, 0, 1, 2)],
        [marks[0]._replace(node=1), *marks[1:]],
        [marks[0], elected(4, 1, 0), marks[2]],
        [*marks[:1], marks[0]._replace(seq=4, replication_factor=2), *marks[1:]],
    ):
        assert tickets(told(quiet, "kafka-0.8", others, found)) == [None]


def test_a_leader_of_0_8_adds_any_replica(quiet: Run) -> None:
    found = stated(
        "expands_assigned", "…", 9, 9, "orders-0: broker 2, leader of epoch 0, … adds broker 1", brokers=(2,)
    )
    stays = stated("converged", IN_SYNC, 9, 9, "orders-0: isr [0, 1], assignment [0], leader 0", brokers=(1,))
    joins = e.IsrProposed(5, 5, 0, 0, *TP, 1, "expand", (0, 1), 0, 0, 0, (1,), (0,), (-1,), (0,), 1, -1)
    assert tickets(told(quiet, "kafka-0.8", [joins], found, stays)) == ["KAFKA-1097"] * 2
    assert tickets(told(quiet, "kafka-0.8", [], found, stays)) == ["KAFKA-1097", None]
    silent = stated("converged", LED, 9, 9, "orders-0: broker 1 does not lead in epoch 3", brokers=(1,))
    assert tickets(told(quiet, "kafka-0.8", [joins, assigned(6, 0, 2)], silent)) == ["KAFKA-1097"]
    assert tickets(told(quiet, "kafka-0.8", [joins, assigned(6, 0, 1)], silent)) == [None]
    assert tickets(told(quiet, "kafka-1.1", [], found)) == [None]


def test_a_broker_that_was_restarted_obeys_a_controller_that_has_been_replaced(quiet: Run) -> None:
    """Before KIP-380; seed 44302 of the default swarm. The broker leads in epoch 0, after records of epoch 2."""
    found = stated(
        "append_shape", "…", 9, 9, "broker 1, orders-0: batch 7 of epoch 0 follows a batch of epoch 2", brokers=(1,)
    )
    state = ZkWritten(3, 3, 0, 0, "setData", state_path(TP), 0, 3, LeaderAndIsr(1, 2, (1,), 1, 0).encode())
    elects = e.ControllerElected(4, 4, 0, 3, 3)
    crash = e.NodeCrashed(5, 5, 0, 1, 1, "process")
    request = e.ControlRequest(6, 6, 0, "LeaderAndIsr", 2, 1, 2, -1, 1, "orders-0")
    leads = e.BecameLeader(7, 7, 6, 1, *TP, 0, 5, 5, (1,), (1,), (), ())
    for profile, ticket in (("kafka-0.8", "KIP-380"), ("kafka-1.1", "KIP-380"), ("kafka-2.3", None)):
        assert tickets(told(quiet, profile, [state, elects, crash, request, leads], found)) == [ticket]
    for events in (
        [state, elects, request, leads],
        [state, elects, crash._replace(node=2), request, leads],
        [crash._replace(seq=2), state, elects, request, leads],
        [state, crash, request, leads],
        [state, elects, crash, request._replace(controller_epoch=3), leads],
        [state, elects, crash, request, leads._replace(leader_epoch=2)],
        [state, elects, crash, leads],
    ):
        assert tickets(told(quiet, "kafka-0.8", events, found)) == [None]
