"""KIP-455 step by step: the worked trace, the epochs it costs, overrides and cancellations."""

from collections.abc import Awaitable, Callable

import pytest

from controller.policies import ControllerPolicies
from controller.reassignment.kip_455 import Kip455
from emulator.gates import Visit
from emulator.protocol.assignments import ReplicaAssignment
from emulator.protocol.errors import Errors
from emulator.protocol.events import MoveFinished
from emulator.protocol.leader_and_isr import LeaderAndIsrRequest
from emulator.protocol.types import TopicPartition
from tests.controller.lab import EXPIRY_US, Lab, run
from tests.controller.notes import Notes, check_golden

TP, OTHER = TopicPartition("orders", 0), TopicPartition("orders", 1)
PINNED = ControllerPolicies(reassignment=Kip455(), remembers_bumps=True, pinned=6)
Replicas = tuple[int, ...]


def play(test: Callable[[Lab], Awaitable[object]], policies: ControllerPolicies = PINNED) -> None:
    """Seven brokers, the controller on one without replicas; replicas join ISRs only where the test says so."""
    run(test, brokers=7, policies=policies, joins=False)


async def join(lab: Lab, *replicas: int, tp: TopicPartition = TP) -> None:
    await lab.write_isr(tp, (*lab.state(tp).isr, *replicas))


def epoch_and_version(lab: Lab) -> tuple[int, int]:
    return lab.state(TP).leader_epoch, lab.state(TP).zk_version


# -- the worked trace (kafka-behaviour §12) ---------------------------------------------------------------------------


def test_the_worked_trace() -> None:
    """[0,1,2] -> [1,2,3], leader 0, by the API. The rows in which the controller acts; the leader's are with the real
    brokers."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        assert epoch_and_version(lab) == (0, 0)
        seen: dict[str, tuple[ReplicaAssignment, int, Replicas, tuple[int, int]]] = {}

        def look(at: Visit) -> None:
            state = lab.state(TP)
            seen[at.step] = (lab.full_assignment(TP), state.leader, state.isr, epoch_and_version(lab))

        for step in Kip455.procedure.steps:
            lab.gates.arm(step, "after", look)
        notes = Notes(lab)
        assert await lab.alter({TP: (1, 2, 3)}) == {TP: Errors.NONE}
        await join(lab, 3)

        wide, done, old, all_four = (1, 2, 3, 0), ReplicaAssignment((1, 2, 3)), (0, 1, 2), (0, 1, 2, 3)
        moving = ReplicaAssignment(wide, (3,), (0,))
        rows = {
            "U1": (moving, 0, old, (0, 0)),  # row 2
            "U3": (moving, 0, old, (0, 0)),
            "A1": (moving, 0, old, (1, 1)),  # row 4
            "A2": (moving, 0, old, (1, 1)),  # row 5
            "check": (moving, 0, all_four, (1, 2)),  # rows 8 and 9: the second time
            "B2": (moving, 0, all_four, (1, 2)),
            "B3": (moving, 1, all_four, (2, 3)),  # row 10
            "B4": (moving, 1, (1, 2, 3), (3, 4)),  # row 11
            "B5": (moving, 1, (1, 2, 3), (3, 4)),  # row 12
            "B6": (done, 1, (1, 2, 3), (3, 4)),  # row 13
            "B8": (done, 1, (1, 2, 3), (3, 4)),
        }
        assert {step: seen[f"kip-455.{step}"] for step in rows} == rows
        assert lab.active.context.full_assignment(TP) == done
        assert lab.active.context.reassigning == {}
        check_golden("kip-455-012-to-123", notes.text())

    play(test)


def test_who_gets_which_request_in_the_worked_trace() -> None:
    """A1 sends LeaderAndIsr to all four, to the new one without "new"; A2 sends it with "new" under the same epoch; B3
    and B4 go to the target alone; the old leader gets neither before it is stopped."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        notes = Notes(lab)
        await lab.alter({TP: (1, 2, 3)})
        await join(lab, 3)
        told = notes.requests(metadata=False)
        a1 = "LeaderAndIsr orders-0 0/{0,1,2} epoch 1 AR {1,2,3,0} adding {3} removing {0}"
        b3 = "LeaderAndIsr orders-0 1/{0,1,2,3} epoch 2 AR {1,2,3}"
        b4 = "LeaderAndIsr orders-0 1/{1,2,3} epoch 3 AR {1,2,3}"
        assert told == {
            0: [a1, "StopReplica keep orders-0", "StopReplica delete orders-0"],
            1: [a1, b3, b4],
            2: [a1, b3, b4],
            3: [a1, a1 + " new", b3, b4],
        }

    play(test)


def test_since_2_7_new_replicas_are_told_so_at_once() -> None:
    """KAFKA-10314."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        notes = Notes(lab)
        await lab.alter({TP: (1, 2, 3)})
        told = notes.requests(metadata=False)
        assert [line.endswith(" new") for line in told[3]] == [True, True]
        assert not any(line.endswith(" new") for broker in (0, 1, 2) for line in told[broker])

    play(test, ControllerPolicies(reassignment=Kip455(adds_as_new=True), remembers_bumps=True, pinned=6))


def test_an_older_protocol_between_brokers_does_not_tell_what_is_added_and_removed() -> None:
    """LeaderAndIsr v2: the replicas alone (inter.broker.protocol.version below 2.4-IV0). The move goes on as well."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        await lab.alter({TP: (1, 2, 3)})
        await join(lab, 3)
        told = [r for _, r in lab.received if isinstance(r, LeaderAndIsrRequest)]
        assert {(state.adding, state.removing) for request in told for state in request.partitions} == {((), ())}
        assert lab.assignment(TP) == (1, 2, 3)

    play(test, ControllerPolicies(reassignment=Kip455(), remembers_bumps=True, pinned=6, sends_reassigning=False))


# -- what it costs (kafka-behaviour §6.3, consequences) ---------------------------------------------------------------

EPOCHS = {
    "one swapped": ((0, 1, 2), (0, 1, 3), 3),
    "the leader swapped": ((0, 1, 2), (1, 2, 3), 3),
    "all replaced": ((1, 2, 3), (4, 5, 0), 5),
    "reordered": ((0, 1, 2), (2, 1, 0), 1),
    "one more": ((0, 1), (0, 1, 2), 2),
    "one less": ((0, 1, 2), (0, 1), 2),
}


@pytest.mark.parametrize("plan", EPOCHS)
def test_the_epochs_of_a_move(plan: str) -> None:
    """A1 one, B3 one, B4 one for each removed replica that is in the ISR."""
    old, new, epochs = EPOCHS[plan]

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: old})
        await lab.alter({TP: new})
        joining = tuple(replica for replica in new if replica not in old)
        if joining:
            await join(lab, *joining)
        assert lab.assignment(TP) == new
        assert lab.state(TP).leader_epoch == epochs

    play(test)


def test_a_restart_of_the_new_broker_costs_one_epoch_more() -> None:
    """Its start takes phase A again."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        await lab.alter({TP: (0, 1, 3)})
        lab.nodes[3].crash()
        await lab.pass_time(EXPIRY_US)
        assert lab.state(TP).leader_epoch == 1
        lab.restart(3)
        await lab.pass_time(EXPIRY_US)
        assert lab.state(TP).leader_epoch == 2
        await join(lab, 3)
        assert (lab.assignment(TP), lab.state(TP).leader_epoch) == ((0, 1, 3), 4)

    play(test)


def test_a_dead_replica_that_leaves_costs_no_epoch_and_keeps_its_log() -> None:
    """It is out of the ISR already, and StopReplica cannot reach it: its log stays on its disk."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        lab.nodes[2].crash()
        await lab.pass_time(EXPIRY_US)
        assert lab.state(TP).leader_epoch == 1
        await lab.alter({TP: (0, 1, 3)})
        await join(lab, 3)
        assert (lab.assignment(TP), lab.state(TP).leader_epoch) == ((0, 1, 3), 3)
        notes = Notes(lab)
        lab.restart(2)
        await lab.pass_time(EXPIRY_US)
        assert "StopReplica" not in str(notes.requests().get(2))

    play(test)


def test_the_target_is_in_sync_before_it_is_all_of_the_isr() -> None:
    """The KIP's text asks for ISR = TRS, its code for TRS within the ISR: a removed replica need not be in sync."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        await lab.alter({TP: (0, 1, 3)})
        await lab.write_isr(TP, (0, 1, 3))
        assert lab.assignment(TP) == (0, 1, 3)

    play(test)


# -- override and cancel ----------------------------------------------------------------------------------------------


def test_an_override_stops_what_it_does_not_need() -> None:
    """U3: 3 was being added and is no longer wanted; 2, which the first request removed, stays."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        await lab.alter({TP: (0, 1, 3)})
        notes = Notes(lab)
        await lab.alter({TP: (0, 2, 4)})
        assert lab.full_assignment(TP) == ReplicaAssignment((0, 2, 4, 1), (4,), (1,))
        assert notes.requests(metadata=False)[3] == ["StopReplica keep orders-0", "StopReplica delete orders-0"]
        await join(lab, 4)
        assert lab.assignment(TP) == (0, 2, 4)
        assert len(lab.of(MoveFinished)) == 1

    play(test)


def test_an_override_takes_a_replica_that_had_joined_out_of_the_isr() -> None:
    """One epoch for each: U3's shrink is a write of its own (R9: it never joins again)."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        await lab.alter({TP: (3, 4, 0)})
        await join(lab, 3)
        assert epoch_and_version(lab) == (1, 2)
        await lab.alter({TP: (0, 1, 5)})
        state = lab.state(TP)
        assert (state.isr, state.leader_epoch) == ((0, 1, 2), 3), "U3 one, A1 one"
        assert lab.full_assignment(TP) == ReplicaAssignment((0, 1, 5, 2), (5,), (2,))

    play(test)


def test_the_same_target_again_is_accepted_and_repeats_phase_a() -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        for epoch in (1, 2):
            assert await lab.alter({TP: (0, 1, 3)}) == {TP: Errors.NONE}
            assert lab.state(TP).leader_epoch == epoch

    play(test)


def test_a_cancellation_goes_to_phase_b_at_once() -> None:
    """U3 stops the added replica; B3 tells the rest that nothing moves any more. The order is lost."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        await lab.alter({TP: (2, 3, 1)})
        notes = Notes(lab)
        assert await lab.alter({TP: None}) == {TP: Errors.NONE}
        assert lab.full_assignment(TP) == ReplicaAssignment((2, 1, 0))
        assert (lab.state(TP).leader, lab.state(TP).isr, lab.state(TP).leader_epoch) == (0, (0, 1, 2), 2)
        told = notes.requests(metadata=False)
        state = "LeaderAndIsr orders-0 0/{0,1,2} epoch"
        assert told.pop(3) == ["StopReplica keep orders-0", "StopReplica delete orders-0"]
        assert list(told) == [0, 1, 2]
        for lines in told.values():
            assert lines == [f"{state} 1 AR {{2,1,0}}", f"{state} 2 AR {{2,1,0}}"], "U3, B3"
        assert await lab.listed() == {}
        assert await lab.alter({TP: None}) == {TP: Errors.NO_REASSIGNMENT_IN_PROGRESS}

    play(test)
