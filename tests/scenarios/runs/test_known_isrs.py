"""Wrong behaviour of leaders and controllers with ISRs and moves, by its marks in the trace and nothing less."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from brokers.partition.partition import Partition
from emulator.protocol import events as e
from emulator.protocol.errors import Errors
from emulator.protocol.znodes import REASSIGN_PARTITIONS, LeaderAndIsr
from emulator.trace.events import Step, ZkWritten
from scenarios.observe.findings.memory_facts import BrokerRemembers
from scenarios.runs import Run, run_scenario
from tests.scenarios.runs.building import TP, Table, scenario
from tests.scenarios.runs.stated import (
    FETCHED,
    GAUGES,
    IN_SYNC,
    LACK_WHAT_IS_NEW,
    LED,
    NOTHING_ASKED,
    READ,
    restated,
    stated,
)
from tests.scenarios.runs.test_known_findings import assigned, elected, quiet, tickets, told, unled

__all__ = ["quiet"]

GIVEN_UP = "Partition.handleAlterIsrResponse (2.7.0 to 3.0.0)"
DROPPED = "KafkaController.updateCurrentReassignment (2.4.1 to 2.7.2)"
LOST = "KafkaController.processApiPartitionReassignment (2.4.1 to 2.7.2)"


def wish(epoch: int, *, seq: int) -> e.IsrProposed:
    return e.IsrProposed(
        seq, seq, 0, 0, *TP, epoch, "expand", (0, 1), 0, 0, 0, (1,), (0,), (epoch,), (0,), 10_000_000, -1
    )


def outcome(epoch: int, *, seq: int) -> e.IsrChanged:
    return e.IsrChanged(seq, seq, 0, 0, *TP, epoch, "expand", (0, 1), 1)


def joins(seq: int, broker: int) -> e.IsrProposed:
    return e.IsrProposed(seq, seq, 0, 0, *TP, 3, "expand", (0, broker), 0, 0, 0, (1,), (0,), (1,), (0,), 1, -1)


def test_kafka_9672_a_replica_that_joined_after_it_was_dropped_is_in_sync_when_it_is_added_again(quiet: Run) -> None:
    lacks = "orders-0, ISR [0, 1]: the log of broker 1 ends at 0 and lacks what is committed up to offset 5"
    found = stated("isr_complete", "…", 9, 9, lacks, brokers=(1,))
    cuts = stated("truncate_safety", "…", 9, 9, "orders-0: the log of broker 1, in the ISR [0, 1], …", brokers=(1,))
    marks: list[Any] = [
        assigned(1, 0, 1),
        assigned(2, 0),
        joins(3, 1),
        elected(4, 0, 1),
        assigned(5, 0, 1),
        elected(6, 0, 1),
    ]
    assert tickets(told(quiet, "kafka-2.5", marks, found, cuts)) == ["KAFKA-9672"] * 2
    assert tickets(told(quiet, "kafka-2.3", marks, found)) == [None]
    left = [*marks[:5], elected(6, 0), elected(7, 0, 1)]
    for others in (left, [marks[0], *marks[2:]], [*marks[:2], *marks[3:]], [marks[0], marks[2], marks[1], *marks[3:]]):
        in_order = [event._replace(seq=number, t_us=number) for number, event in enumerate(others, 1)]
        assert tickets(told(quiet, "kafka-2.5", in_order, found)) == [None]


def refused(epoch: int, *, seq: int) -> e.IsrUpdateFailed:
    return e.IsrUpdateFailed(seq, seq, 0, 0, *TP, epoch)


def test_kafka_1382_a_leader_that_takes_its_write_for_refused_changes_the_isr_no_more(quiet: Run) -> None:
    marks = [wish(3, seq=1), elected(2, 0, 1), refused(3, seq=3), joins(4, 2), refused(3, seq=5)]
    gauge = stated("converged", GAUGES, 9, 9, "broker 0 shows UnderReplicatedPartitions = 1", brokers=(0,))
    lacks = stated("converged", IN_SYNC, 9, 9, "orders-0: isr [0, 1], assignment [0, 1, 2], leader 0", brokers=(2,))
    facts = BrokerRemembers(0, "replicas", "", "…", "…")
    knew = evolve(stated("broker_remembers", "…", 9, 9, "…"), facts=facts, partition=TP, brokers=(0,))
    for other in (facts._replace(broker=1), facts._replace(memory="metadata")):
        assert tickets(told(quiet, "kafka-0.8", marks, evolve(knew, facts=other))) == [None]
    for found in (gauge, lacks, knew):
        assert tickets(told(quiet, "kafka-0.8", marks, found)) == ["KAFKA-1382"]
        assert tickets(told(quiet, "kafka-1.1", marks, found)) == [None]
        for others in (
            marks[:2],
            marks[1:],
            [*marks, elected(6, 0, 2)],
            [*marks, e.IsrChanged(6, 6, 0, 0, *TP, 3, "expand", (0, 1), 6)],
            [*marks[:2], refused(2, seq=3)],
        ):
            assert tickets(told(quiet, "kafka-0.8", others, found)) == [None]


def test_in_0_8_a_replica_that_was_offline_stays_in_the_isr_when_a_move_drops_it(quiet: Run) -> None:
    gone = ZkWritten(1, 1, 0, 1, "delete", "/brokers/ids/1", 0, 0, "")
    takes_over = e.ControllerElected(2, 2, 0, 2, 4)
    marks: list[Any] = [assigned(0, 0, 1), gone, takes_over, elected(3, 0, 1), assigned(4, 0)]
    ticket = "ReplicaStateMachine.initializeReplicaState (0.8.1)"
    leads = stated("converged", LED, 9, 9, "orders-0: broker 1 does not lead in epoch 3", brokers=(1,))
    stays = stated("converged", IN_SYNC, 9, 9, "orders-0: isr [0, 1], assignment [0], leader 0", brokers=(1,))
    for found in (leads, stays):
        assert tickets(told(quiet, "kafka-0.8", marks, found)) == [ticket]
        assert tickets(told(quiet, "wiki-text", marks, found)) == [ticket]
        assert tickets(told(quiet, "kafka-1.1", marks, found)) == [None]
        for others in (
            [*marks[:4], assigned(4, 0, 1)],
            [*marks, elected(5, 0)],
            [*marks[:2], *marks[3:]],
            [marks[0], gone._replace(op="create"), *marks[2:]],
            [*marks[:3], Step(3, 3, 0, "broker-startup.2", "after", "", -1, 1, 0, 2, ""), *marks[3:]],
        ):
            assert tickets(told(quiet, "kafka-0.8", others, found)) == [None]


def test_so_does_one_whose_failure_the_controller_has_handled_and_no_move_goes_on(quiet: Run) -> None:
    """wiki-text, seed 46087: the session of broker 1 is over, and the leader adds it to the ISR once more."""
    back = ZkWritten(1, 1, 0, 1, "create", "/brokers/ids/1", 0, 0, "")
    fails = Step(4, 4, 0, "broker-failure.3", "after", "", -1, 1, 0, 2, "")
    marks: list[Any] = [assigned(0, 0, 1), back, e.ControllerElected(2, 2, 0, 2, 4), fails]
    marks += [elected(5, 0, 1), assigned(6, 0), unled(7, 1), e.MoveStarted(8, 8, 0, *TP, (0, 2))]
    alone = stated("converged", LED, 9, 9, "orders-0: no leader, isr [1]")
    waits = stated("converged", NOTHING_ASKED, 9, 9, f"{REASSIGN_PARTITIONS} is still there")
    ticket = "ReplicaStateMachine.initializeReplicaState (0.8.1)"
    for found in (alone, waits):
        assert tickets(told(quiet, "wiki-text", marks, found)) == [ticket]
        assert tickets(told(quiet, "kafka-1.1", marks, found)) == [None]
        for others in (
            [*marks[:3], *marks[4:]],
            [*marks[:3], fails._replace(node=1), *marks[4:]],
            [*marks[:3], fails._replace(broker=0), *marks[4:]],
            [*marks[:3], fails._replace(edge="before"), *marks[4:]],
            [*marks[:4], fails._replace(seq=5, step="broker-startup.2"), *marks[4:]],
            [*marks[:2], fails._replace(seq=1), *marks[2:3], *marks[4:]],
            [*marks[:5], elected(6, 0), *marks[5:]],
            [*marks[:6], unled(7, 0, 1), *marks[7:]],
        ):
            assert tickets(told(quiet, "wiki-text", others, found)) == [None]
    for others in (marks[:7], [*marks[:6], *marks[7:]], [*marks, e.MoveStarted(9, 9, 0, "orders", 1, (0,))]):
        assert tickets(told(quiet, "wiki-text", others, waits)) == [None]


def test_a_leader_of_2_7_that_is_refused_waits_with_the_isr_from_before(quiet: Run) -> None:
    found = stated("converged", GAUGES, 9, 9, "broker 0 shows UnderReplicatedPartitions = 1", brokers=(0,))
    marks = [wish(3, seq=1), elected(2, 0, 1), refused(3, seq=3)]
    assert tickets(told(quiet, "kafka-2.7", marks, found)) == [GIVEN_UP]
    assert tickets(told(quiet, "kafka-2.6", marks, found)) == [None]
    assert tickets(told(quiet, "kafka-2.7", marks, restated(found, found.state.replace("= 1", "= 2")))) == [None]
    for others in (
        marks[:2],
        [*marks, outcome(3, seq=4)],
        [marks[0], elected(2, 0), marks[2]],
        [wish(2, seq=1), marks[1], refused(2, seq=3)],
    ):
        assert tickets(told(quiet, "kafka-2.7", others, found)) == [None]


def step(seq: int, name: str, edge: str = "before") -> Step:
    return Step(seq, seq, 0, name, edge, *TP, -1, 0, 2, "")


def test_a_move_that_is_cancelled_may_drop_the_whole_isr(quiet: Run) -> None:
    led = stated("converged", LED, 9, 9, "orders-0: no leader, isr [4]")
    failed = stated("converged", FETCHED, 9, 9, "orders-0: failed on broker 1 (KIP-461)", brokers=(1,))
    marks: list[Any] = [assigned(1, 1, 4), elected(2, 4), step(3, "kip-455.U1"), assigned(4, 1), unled(5, 4)]
    assert tickets(told(quiet, "kafka-2.6", marks, led, failed)) == [DROPPED] * 2
    assert tickets(told(quiet, "kafka-2.3", marks, led, failed)) == [None] * 2
    for others in (
        [*marks[:2], *marks[3:]],
        [marks[0], elected(2, 4, 1), *marks[2:]],
        marks[:4],
        [*marks[:3], assigned(4, 1, 4), marks[4]],
    ):
        assert tickets(told(quiet, "kafka-2.6", others, led, failed)) == [None] * 2


def test_a_request_through_the_api_is_lost_with_its_controller(quiet: Run) -> None:
    asked = e.MoveStarted(1, 1, 0, *TP, (1, 2))
    replaced = e.ControllerElected(2, 2, 0, 1, 2)
    late = e.MoveAnswered(3, 3, 0, *TP, "REQUEST_TIMED_OUT")

    def found(*events: Any, profile: str = "kafka-2.4") -> list[str | None]:
        return tickets(evolve(told(quiet, profile, list(events)), reason="unfinished"))

    assert found(asked, replaced, late) == [LOST]
    assert found(asked, replaced, late, profile="kafka-2.3") == [None]
    assert found(asked, late) == [None]
    assert found(asked, replaced) == [None]
    assert found(asked, replaced, late._replace(error="NONE")) == [None]
    assert found(asked, step(2, "kip-455.U1"), replaced, late) == [LOST]
    assert found(asked, step(2, "kip-455.U1", "after"), replaced, late) == [None]


def test_each_replica_that_a_violation_is_about_needs_a_reason(quiet: Run) -> None:
    """The checker names no replica whose broker is down. Two may have different reasons: kafka-2.3, seed 43005."""
    refuses = e.ControlResponse(5, 5, 0, "UpdateMetadata", 1, 2, 4, "UNKNOWN_SERVER_ERROR", (), ())
    found = stated("converged", IN_SYNC, 9, 9, "orders-0: isr [0], assignment [0, 1, 2], leader 0", brokers=(1, 2))
    assert tickets(told(quiet, "kafka-2.3", [refuses], found)) == [None]
    assert tickets(told(quiet, "kafka-2.3", [refuses], evolve(found, brokers=(1,)))) == ["KAFKA-9839"]
    assert tickets(told(quiet, "kafka-2.3", [refuses, refuses._replace(node=2)], found)) == ["KAFKA-9839"]
    bumped: list[Any] = [
        elected(1, 0)._replace(data=LeaderAndIsr(0, 2, (0,), 1).encode()),
        Step(2, 2, 0, "wiki.3", "before", *TP, -1, 0, 2, ""),
        elected(3, 0),
        e.BecameFollower(4, 4, 0, 2, *TP, 2, 0, 0, 0),
        refuses,
        e.PartitionFailed(6, 6, 0, 2, "ReplicaFetcherThread-0-0", *TP, 2, *[Errors.FENCED_LEADER_EPOCH.name] * 2),
    ]
    assert tickets(told(quiet, "kafka-2.3", bumped, found)) == ["KAFKA-9839 and KAFKA-9212"]
    assert tickets(told(quiet, "kafka-2.3", bumped[:-1], found)) == [None]
    idle = stated("converged", LED, 9, 9, "orders-0: broker 1 does not lead in epoch 7", brokers=(1,))
    assert tickets(told(quiet, "kafka-2.3", [refuses], idle)) == ["KAFKA-9839"]
    assert tickets(told(quiet, "kafka-2.3", [], idle)) == [None]


def keeps_up(profile: str, stop: str, linger: str = "30ms") -> Run:
    """A follower comes back under a load, in which a batch comes every 30 ms, and is 20 ms away."""
    load: Table = {"topic": "orders", "producerRate": 330, "keys": 1, "linger": linger, "stop": stop}
    crash: Table = {"at": "3s", "action": "broker.crash", "target": 1, "duration": "10s"}
    return run_scenario(
        scenario(
            brokers=3, controller=2, assignment=[[0, 1]], rate=0, size="0B", workloads=[load], method=[crash],
            expect=[{"converged": True, "within": "15s"}], cluster={"network": {"latency": "20ms"}}, horizon="50s",
            profile=profile, strategy="kafka-42" if profile == "kafka-0.8" else "wiki",
        )
    )  # fmt: skip


def test_kafka_4485_a_follower_that_keeps_up_with_the_load_does_not_join_the_isr() -> None:
    assert tickets(keeps_up("kafka-0.8", "40s")) == ["KAFKA-4485"]
    assert keeps_up("kafka-0.8", "20s").passed, "it joins once nothing comes"
    assert keeps_up("kafka-1.1", "40s").passed


def test_kafka_4485_says_nothing_of_one_that_has_fetched_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its leader might have added it, and has not."""
    assert keeps_up("kafka-0.8", "40s", "200ms").passed
    monkeypatch.setattr(Partition, "is_replica_isr_eligible", lambda *_: False)
    assert tickets(keeps_up("kafka-0.8", "40s", "200ms")) == [None]
    assert tickets(keeps_up("kafka-0.8", "40s")) == ["KAFKA-4485"]


def test_kafka_4485_says_nothing_of_one_that_lacks_more(quiet: Run) -> None:
    found = stated("converged", IN_SYNC, 9, 9, "orders-0: isr [0], assignment [0, 1], leader 0", brokers=(1,))
    assert tickets(told(quiet, "kafka-0.8", [], found)) == [None]
    new = restated(found, found.state + LACK_WHAT_IS_NEW)
    assert tickets(told(quiet, "kafka-0.8", [], new)) == ["KAFKA-4485"]
    assert tickets(told(quiet, "kafka-1.1", [], new)) == [None]


def test_a_move_that_drops_the_leader_leaves_its_partition_online_without_one(quiet: Run) -> None:
    drops = Step(4, 4, 0, "kip-455.U3", "before", *TP, -1, 0, 2, "")
    marks: list[Any] = [elected(3, 1, 0), drops, elected(5, -1, 0), elected(6, -1, 0)]
    ticket = "ReplicaStateMachine.doRemoveReplicasFromIsr (1.1.1 to 2.7.2)"
    counted = "controller 2 shows 0 offline partitions; 1 have no live leader"
    for found in (
        stated("led_in_time", "…", 9, 9, "orders-0: leader -1, ISR [0], registered [0, 1, 2], for 9.1 s"),
        stated("offline_true", "…", 9, 9, counted),
        stated("converged", LED, 9, 9, "orders-0: no leader, isr [0]"),
    ):
        assert tickets(told(quiet, "kafka-2.6", marks, found)) == [ticket]
        assert tickets(told(quiet, "kafka-0.8", marks, found)) == [None]
        for others in (
            [*marks, elected(7, 0)],
            [marks[0], *marks[2:]],
            [marks[0], drops._replace(edge="after"), *marks[2:]],
            [marks[0], drops._replace(partition=1), *marks[2:]],
        ):
            assert tickets(told(quiet, "kafka-2.6", others, found)) == [None]
    more = stated("offline_true", "…", 9, 9, counted.replace("; 1", "; 2"))
    assert tickets(told(quiet, "kafka-2.6", marks, more)) == [None]


def test_kafka_9212_a_broker_that_starts_after_a_move_raised_the_epoch_is_fenced(quiet: Run) -> None:
    role = e.BecameFollower(4, 4, 0, 1, *TP, 2, 0, 0, 0)
    fenced = e.PartitionFailed(5, 5, 0, 1, "ReplicaFetcherThread-0-0", *TP, 2, *[Errors.FENCED_LEADER_EPOCH.name] * 2)
    raises = Step(1, 1, 0, "wiki.3", "before", *TP, -1, 0, 2, "")
    before = elected(0, 0)._replace(data=LeaderAndIsr(0, 2, (0,), 1).encode())
    marks: list[Any] = [assigned(0, 0, 1), before, raises, elected(2, 0), role, fenced]
    asked = e.MoveStarted(3, 3, 0, *TP, (1, 0))
    waits = raises._replace(seq=6, step="wiki.4")
    for found, more in (
        (stated("converged", FETCHED, 9, 9, "orders-0: failed on broker 1 (KIP-461)", brokers=(1,)), []),
        (stated("converged", IN_SYNC, 9, 9, "orders-0: isr [0], assignment [0, 1], leader 0", brokers=(1,)), []),
        (stated("converged", NOTHING_ASKED, 9, 9, "/admin/reassign_partitions is still there"), [asked, waits]),
    ):
        assert tickets(told(quiet, "kafka-2.3", [*marks, *more], found)) == ["KAFKA-9212"]
        assert tickets(told(quiet, "kafka-2.4", [*marks, *more], found)) == [None]
        for others in (
            marks[:5],
            [marks[0], before, *marks[3:]],
            [*marks[:3], elected(2, 0, 1), role, fenced],
            [*marks[:3], elected(2, 1), role, fenced],
            [*marks[:3], role._replace(seq=1), elected(2, 0), fenced],
            [*marks[:4], role._replace(leader_epoch=3), fenced],
            [*marks[:5], fenced._replace(reason="append: …")],
        ):
            assert tickets(told(quiet, "kafka-2.3", [*others, *more], found)) == [None]


def test_kafka_9212_a_broker_that_knows_the_epoch_refuses_it_when_it_starts_again(quiet: Run) -> None:
    """Its connections were cut while a move raised the epoch (2.3, seed 60870)."""
    follows = e.BecameFollower(1, 1, 0, 1, *TP, 2, 0, 0, 0)
    fenced = e.PartitionFailed(5, 5, 0, 1, "ReplicaFetcherThread-0-0", *TP, 2, *[Errors.FENCED_LEADER_EPOCH.name] * 2)
    refuses = e.ControlResponse(6, 6, 0, "LeaderAndIsr", 1, 2, 4, "NONE", (str(TP),), ("STALE_CONTROLLER_EPOCH",))
    before = elected(2, 0)._replace(data=LeaderAndIsr(0, 2, (0,), 1).encode())
    marks: list[Any] = [follows, before, Step(3, 3, 0, "wiki.3", "before", *TP, -1, 0, 2, ""), elected(4, 0), fenced]
    found = stated("converged", FETCHED, 9, 9, "orders-0: failed on broker 1 (KIP-461)", brokers=(1,))
    assert tickets(told(quiet, "kafka-2.3", [*marks, refuses], found)) == ["KAFKA-9212"]
    assert tickets(told(quiet, "kafka-2.4", [*marks, refuses], found)) == [None]
    for others in (
        [],
        [refuses._replace(node=2)],
        [refuses._replace(refused=())],
        [refuses._replace(api="StopReplica")],
    ):
        assert tickets(told(quiet, "kafka-2.3", [*marks, *others], found)) == [None]
    early = refuses._replace(seq=3, t_us=3)
    assert tickets(told(quiet, "kafka-2.3", [*marks[:2], early, *marks[2:]], found)) == [None]


def test_kafka_9212_step_1_of_kafka_6794_waits_for_a_current_replica_that_is_fenced(quiet: Run) -> None:
    """kip-461, seed 1026 of the default swarm: the move drops the replica that its first step waits for."""
    found = stated("converged", NOTHING_ASKED, 9, 9, "/admin/reassign_partitions is still there")
    waits = Step(1, 1, 0, "kafka-6794.1", "before", *TP, -1, 0, 2, "")
    before = elected(0, 0)._replace(data=LeaderAndIsr(0, 2, (0,), 1).encode())
    role = e.BecameFollower(4, 4, 0, 1, *TP, 2, 0, 0, 0)
    fenced = e.PartitionFailed(5, 5, 0, 1, "ReplicaFetcherThread-0-0", *TP, 2, *[Errors.FENCED_LEADER_EPOCH.name] * 2)
    asked = e.MoveStarted(0, 0, 0, *TP, (0, 2))
    marks: list[Any] = [asked, assigned(0, 0, 1), before, waits, elected(2, 0), role, fenced]
    assert tickets(told(quiet, "kip-461", marks, found)) == ["KAFKA-9212"]
    later = waits._replace(step="kafka-6794.3", seq=6)
    replaced = later._replace(node=1)  # goes on, as it has been paused (2.3, seed 45210)
    controllers = [e.ControllerElected(0, 0, 0, node, node) for node in (1, 2)]
    assert tickets(told(quiet, "kip-461", [*controllers, *marks, replaced], found)) == ["KAFKA-9212"]
    assert tickets(told(quiet, "kip-461", [*controllers[::-1], *marks, replaced], found)) == [None]
    for others in ([*marks, later], marks[:-1], [*marks, assigned(6, 0, 2)], [asked._replace(seq=3), *marks[1:]]):
        assert tickets(told(quiet, "kip-461", others, found)) == [None]


def test_kafka_9212_a_consumer_is_refused_until_the_epoch_is_known(quiet: Run) -> None:
    found = stated("converged", READ, 9, 9, "orders-0: consumer -20 is at 0, the high watermark at 100")
    before = elected(1, 0, 1)._replace(data=LeaderAndIsr(0, 2, (0, 1), 1).encode())
    raises = Step(2, 2, 0, "wiki.7", "before", *TP, -1, 0, 2, "")
    marks: list[Any] = [before, raises, elected(3, 0, 1)]
    assert tickets(told(quiet, "kafka-2.3", marks, found)) == ["KAFKA-9212"]
    for profile in ("kafka-1.1", "kafka-2.4"):  # the consumers of 1.1 name no epoch
        assert tickets(told(quiet, profile, marks, found)) == [None]
    announced = elected(4, 0)
    for events in (
        [before, marks[2]],
        marks[1:],
        [*marks, announced],
        [*marks, e.ControllerElected(4, 4, 0, 2, 3)],
        [before, raises, elected(3, 1, 0)],
        [e.MoveStarted(1, 1, 0, *TP, (1, 0))],
    ):
        assert tickets(told(quiet, "kafka-2.3", events, found)) == [None]


def test_kafka_6794_waits_for_a_dead_replica_that_it_is_going_to_drop(quiet: Run) -> None:
    """kafka-2.4, seed 30046 of the default swarm."""
    found = stated("converged", NOTHING_ASKED, 9, 9, f"{REASSIGN_PARTITIONS} is still there")
    asked = e.MoveStarted(0, 0, 0, *TP, (1, 2))
    waits = Step(3, 3, 2, "kafka-6794.1", "before", *TP, -1, 0, 2, "")
    ends = e.NodeCrashed(4, 4, 0, 0, 1, "stop")
    marks: list[Any] = [asked, assigned(1, 0, 1, 2), waits, ends, elected(5, 1, 2)]
    for profile in ("kafka-2.3", "kafka-2.4"):
        assert tickets(told(quiet, profile, marks, found)) == ["KAFKA-6794 (the document)"]
    started = e.NodeStarted(6, 6, 0, 0, 2)
    for others in (
        marks[1:],
        [*marks, started],
        [*marks[:3], marks[4]],
        [*marks[:4], elected(5, 1, 0, 2)],
        [*marks[:4], elected(5, 1)],  # broker 2, of the target, lives
        [asked._replace(target=(0, 1)), *marks[1:]],
        [*marks, waits._replace(seq=6, step="kafka-6794.3")],
        [*marks[:2], waits._replace(step="wiki.4"), *marks[3:]],
    ):
        assert tickets(told(quiet, "kafka-2.4", others, found)) == [None]


def test_kafka_6794_leaves_a_replica_in_the_isr_that_step_5_has_dropped(quiet: Run) -> None:
    found = stated("converged", IN_SYNC, 9, 9, "orders-0: isr [0, 1], assignment [0], leader 0", brokers=(1,))
    drops = Step(2, 2, 0, "kafka-6794.5", "before", *TP, -1, 0, 2, "")
    marks: list[Any] = [assigned(1, 0, 1), drops, assigned(3, 0), e.ControllerElected(4, 4, 0, 1, 5)]
    assert tickets(told(quiet, "kafka-2.4", marks, found)) == ["KAFKA-6794 (the document)"]
    for others in (marks[:3], [marks[0], *marks[2:]], [marks[0], drops._replace(step="kafka-6794.1"), *marks[2:]]):
        assert tickets(told(quiet, "kafka-2.4", others, found)) == [None]
    gone = stated("converged", LED, 9, 9, "orders-0: no leader, isr [1]")
    alone = unled(5, 1)
    asked = e.MoveStarted(6, 6, 0, *TP, (2,))  # seed 48017 of five profiles
    waits = stated("converged", NOTHING_ASKED, 9, 9, "/admin/reassign_partitions is still there")
    for about in (gone, waits):
        assert tickets(told(quiet, "kafka-2.4", [*marks, alone, asked], about)) == ["KAFKA-6794 (the document)"]
    led = [*marks, elected(5, 1), asked]  # 0.8, seed 521
    leads = e.BecameLeader(5, 5, 0, 1, *TP, 3, 0, 0, (1,), (0, 1), (), ())
    assert tickets(told(quiet, "kafka-0.8", led, waits)) == ["KAFKA-6794 (the document)"]
    for others in (
        [*marks, alone],
        [*marks, unled(5, 0, 1), asked],
        [*marks, elected(5, 1), leads, asked],
        [*marks[:3], elected(5, 1), asked],
        [*marks[:3], alone, asked],
        [*marks, alone, asked, asked._replace(seq=7, partition=1)],
    ):
        assert tickets(told(quiet, "kafka-2.4", others, waits)) == [None]
    assert tickets(told(quiet, "kafka-2.4", [*marks, unled(5, 0, 1)], gone)) == [None]
    assert tickets(told(quiet, "kafka-2.4", [*marks[:3], alone], gone)) == [None]
    assert tickets(told(quiet, "kafka-2.4", marks, gone)) == [None]
    dropped = [assigned(1, 1, 0), drops, assigned(3, 0), elected(3, 1), marks[3]]
    silent = stated("converged", LED, 9, 9, "orders-0: broker 1 does not lead in epoch 3", brokers=(1,))
    counts = stated("offline_true", "…", 9, 9, "controller 1 shows 1 offline partitions; 0 have no live leader")
    for about in (silent, counts):
        assert tickets(told(quiet, "kafka-2.6", dropped, about)) == ["KAFKA-6794 (the document)"]
        for others in (dropped[:4], [*dropped[:1], *dropped[2:]]):
            assert tickets(told(quiet, "kafka-2.6", others, about)) == [None]
    two = restated(counts, "controller 1 shows 2 offline partitions; 0 have no live leader")
    assert tickets(told(quiet, "kafka-2.6", dropped, two)) == [None]


def test_a_move_that_assigns_the_only_in_sync_replica_elects_no_leader(quiet: Run) -> None:
    writes = Step(4, 4, 0, "kip-455.U1", "before", *TP, -1, 0, 2, "")
    marks: list[Any] = [
        assigned(1, 0),
        elected(2, 0, 1),
        elected(3, -1, 1),
        writes,
        assigned(5, 0, 1),
        elected(6, -1, 1),
    ]
    for found in (
        stated("led_in_time", "…", 9, 9, "orders-0: leader -1, ISR [1], registered [0, 1, 2], for 9.1 s"),
        stated("converged", LED, 9, 9, "orders-0: no leader, isr [1]"),
    ):
        ticket = "KafkaController.onPartitionReassignment (2.4.1 to 2.7.2)"
        assert tickets(told(quiet, "kafka-2.6", marks, found)) == [ticket]
        assert tickets(told(quiet, "kafka-2.3", marks, found)) == [None]
        for others in (
            [assigned(1, 0, 1), *marks[1:]],
            [*marks, elected(7, 0, 1)],
            marks[:3],
            [*marks[:3], *marks[4:]],
            [*marks[:3], writes._replace(step="kip-455.B6"), *marks[4:]],
            [*marks, writes._replace(seq=7, step="broker-startup.3")],
            [*marks, writes._replace(seq=7, step="broker-failure.2")],
            [*marks, e.ControllerElected(7, 7, 0, 2, 3)],
        ):
            assert tickets(told(quiet, "kafka-2.6", others, found)) == [None]


def test_a_replica_that_is_assigned_again_and_never_new_is_not_stopped(quiet: Run) -> None:
    """kafka-2.6, seeds 69 and 106 of the default swarm: the leader had added it after a changed move dropped it."""

    def in_step(seq: int, step: str) -> Step:
        return Step(seq, seq, 0, step, "before", *TP, -1, 0, 2, "")

    marks: list[Any] = [
        assigned(1, 0, 2),
        elected(2, 0),
        in_step(3, "kip-455.U1"),
        assigned(4, 0),
        elected(5, 0, 2),
        in_step(6, "kip-455.U1"),
        assigned(7, 0, 2),
        in_step(8, "kip-455.B6"),
        assigned(9, 0),
    ]
    for found in (
        stated("replicas_notified", "…", 12, 12, "orders-0: broker 2 is not in the replicas [0] any more", (2,)),
        stated("steps_done", "…", 12, 12, "orders-0: kip-455.B4 ends, and no StopReplica was sent to broker 2", (2,)),
        stated("isr_logs_identical", "…", 12, 12, "orders-0: broker 2, in sync, has a log that ends at 39", (2,)),
        stated("converged", IN_SYNC, 12, 12, "orders-0: isr [0, 2], assignment [0], leader 0", (2,)),
    ):
        ticket = "KafkaController.onPartitionReassignment (2.4.1 to 2.7.2)"
        assert tickets(told(quiet, "kafka-2.6", marks, found)) == [ticket]
        assert tickets(told(quiet, "kafka-2.3", marks, found)) == [None]
        for others in (
            [*marks[:4], *marks[5:]],
            [*marks[:5], *marks[7:]],
            [*marks[:7], in_step(8, "kip-455.U1"), marks[8]],
            [*marks[:2], in_step(3, "kip-455.B6"), *marks[3:]],
            [*marks[:5], in_step(6, "kip-455.B6"), *marks[6:]],
            [*marks[:5], e.ControllerElected(5, 5, 0, 2, 3), *marks[5:]],
            [*marks, assigned(10, 0, 2)],
        ):
            assert tickets(told(quiet, "kafka-2.6", others, found)) == [None]


def test_kafka_9672_a_write_that_was_on_its_way_takes_the_replica_in(quiet: Run) -> None:
    """And it stays where it is dropped once more."""
    found = stated(
        "isr_complete", "…", 9, 9, "orders-0, ISR [0, 1]: the log of broker 1 ends at 0 and lacks …", brokers=(1,)
    )
    marks = [assigned(0, 0, 1), elected(1, 0), assigned(2, 0), elected(3, 0, 1), assigned(4, 0, 1), assigned(5, 0)]
    assert tickets(told(quiet, "kafka-2.5", [*marks, elected(6, 0, 1)], found)) == ["KAFKA-9672"]
    for others in ([*marks, elected(6, 0)], [marks[0], elected(1, 0, 1), *marks[2:], elected(6, 0, 1)]):
        assert tickets(told(quiet, "kafka-2.5", others, found)) == [None]


def test_a_leader_commits_without_a_member_of_the_isr_that_the_next_step_drops(quiet: Run) -> None:
    """kafka-2.3, seed 12099 of the default swarm: the controller is replaced before wiki.8."""
    found = stated(
        "isr_complete", "…", 9, 9, "orders-0, ISR [0, 1]: the log of broker 1 ends at 0 and lacks …", brokers=(1,)
    )
    leads = e.BecameLeader(3, 3, 0, 0, *TP, 3, 0, 0, (0, 1), (0, 2), (), ())
    replaced = e.ControllerElected(4, 4, 0, 2, 2)
    marks: list[Any] = [elected(2, 0, 1), leads, replaced, elected(5, 0, 1)]
    ticket = "Partition.maybeIncrementLeaderHW (0.10.2 to 3.9)"
    for profile in ("kafka-2.3", "kafka-2.7"):
        assert tickets(told(quiet, profile, marks, found)) == [ticket]
        for others in (
            [marks[0], *marks[2:]],
            [*marks[:2], marks[3]],
            [*marks[:3], elected(5, 0), elected(6, 0, 1)],
            [marks[0], leads._replace(replicas=(0, 1)), *marks[2:]],
            [marks[0], leads._replace(isr=(0,)), *marks[2:]],
            [marks[0], replaced._replace(seq=2), leads],
        ):
            assert tickets(told(quiet, profile, others, found)) == [None]
    assert tickets(told(quiet, "kafka-0.8", marks, found)) == [None]  # there the ISR alone counts
    dropped = [assigned(1, 0, 1), assigned(3, 0, 2), replaced, leads._replace(seq=5), elected(6, 0, 1)]
    assert tickets(told(quiet, "kafka-2.3", [marks[0], *dropped], found)) == [ticket], "2.3 by KIP-455, seed 9010"
    early = [replaced._replace(seq=2), dropped[0], *dropped[1:2], *dropped[3:]]
    assert tickets(told(quiet, "kafka-2.3", [marks[0], *early], found)) == [None]
