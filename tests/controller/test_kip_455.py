"""KIP-455 step by step: the worked trace, the epochs it costs, what the API refuses, overrides and cancellations."""

from collections.abc import Awaitable, Callable

import pytest

from controller import ControllerPolicies
from controller.reassignment.kip_455 import Kip455
from controller.reassignment.wiki import Wiki
from emulator.gates import Visit
from emulator.protocol import znodes
from emulator.protocol.alter_reassignments import AlterPartitionReassignmentsRequest
from emulator.protocol.assignments import ReplicaAssignment
from emulator.protocol.errors import Errors
from emulator.protocol.events import MoveFinished
from emulator.protocol.leader_and_isr import LeaderAndIsrRequest
from emulator.protocol.list_reassignments import ListPartitionReassignmentsRequest
from emulator.protocol.types import TopicPartition
from tests.controller.lab import EXPIRY_US, Lab, run
from tests.controller.notes import Notes, check_golden

TP, OTHER = TopicPartition("orders", 0), TopicPartition("orders", 1)
PINNED = ControllerPolicies(reassignment=Kip455(), pinned=6)
Replicas = tuple[int, ...]


def play(test: Callable[[Lab], Awaitable[object]], policies: ControllerPolicies = PINNED) -> None:
    """Seven brokers, the controller on one without replicas; nobody joins an ISR unless told."""
    run(test, brokers=7, policies=policies, joins=False)


async def join(lab: Lab, *replicas: int, tp: TopicPartition = TP) -> None:
    await lab.write_isr(tp, (*lab.state(tp).isr, *replicas))


def epoch_and_version(lab: Lab) -> tuple[int, int]:
    return lab.state(TP).leader_epoch, lab.state(TP).zk_version


# -- the worked trace (kafka-behaviour, 12) ---------------------------------------------------------------------------


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

        for step in Kip455().steps:
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
        assert lab.active.context.motions == {}
        check_golden("kip-455-012-to-123", notes.text())

    play(test)


def test_who_hears_what_in_the_worked_trace() -> None:
    """A1 tells all four, the new one that it is not new; A2 tells it so under the same epoch; B3 and B4 tell the target
    alone; the old leader hears of neither before it is stopped."""

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

    play(test, ControllerPolicies(reassignment=Kip455(adds_as_new=True), pinned=6))


def test_an_older_protocol_between_brokers_does_not_tell_what_is_added_and_removed() -> None:
    """LeaderAndIsr v2: the replicas alone (inter.broker.protocol.version below 2.4-IV0). The move goes on as well."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        await lab.alter({TP: (1, 2, 3)})
        await join(lab, 3)
        told = [r for _, r in lab.received if isinstance(r, LeaderAndIsrRequest)]
        assert {(state.adding, state.removing) for request in told for state in request.partitions} == {((), ())}
        assert lab.assignment(TP) == (1, 2, 3)

    play(test, ControllerPolicies(reassignment=Kip455(), pinned=6, tells_motions=False))


# -- what it costs (kafka-behaviour, 6.3, consequences) ---------------------------------------------------------------

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


def test_a_dead_replica_that_leaves_costs_none_and_stays_behind() -> None:
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
    """The KIP's text says ISR = TRS, its code TRS within the ISR: a removed replica need not be in sync."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        await lab.alter({TP: (0, 1, 3)})
        await lab.write_isr(TP, (0, 1, 3))
        assert lab.assignment(TP) == (0, 1, 3)

    play(test)


# -- override and cancel ----------------------------------------------------------------------------------------------


def test_an_override_stops_what_it_does_not_need() -> None:
    """U3: 3 was being added and is not wanted any more; 2, which the first request removed, stays now."""

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


# -- what the API refuses (kafka-behaviour, 6.2) ----------------------------------------------------------------------

REFUSED = {
    "no replicas": ((), Errors.INVALID_REPLICA_ASSIGNMENT),
    "one twice": ((0, 1, 1), Errors.INVALID_REPLICA_ASSIGNMENT),
    "a negative id": ((0, -1), Errors.INVALID_REPLICA_ASSIGNMENT),
    "an unknown broker": ((0, 99), Errors.INVALID_REPLICA_ASSIGNMENT),
    "a dead broker that is added": ((0, 5), Errors.INVALID_REPLICA_ASSIGNMENT),
    "nothing to cancel": (None, Errors.NO_REASSIGNMENT_IN_PROGRESS),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_the_api_refuses(case: str) -> None:
    """Nothing is written or sent for it; the request's other partitions go on."""
    target, error = REFUSED[case]

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1), 1: (1, 2)})
        lab.nodes[5].crash()
        await lab.pass_time(EXPIRY_US)
        notes = Notes(lab)
        assert await lab.alter({TP: target, OTHER: (2, 1)}) == {TP: error, OTHER: Errors.NONE}
        assert lab.full_assignment(TP) == ReplicaAssignment((0, 1))
        assert lab.assignment(OTHER) == (2, 1)
        assert "orders-0" not in notes.text()

    play(test)


def test_a_replica_that_is_dead_already_may_stay() -> None:
    """Only what is added has to live."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 5)})
        lab.nodes[5].crash()
        await lab.pass_time(EXPIRY_US)
        assert await lab.alter({TP: (1, 5, 2)}) == {TP: Errors.NONE}

    play(test)


def test_unknown_partitions() -> None:
    """Their targets are checked first."""

    async def test(lab: Lab) -> None:
        unknown = TopicPartition("nowhere", 0)
        assert await lab.alter({unknown: (0, 1)}) == {unknown: Errors.UNKNOWN_TOPIC_OR_PARTITION}
        assert await lab.alter({unknown: (0, 99)}) == {unknown: Errors.INVALID_REPLICA_ASSIGNMENT}
        assert await lab.alter({unknown: None}) == {unknown: Errors.NO_REASSIGNMENT_IN_PROGRESS}
        await lab.reassign({unknown: (0, 1)})
        assert lab.data(znodes.REASSIGN_PARTITIONS) is None
        assert len(lab.of(MoveFinished)) == 1

    play(test)


@pytest.mark.parametrize(
    "request_", [AlterPartitionReassignmentsRequest({TP: (0,)}), ListPartitionReassignmentsRequest(None)]
)
def test_who_may_not_answer(request_: object) -> None:
    """Another broker is not the controller; a controller without KIP-455 does not know the request."""

    async def other(lab: Lab) -> None:
        assert (await lab.ask(request_, broker=2)).error is Errors.NOT_CONTROLLER

    async def older(lab: Lab) -> None:
        assert (await lab.ask(request_)).error is Errors.UNSUPPORTED_VERSION

    play(other)
    play(older, ControllerPolicies(reassignment=Wiki(), pinned=6))


def test_a_partition_that_never_had_a_leader() -> None:
    """A1 cannot write: the answer is an unknown error, and yet the move is under way, until somebody takes it up: here
    the start of a broker of its target, which is the old one too."""

    async def test(lab: Lab) -> None:
        lab.nodes[5].crash()
        await lab.pass_time(EXPIRY_US)
        await lab.create_topic("orders", {0: (5,)})
        assert await lab.alter({TP: (5, 1)}) == {TP: Errors.UNKNOWN_SERVER_ERROR}
        assert await lab.listed() == {TP: ReplicaAssignment((5, 1), (1,), ())}
        lab.restart(5)
        await lab.pass_time(EXPIRY_US)
        assert lab.state(TP).leader_epoch == 1
        await join(lab, 1)
        assert lab.assignment(TP) == (5, 1)

    play(test)


@pytest.mark.parametrize("data", ["", "not json", "{}"])
def test_nonsense_in_the_znode_is_left_alone(data: str) -> None:
    """2.4 reads no moves in it and writes nothing; it bars the way by the znode, not by the API."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1)})
        await lab.operator.create(znodes.REASSIGN_PARTITIONS, data)
        await lab.settle()
        assert lab.data(znodes.REASSIGN_PARTITIONS) == data
        assert await lab.alter({TP: (1, 0)}) == {TP: Errors.NONE}
        assert lab.assignment(TP) == (1, 0)

    play(test)


# -- topics that are to be deleted ------------------------------------------------------------------------------------


def test_a_topic_that_is_being_moved_is_deleted_after_b8() -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1)})
        await lab.alter({TP: (1, 2)})
        await lab.delete_topic("orders")
        assert lab.assignment(TP) == (1, 2, 0)
        steps = Notes(lab)
        await join(lab, 2)
        order = [step for step in steps.steps() if step in ("kip-455.B8 after", "delete.partitions before")]
        assert order == ["kip-455.B8 after", "delete.partitions before"]
        assert lab.assignment(TP) == ()
        assert lab.active.context.motions == {}

    play(test)


@pytest.mark.parametrize("by_api", [False, True], ids=["zk", "api"])
def test_a_topic_that_is_being_deleted_is_not_moved(by_api: bool) -> None:
    """A replica on a dead broker keeps the deletion waiting."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1)})
        lab.nodes[1].crash()
        await lab.pass_time(EXPIRY_US)
        await lab.delete_topic("orders")
        if by_api:
            assert await lab.alter({TP: (0, 2)}) == {TP: Errors.UNKNOWN_TOPIC_OR_PARTITION}
        else:
            await lab.reassign({TP: (0, 2)})
        assert lab.data(znodes.REASSIGN_PARTITIONS) is None
        assert lab.assignment(TP) == (0, 1)
        assert await lab.listed() == {}

    play(test)
