"""The controller crashes after each step of KIP-455, row by row (kafka-behaviour §6.4): what the next one finds, does
and leaves, epochs and zkVersions included. ``move`` says which replicas take part."""

from collections.abc import Awaitable, Callable
from contextlib import suppress

import pytest
from attrs import frozen

from controller.policies import ControllerPolicies
from controller.reassignment.kip_455 import Kip455
from controller.states import ReplicaState
from emulator.gates import Edge
from emulator.network import Disconnected
from emulator.protocol.alter_reassignments import AlterPartitionReassignmentsRequest
from emulator.protocol.assignments import ReplicaAssignment
from emulator.protocol.events import ControllerElected, MoveFinished
from emulator.protocol.types import TopicPartition
from emulator.protocol.znodes import REASSIGN_PARTITIONS
from tests.controller.lab import EXPIRY_US, Lab, run
from tests.controller.notes import Notes

TP = TopicPartition("orders", 0)
OLD, NEW = (0, 1, 2), (1, 2, 3)
MOVING, DONE = ReplicaAssignment((1, 2, 3, 0), (3,), (0,)), ReplicaAssignment(NEW)
PINNED = ControllerPolicies(reassignment=Kip455(), pinned=6)
DEAD = 6
"""The first controller."""

Targets = dict[TopicPartition, tuple[int, ...] | None]


@frozen
class Row:
    """One row of the table.

    Attributes:
        gates: where a crash is one after that step.
        found: what stands in the topic's znode then.
        first: what the next controller does first about the move. Where the admin znode still has it, that comes
            first: a request that changes nothing.
        epoch, zk_version: of the state znode when all is over (3 and 4 without a crash).
    """

    gates: tuple[tuple[str, Edge], ...]
    found: ReplicaAssignment
    first: str
    epoch: int
    zk_version: int


ROWS = {
    "before U1, by the znode": Row((("U1", "before"),), ReplicaAssignment(OLD), "U1", 3, 4),
    "U1 / U2": Row(
        (("U1", "after"), ("U2", "before"), ("U2", "after"), ("U3", "after"), ("check", "after"), ("A1", "before")),
        MOVING, "check", 3, 4,
    ),
    "A1 / A2 / wait": Row(
        (("A1", "after"), ("A2", "before"), ("A2", "after"), ("wait", "before")), MOVING, "check", 4, 5
    ),
    "in sync, before B": Row(
        (("wait", "after"), ("B1", "before"), ("B2", "after"), ("B3", "before")), MOVING, "check", 3, 4
    ),
    "B3": Row((("B3", "after"), ("B4", "before")), MOVING, "check", 4, 5),
    "B4 / B5": Row((("B4", "after"), ("B5", "after"), ("B6", "before")), MOVING, "check", 4, 5),
    "B6, by the znode": Row((("B6", "after"), ("B7", "before")), DONE, "U1", 4, 5),
    "B7 / B8": Row((("B7", "after"), ("B8", "before"), ("B8", "after")), DONE, "", 3, 4),
}  # fmt: skip
CASES = [(name, *gate, by_api) for name, row in ROWS.items() for gate in row.gates for by_api in (False, True)]


def play(test: Callable[[Lab], Awaitable[object]]) -> None:
    """Seven brokers; the controller is on one without replicas; replicas join ISRs only where the test says so."""
    run(test, brokers=7, policies=PINNED, joins=False)


async def ask(lab: Lab, targets: Targets, *, by_api: bool) -> None:
    """Send the request once; the controller may crash while it processes it."""
    if by_api:
        with suppress(Disconnected):
            await lab.ask(AlterPartitionReassignmentsRequest(targets))
        await lab.settle()
    else:
        await lab.reassign({tp: target for tp, target in targets.items() if target is not None})


async def catch_up(lab: Lab) -> None:
    """The leader lets in what it has been told to: its epoch has been raised since."""
    state = lab.state(TP)
    missing = tuple(replica for replica in lab.full_assignment(TP).adding if replica not in state.isr)
    if missing and state.leader_epoch:
        await lab.write_isr(TP, (*state.isr, *missing))


async def move(lab: Lab, step: str, edge: Edge, *, by_api: bool) -> Notes:
    """[0,1,2] -> [1,2,3] until the controller crashes at the gate; then the next one takes over, and what it
    does is recorded."""
    await lab.create_topic("orders", {0: OLD})
    visits = lab.at_gate(f"kip-455.{step}", edge, lambda at: at.process.node.crash())
    await ask(lab, {TP: NEW}, by_api=by_api)
    if not visits:
        await catch_up(lab)
    assert len(visits) == 1, "the gate was never reached"
    assert not lab.nodes[DEAD].running
    found = Notes(lab)
    await lab.pass_time(EXPIRY_US)
    assert [event.controller_epoch for event in lab.of(ControllerElected)] == [1, 2]
    return found


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[1]}-{case[2]}-{'api' if case[3] else 'zk'}")
def test_the_next_controller_recovers_as_the_row_says(case: tuple[str, str, Edge, bool]) -> None:
    """By the API the same, but for the two rows in which only the admin znode remembers the request."""
    name, step, edge, by_api = case
    row = ROWS[name]
    forgotten = by_api and name == "before U1, by the znode"
    over = by_api and name == "B6, by the znode"

    async def test(lab: Lab) -> None:
        seen: list[ReplicaAssignment] = []
        lab.gates.arm("failover.F3", "after", lambda _: seen.append(lab.full_assignment(TP)))
        notes = await move(lab, step, edge, by_api=by_api)
        assert seen == [row.found]
        steps = [taken for taken in notes.steps() if taken.startswith("kip-455")]
        first = "U1" if row.first and not by_api else row.first
        assert steps[:1] == ([f"kip-455.{first} before"] if first and not (forgotten or over) else [])
        await catch_up(lab)
        state = lab.state(TP)
        found = (lab.assignment(TP), state.leader, state.isr, state.leader_epoch, state.zk_version)
        if forgotten:
            assert found == (OLD, 0, OLD, 0, 0)
        else:
            expected = (3, 4) if over else (row.epoch, row.zk_version)
            assert found == (NEW, 1, NEW, *expected)
        assert lab.full_assignment(TP).being_reassigned is False
        assert lab.data(REASSIGN_PARTITIONS) is None
        assert await lab.listed() == {}
        assert len(lab.of(MoveFinished)) == (0 if forgotten or over else 1)

    play(test)


# -- what the rows say beside -----------------------------------------------------------------------------------------


def test_after_u1_failover_itself_starts_the_new_replica() -> None:
    """F6 sends LeaderAndIsr to all of RS under the old epoch; the new broker has no epoch yet and accepts it. A1 then
    raises the epoch; A2 finds the replica online, from where it cannot become new, and sends nothing."""

    async def test(lab: Lab) -> None:
        notes = await move(lab, "U1", "after", by_api=True)
        to_3 = notes.requests(metadata=False)[3]
        told = "AR {1,2,3,0} adding {3} removing {0}"
        assert to_3 == [f"LeaderAndIsr orders-0 0/{{0,1,2}} epoch {epoch} {told}" for epoch in (0, 1)]

    play(test)


def test_in_sync_no_epoch_is_spent_on_phase_a_again() -> None:
    """F8 goes to B1 directly."""

    async def test(lab: Lab) -> None:
        notes = await move(lab, "B1", "before", by_api=True)
        taken = list(dict.fromkeys(step.split()[0] for step in notes.steps() if step.startswith("kip-455")))
        assert taken == ["kip-455.check", *(f"kip-455.B{number}" for number in range(1, 9))]

    play(test)


def test_after_b3_it_is_told_again() -> None:
    """The leader is in the target: B3 only raises its epoch."""

    async def test(lab: Lab) -> None:
        notes = await move(lab, "B3", "after", by_api=True)
        assert [line for line in notes.text().splitlines() if "elected" in line] == []
        assert lab.state(TP).leader_epoch == 4

    play(test)


@pytest.mark.parametrize("step", ["B4", "B5"])
def test_after_b4_the_removed_replica_comes_back_and_is_deleted_again(step: str) -> None:
    """It is still in RS: F6 starts it as a follower, B4 has nothing to remove from the ISR, B5 deletes it."""

    async def test(lab: Lab) -> None:
        notes = await move(lab, step, "after", by_api=True)
        to_0 = notes.requests(metadata=False)[0]
        assert to_0[0] == "LeaderAndIsr orders-0 1/{1,2,3} epoch 3 AR {1,2,3,0} adding {3} removing {0}"
        assert to_0[1:] == ["StopReplica keep orders-0", "StopReplica delete orders-0"]

    play(test)


def test_after_b6_the_entry_in_the_znode_repeats_phase_b() -> None:
    """A reassignment to the present replicas changes nothing: U1 writes nothing, B3 raises the epoch, B7
    removes the entry."""

    async def test(lab: Lab) -> None:
        notes = await move(lab, "B6", "after", by_api=False)
        writes = [line for line in notes.writes() if "topic orders" in line or "state" in line or "reassign" in line]
        assert writes == [
            "zk setData state orders-0: 1/{1,2,3} epoch 4",
            "zk setData topic orders 0: {1,2,3}",
            "zk delete /admin/reassign_partitions",
        ]

    play(test)


# -- U3: what an override leaves behind (B 6.4) -----------------------------------------------------------------------


@pytest.mark.parametrize("cancels", [False, True], ids=["override", "cancel"])
@pytest.mark.parametrize(("step", "edge"), [("U1", "after"), ("U2", "after"), ("U3", "before")])
def test_before_u3_the_next_controller_does_not_know_the_replicas_of_the_first_request(
    step: str, edge: Edge, cancels: bool
) -> None:
    """[0,1,2] -> [0,1,3], then -> [0,1,4] or back. Broker 3 is no longer in the znode, so its replica is
    never stopped."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: OLD})
        await lab.alter({TP: (0, 1, 3)})
        visits = lab.at_gate(f"kip-455.{step}", edge, lambda at: at.process.node.crash())
        await ask(lab, {TP: None if cancels else (0, 1, 4)}, by_api=True)
        assert len(visits) == 1
        notes = Notes(lab)
        await lab.pass_time(EXPIRY_US)
        await catch_up(lab)
        assert 3 not in notes.requests(metadata=False)
        assert lab.assignment(TP) == ((0, 1, 2) if cancels else (0, 1, 4))
        assert await lab.listed() == {}
        assert lab.active.context.replica_state(TP, 3) is ReplicaState.NON_EXISTENT

    play(test)


def test_a_replica_that_had_joined_stays_in_the_isr_of_a_leader_that_does_not_know_it() -> None:
    """The ISR is then not a subset of the assignment, and only the leader or the next move could change that
    (KAFKA-9672)."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: OLD})
        await lab.alter({TP: (0, 3, 4)})
        await lab.write_isr(TP, (0, 1, 2, 3))
        lab.at_gate("kip-455.U3", "before", lambda at: at.process.node.crash())
        await ask(lab, {TP: None}, by_api=True)
        await lab.pass_time(EXPIRY_US)
        assert set(lab.assignment(TP)) == {0, 1, 2}
        assert lab.state(TP).isr == (0, 1, 2, 3)

    play(test)


def test_one_seed_one_trace_on_both_backends() -> None:
    async def test(lab: Lab) -> str:
        await lab.create_topic("orders", {0: OLD, 1: (2, 3, 4)})
        await lab.alter({TP: (0, 1, 4)})
        lab.at_gate("kip-455.B4", "before", lambda at: at.process.node.crash())
        await ask(lab, {TP: NEW}, by_api=True)
        await catch_up(lab)
        await lab.pass_time(EXPIRY_US)
        lab.restart(DEAD)
        await lab.pass_time(EXPIRY_US)
        return lab.trace.digest()

    first = run(test, brokers=7, policies=PINNED, seed=5, joins=False)
    assert run(test, brokers=7, policies=PINNED, seed=5, joins=False) == first
    assert run(test, brokers=7, policies=PINNED, seed=5, joins=False, backend="attached") == first
    assert run(test, brokers=7, policies=PINNED, seed=6, joins=False) != first
