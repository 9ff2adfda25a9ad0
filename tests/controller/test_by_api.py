"""Requests to KIP-455's controller: refusals by the API and the admin znode, and topics that are being deleted."""

from collections.abc import Awaitable, Callable

import pytest

from controller.policies import ControllerPolicies
from controller.reassignment.kip_455 import Kip455
from controller.reassignment.wiki import Wiki
from emulator.protocol import znodes
from emulator.protocol.alter_reassignments import AlterPartitionReassignmentsRequest
from emulator.protocol.assignments import ReplicaAssignment
from emulator.protocol.errors import Errors
from emulator.protocol.events import MoveFinished
from emulator.protocol.list_reassignments import ListPartitionReassignmentsRequest
from emulator.protocol.types import TopicPartition
from tests.controller.lab import EXPIRY_US, Lab, run
from tests.controller.notes import Notes

TP, OTHER = TopicPartition("orders", 0), TopicPartition("orders", 1)
PINNED = ControllerPolicies(reassignment=Kip455(), pinned=6)


def play(test: Callable[[Lab], Awaitable[object]], policies: ControllerPolicies = PINNED) -> None:
    """Seven brokers, the controller on one without replicas; replicas join ISRs only where the test says so."""
    run(test, brokers=7, policies=policies, joins=False)


async def join(lab: Lab, replica: int) -> None:
    await lab.write_isr(TP, (*lab.state(TP).isr, replica))


# -- what the API refuses (kafka-behaviour §6.2) ----------------------------------------------------------------------

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
    """Only added replicas have to be live."""

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
def test_who_refuses_the_request(request_: object) -> None:
    """Another broker is not the controller; a controller without KIP-455 does not know the request."""

    async def other(lab: Lab) -> None:
        assert (await lab.ask(request_, broker=2)).error is Errors.NOT_CONTROLLER

    async def older(lab: Lab) -> None:
        assert (await lab.ask(request_)).error is Errors.UNSUPPORTED_VERSION

    play(other)
    play(older, ControllerPolicies(reassignment=Wiki(), pinned=6))


def test_a_partition_that_never_had_a_leader() -> None:
    """A1 cannot write: the answer is an unknown error, but the move is in progress. It goes on with the next event that
    concerns it: here a broker of its target starts, which is also the one of its only old replica."""

    async def test(lab: Lab) -> None:
        lab.nodes[5].crash()
        await lab.pass_time(EXPIRY_US)
        await lab.create_topic("orders", {0: (5,)})
        assert await lab.alter({TP: (5, 1)}) == {TP: Errors.UNKNOWN_SERVER_ERROR}
        assert await lab.listed() == {TP: ReplicaAssignment((5, 1), (1,), ())}
        twice = await lab.ask(ListPartitionReassignmentsRequest((TP, TP)))
        assert [tp for tp, _ in twice.partitions] == [TP]
        lab.restart(5)
        await lab.pass_time(EXPIRY_US)
        assert lab.state(TP).leader_epoch == 1
        await join(lab, 1)
        assert lab.assignment(TP) == (5, 1)

    play(test)


@pytest.mark.parametrize("data", ["", "not json", "{}"])
def test_content_of_the_znode_that_cannot_be_read_is_left_alone(data: str) -> None:
    """2.4 finds no moves in it and writes nothing; it blocks further requests by the znode, not by the API."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1)})
        await lab.operator.create(znodes.REASSIGN_PARTITIONS, data)
        await lab.settle()
        assert lab.data(znodes.REASSIGN_PARTITIONS) == data
        assert await lab.alter({TP: (1, 0)}) == {TP: Errors.NONE}
        assert lab.assignment(TP) == (1, 0)

    play(test)


# -- topics that are to be deleted ------------------------------------------------------------------------------------


def test_the_znode_is_watched_again_once_it_is_gone() -> None:
    """Only its deletion makes the controller arm the watch for the next one."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1)})
        for joining in (2, 3, 4):
            await lab.reassign({TP: (0, joining)})
            await join(lab, joining)
            assert lab.assignment(TP) == (0, joining)
            assert lab.data(znodes.REASSIGN_PARTITIONS) is None

    play(test)


def test_a_move_that_ends_leaves_a_newer_request_in_the_znode() -> None:
    """B7 removes the entry only if it asks for the target that was reached."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1)})
        lab.at_gate("kip-455.B6", "after", lambda at: at.process.pause())
        left: list[str | None] = []
        lab.at_gate("kip-455.B7", "after", lambda _: left.append(lab.data(znodes.REASSIGN_PARTITIONS)))
        await lab.alter({TP: (0, 2)})
        state = lab.state(TP)
        joined = znodes.LeaderAndIsr(state.leader, state.leader_epoch, (0, 1, 2), state.controller_epoch)
        await lab.operator.set(znodes.state_path(TP), joined.encode(), state.zk_version)
        await lab.world.sleep(1_000_000)
        await lab.operator.create(znodes.REASSIGN_PARTITIONS, znodes.encode_reassignment({TP: (0, 3)}))
        lab.active.process.resume()
        await lab.settle()
        assert left == [znodes.encode_reassignment({TP: (0, 3)})]
        assert lab.full_assignment(TP) == ReplicaAssignment((0, 3, 2), (3,), (2,))

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
