"""KAFKA-42 as Kafka 0.8.0 ran it: the ticket's unit tests, its failure cases, its listener (readings §3).

Cases 2b and 4b need brokers that get something wrong: tests/scenarios/runs/test_kafka_42.py.
"""

import pytest

from controller.reassignment.kafka_42 import Kafka42
from emulator.protocol import znodes
from emulator.protocol.events import LeaderElected, MoveFinished
from emulator.protocol.types import TopicPartition
from tests.controller.crashes import KAFKA_42 as POLICIES
from tests.controller.crashes import TP, Znodes, crash_after, steps_of
from tests.controller.crashes import znodes as stands
from tests.controller.lab import EXPIRY_US, Lab, run
from tests.controller.notes import Notes, check_golden

ALL = list(Kafka42.procedure.steps)
Replicas = tuple[int, ...]


async def move(lab: Lab, old: Replicas, new: Replicas) -> Notes:
    await lab.create_topic("orders", {0: old})
    notes = Notes(lab)
    await lab.reassign({TP: new})
    return notes


def moved(old: Replicas, new: Replicas) -> tuple[Znodes, list[tuple[int, str]]]:
    """The result of an undisturbed move, and the leaders that were elected."""

    async def test(lab: Lab) -> tuple[Znodes, list[tuple[int, str]]]:
        notes = await move(lab, old, new)
        assert steps_of(POLICIES, notes) == ALL
        assert lab.data(znodes.REASSIGN_PARTITIONS) is None
        assert lab.active.context.replicas(TP) == new
        stopped = [b for b, lines in notes.requests().items() if "StopReplica delete orders-0" in lines]
        assert stopped == sorted(set(old) - set(new))
        return stands(lab), [(e.leader, e.selector) for e in notes.events() if isinstance(e, LeaderElected)]

    return run(test, brokers=7, policies=POLICIES, joins=False)


# -- the ticket's six unit tests --------------------------------------------------------------------------------------


def test_kafka_42_leader_in_new_list() -> None:
    """No leader is elected, and the leader gets no request until a replica leaves its ISR: one epoch in all."""
    assert moved((0, 1, 2), (0, 2, 3)) == (Znodes((0, 2, 3), 0, (0, 2, 3), 1, 2), [])


def test_kafka_42_leader_not_in_new_list() -> None:
    assert moved((0, 1, 2), (1, 2, 3)) == (Znodes((1, 2, 3), 1, (1, 2, 3), 2, 3), [(1, "reassigned")])


def test_kafka_42_no_overlap() -> None:
    assert moved((0, 1), (2, 3)) == (Znodes((2, 3), 2, (2, 3), 3, 5), [(2, "reassigned")])


def test_kafka_42_nonexistent_partition() -> None:
    async def test(lab: Lab) -> None:
        unknown = TopicPartition("unknown", 0)
        notes = Notes(lab)
        await lab.reassign({unknown: (2, 3)})
        assert lab.data(znodes.REASSIGN_PARTITIONS) is None
        assert steps_of(POLICIES, notes) == []
        assert notes.requests() == {}
        assert [event.topic for event in lab.of(MoveFinished)] == ["unknown"]

    run(test, brokers=7, policies=POLICIES)


def test_kafka_42_resumed_after_step_6() -> None:
    """AR is RAR already: the new controller only marks the move as done."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1)})
        before = stands(lab)
        lab.nodes[6].crash()
        await lab.operator.create(znodes.REASSIGN_PARTITIONS, znodes.encode_reassignment({TP: (0, 1)}))
        notes = Notes(lab)
        await lab.pass_time(EXPIRY_US)
        assert lab.data(znodes.REASSIGN_PARTITIONS) is None
        assert steps_of(POLICIES, notes) == []
        assert stands(lab) == before

    run(test, brokers=7, policies=POLICIES, joins=False)


def test_kafka_42_resumed_after_step_3() -> None:
    """The new replicas are in sync: the new controller elects among them and does the rest."""
    recovery = crash_after(POLICIES, (0, 1), (2, 3), "kafka-42.3", joins=False)
    assert recovery.found == Znodes((0, 1), 0, (0, 1, 2, 3), 0, 2)
    assert recovery.elected == [(2, "reassigned")]
    assert recovery.started == []
    assert recovery.end == Znodes((2, 3), 2, (2, 3), 3, 5)


# -- the ticket's failure cases ---------------------------------------------------------------------------------------


def test_kafka_42_case_1() -> None:
    """Between steps 1 and 2: from scratch."""
    recovery = crash_after(POLICIES, (0, 1, 2), (1, 3, 4), "kafka-42.1", joins=False)
    assert (recovery.steps, recovery.started) == (ALL, [3, 4])


@pytest.mark.parametrize("in_sync", [(), (3,), (3, 4)])
def test_kafka_42_case_2a(in_sync: Replicas) -> None:
    """Between steps 2 and 3, some new replicas in sync: the ISR is looked at again; unless all are in, step 2 is
    repeated."""

    async def test(lab: Lab) -> None:
        lab.takes_in = False
        await move(lab, (0, 1, 2), (1, 3, 4))
        lab.nodes[6].crash()
        if in_sync:
            await lab.write_isr(TP, (0, 1, 2, *in_sync))
        notes = Notes(lab)
        await lab.pass_time(EXPIRY_US)
        told = notes.requests(metadata=False, term=2)
        started = [broker for broker, lines in told.items() if any(line.endswith(" new") for line in lines)]
        if in_sync == (3, 4):
            assert (started, lab.assignment(TP)) == ([], (1, 3, 4))
            return
        assert started == [3, 4]
        assert steps_of(POLICIES, notes) == ALL[:2]
        await lab.write_isr(TP, (0, 1, 2, 3, 4))
        assert steps_of(POLICIES, notes) == ALL
        assert lab.assignment(TP) == (1, 3, 4)

    run(test, brokers=7, policies=POLICIES, joins=False)


def test_kafka_42_case_3() -> None:
    """Between steps 4 and 5: the new leader is one of the new replicas and alive, so it stays."""
    recovery = crash_after(POLICIES, (0, 1, 2), (3, 4, 5), "kafka-42.4", joins=False)
    assert recovery.found.leader == 3
    assert recovery.elected == []
    assert recovery.end == Znodes((3, 4, 5), 3, (3, 4, 5), 4, 7)


def test_kafka_42_case_3_with_a_dead_leader() -> None:
    """The code of 0.8.0 does not come to the ticket's re-election: failover elects in the ISR's order, old replicas
    included, and then the dead replica in the new list ends the move."""
    recovery = crash_after(POLICIES, (0, 1, 2), (3, 4, 5), "kafka-42.4", joins=False, also=(3,))
    assert recovery.elected == [(0, "offline")]
    assert recovery.steps == []
    assert recovery.finished == 1
    assert recovery.end.assigned == (0, 1, 2)


def test_kafka_42_case_4a() -> None:
    """Between steps 5 and 6: what steps 4 and on do is done again; old replicas had been started by the failover."""
    recovery = crash_after(POLICIES, (0, 1, 2), (3, 4, 5), "kafka-42.5", joins=False)
    assert recovery.found == Znodes((0, 1, 2), 3, (3, 4, 5), 4, 7)
    assert (recovery.elected, recovery.started, recovery.deleted) == ([], [], [0, 1, 2])
    assert recovery.end == Znodes((3, 4, 5), 3, (3, 4, 5), 4, 7)


def test_kafka_42_case_5() -> None:
    """Between steps 6 and 7: RAR equals AR, so the partition only leaves the admin path."""
    recovery = crash_after(POLICIES, (0, 1, 2), (3, 4, 5), "kafka-42.6", joins=False)
    assert (recovery.steps, recovery.finished) == ([], 1)
    assert recovery.found == recovery.end == Znodes((3, 4, 5), 3, (3, 4, 5), 4, 7)


# -- the listener -----------------------------------------------------------------------------------------------------


def test_the_same_list_is_refused_and_a_new_order_accepted() -> None:
    async def test(lab: Lab) -> None:
        notes = await move(lab, (0, 1, 2), (0, 1, 2))
        assert steps_of(POLICIES, notes) == []
        assert lab.data(znodes.REASSIGN_PARTITIONS) is None
        await lab.reassign({TP: (2, 1, 0)})
        assert steps_of(POLICIES, notes) == ALL
        assert stands(lab) == Znodes((2, 1, 0), 0, (0, 1, 2), 0, 0)
        assert notes.requests(metadata=False) == {
            broker: ["LeaderAndIsr orders-0 0/{0,1,2} epoch 0 AR {0,1,2}"] for broker in (0, 1, 2)
        }

    run(test, brokers=7, policies=POLICIES, joins=False)


def test_a_dead_replica_in_the_new_list_is_refused() -> None:
    """The others of the same request go on."""

    async def test(lab: Lab) -> None:
        other = TopicPartition("orders", 1)
        await lab.create_topic("orders", {0: (0, 1), 1: (0, 1)})
        lab.nodes[3].crash()
        await lab.pass_time(EXPIRY_US)
        await lab.reassign({TP: (1, 3), other: (1, 2)})
        assert lab.data(znodes.REASSIGN_PARTITIONS) is None
        assert lab.assignment(TP) == (0, 1)
        assert lab.assignment(other) == (1, 2)

    run(test, brokers=7, policies=POLICIES, joins=False)


# -- asking again -----------------------------------------------------------------------------------------------------


async def given_up(lab: Lab) -> Notes:
    """A move that does not end, whose operator has deleted the znode and asked for another target."""
    lab.takes_in = False
    notes = await move(lab, (0, 1, 2), (1, 3, 4))
    await lab.operator.delete(znodes.REASSIGN_PARTITIONS)
    await lab.settle()
    await lab.reassign({TP: (1, 2, 5)})
    return notes


def test_a_retry_while_in_progress_is_passed_over_until_the_move_ends() -> None:
    async def test(lab: Lab) -> None:
        notes = await given_up(lab)
        assert lab.data(znodes.REASSIGN_PARTITIONS) is not None
        assert steps_of(POLICIES, notes) == ALL[:2]
        assert lab.active.context.reassignments[TP].target == (1, 3, 4)
        await lab.write_isr(TP, (0, 1, 2, 3, 4))
        assert lab.data(znodes.REASSIGN_PARTITIONS) is None
        assert lab.assignment(TP) == (1, 3, 4)

    run(test, brokers=7, policies=POLICIES, joins=False)


def test_a_retry_while_in_progress_is_taken_up_by_the_next_controller() -> None:
    async def test(lab: Lab) -> None:
        await given_up(lab)
        lab.takes_in = True
        lab.nodes[6].crash()
        await lab.pass_time(EXPIRY_US)
        assert lab.data(znodes.REASSIGN_PARTITIONS) is None
        assert lab.assignment(TP) == (1, 2, 5)

    run(test, brokers=7, policies=POLICIES, joins=False)


def test_a_new_replica_that_restarts_is_not_started_again() -> None:
    """It is in no assigned list, so the controller neither changes its state nor starts it when it is back: step 2 is
    repeated, and finds no replica that may be started. The next controller starts it."""

    async def test(lab: Lab) -> None:
        lab.takes_in = False
        await move(lab, (0, 1, 2), (1, 3, 4))
        lab.nodes[3].crash()
        await lab.pass_time(EXPIRY_US)
        notes = Notes(lab)
        lab.restart(3)
        await lab.pass_time(EXPIRY_US)
        assert steps_of(POLICIES, notes) == ["kafka-42.2"]
        assert 3 not in notes.requests(metadata=False)
        lab.takes_in = True
        lab.nodes[6].crash()
        await lab.pass_time(EXPIRY_US)
        assert lab.assignment(TP) == (1, 3, 4)

    run(test, brokers=7, policies=POLICIES, joins=False)


@pytest.mark.parametrize(("old", "new"), [((0, 1, 2), (0, 1, 3)), ((1, 2, 3), (4, 5, 0))])
def test_golden(old: Replicas, new: Replicas) -> None:
    async def test(lab: Lab) -> None:
        notes = await move(lab, old, new)
        name = "".join(map(str, old)) + "-to-" + "".join(map(str, new))
        check_golden(f"kafka-42-{name}", notes.text())

    run(test, brokers=7, policies=POLICIES, joins=False)
