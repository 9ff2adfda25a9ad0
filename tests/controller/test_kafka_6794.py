"""KAFKA-6794's waits, and the harms of writing the assignment first (readings §2). The whole crash table is in
test_crash_tables.py."""

import pytest

from controller.policies import ControllerPolicies
from controller.reassignment.wiki import Wiki
from emulator.gates import Visit
from emulator.protocol import znodes
from tests.controller.crashes import KAFKA_6794, TP, Znodes, steps_of
from tests.controller.crashes import znodes as stands
from tests.controller.lab import EXPIRY_US, Lab, run
from tests.controller.notes import Notes

Replicas = tuple[int, ...]


async def without(lab: Lab, broker: int) -> None:
    """The topic is there, and ``broker`` dead and out of the ISR."""
    await lab.create_topic("orders", {0: (0, 1, 2)})
    lab.nodes[broker].crash()
    await lab.pass_time(EXPIRY_US)
    assert lab.state(TP).isr == tuple(replica for replica in (0, 1, 2) if replica != broker)


def test_step_1_waits_for_a_dead_replica_that_is_to_be_dropped() -> None:
    """CR has to be in the ISR as a whole before the first hop; the replica is let in once it is back."""

    async def test(lab: Lab) -> None:
        await without(lab, 2)
        notes = Notes(lab)
        await lab.reassign({TP: (0, 1, 3)})
        await lab.pass_time(60 * EXPIRY_US)
        assert steps_of(KAFKA_6794, notes) == []
        assert notes.steps() == ["kafka-6794.1 before hop 1"]
        assert lab.active.context.reassignments[TP].waiting == "kafka-6794.1"
        lab.restart(2)
        await lab.pass_time(EXPIRY_US)
        await lab.write_isr(TP, (0, 1, 2))
        assert lab.assignment(TP) == (0, 1, 3)
        assert lab.data(znodes.REASSIGN_PARTITIONS) is None

    run(test, brokers=7, policies=KAFKA_6794)


def test_wiki_is_not_blocked_by_that_replica() -> None:
    async def test(lab: Lab) -> None:
        await without(lab, 2)
        await lab.reassign({TP: (0, 1, 3)})
        assert lab.assignment(TP) == (0, 1, 3)
        assert lab.data(znodes.REASSIGN_PARTITIONS) is None

    run(test, brokers=7, policies=ControllerPolicies(reassignment=Wiki(), pinned=6))


def test_step_3_waits_for_every_broker_of_the_hop() -> None:
    """It has chosen the hop, has written nothing, and continues when the broker is up."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        lab.nodes[3].crash()
        await lab.pass_time(EXPIRY_US)
        before = stands(lab)
        notes = Notes(lab)
        await lab.reassign({TP: (0, 1, 3)})
        await lab.pass_time(60 * EXPIRY_US)
        assert steps_of(KAFKA_6794, notes) == ["kafka-6794.1 hop 1", "kafka-6794.2 hop 1"]
        assert lab.active.context.reassignments[TP].waits_for == (3,)
        assert stands(lab) == before
        lab.restart(3)
        await lab.pass_time(EXPIRY_US)
        assert lab.assignment(TP) == (0, 1, 3)
        assert lab.data(znodes.REASSIGN_PARTITIONS) is None

    run(test, brokers=7, policies=KAFKA_6794)


def test_each_hop_waits_for_its_own_brokers_only() -> None:
    """The first hop does not ask for the broker of the second."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        lab.nodes[4].crash()
        await lab.pass_time(EXPIRY_US)
        await lab.reassign({TP: (0, 3, 4)})
        await lab.pass_time(60 * EXPIRY_US)
        assert lab.assignment(TP) == (0, 1, 2, 3)
        move = lab.active.context.reassignments[TP]
        assert (move.hop, move.waiting, move.waits_for) == (2, "kafka-6794.3", (4,))

    run(test, brokers=7, policies=KAFKA_6794)


@pytest.mark.parametrize("waiting", ["kafka-6794.1", "kafka-6794.3"])
def test_a_failover_while_it_waits_resumes_at_step_1(waiting: str) -> None:
    async def test(lab: Lab) -> None:
        if waiting == "kafka-6794.1":
            await without(lab, 2)
        else:
            await lab.create_topic("orders", {0: (0, 1, 2)})
            lab.nodes[3].crash()
            await lab.pass_time(EXPIRY_US)
        await lab.reassign({TP: (0, 1, 3)})
        assert lab.active.context.reassignments[TP].waiting == waiting
        lab.nodes[6].crash()
        notes = Notes(lab)
        await lab.pass_time(EXPIRY_US)
        taken = [step for step in notes.steps() if step.startswith("kafka-6794")]
        assert taken[0] == "kafka-6794.1 before hop 1"
        assert lab.active.context.reassignments[TP].waiting == waiting

    run(test, brokers=7, policies=KAFKA_6794)


# -- harms ---------------------------------------------------------------------------------------------------

DROPPED = {2: 2, 3: 0}
"""In the move (0,1,2) -> (1,3,4): whom each hop drops."""


@pytest.mark.parametrize("hop", DROPPED)
@pytest.mark.parametrize("step", [5, 6, 7, 8, 9, 10])
def test_a_crash_between_5_and_10_leaves_harm(step: int, hop: int) -> None:
    """The dropped replica is *stray*: it is in no list, and no controller sends it StopReplica. In the last hop the
    *leader is outside the assignment* up to step 9, and the *ISR* up to step 10. The move looks done."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        notes = Notes(lab)

        def crash(at: Visit) -> None:
            at.process.node.crash()

        lab.at_gate(f"kafka-6794.{step}", "after", crash, hop=hop)
        await lab.reassign({TP: (1, 3, 4)})
        await lab.pass_time(EXPIRY_US)
        stray = DROPPED[hop]
        assert "StopReplica delete orders-0" not in notes.requests().get(stray, [])
        end = stands(lab)
        assert end.assigned == (1, 3, 4)
        assert (stray in end.isr) is (step < 10)
        assert (end.leader not in end.assigned) is (hop == 3 and step < 9)
        assert lab.data(znodes.REASSIGN_PARTITIONS) is None

    run(test, brokers=7, policies=KAFKA_6794)


def test_undisturbed_there_is_none() -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        notes = Notes(lab)
        await lab.reassign({TP: (1, 3, 4)})
        stopped = [b for b, lines in notes.requests().items() if "StopReplica delete orders-0" in lines]
        assert stopped == [0, 2]
        assert stands(lab) == Znodes((1, 3, 4), 1, (1, 3, 4), 8, 10)

    run(test, brokers=7, policies=KAFKA_6794)
