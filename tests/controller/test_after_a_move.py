"""A finished move leaves the controller's memory as if the partition had always had its new replicas, under
every protocol."""

import pytest

from controller.policies import ControllerPolicies
from controller.reassignment.kafka_6794 import Kafka6794, literal
from controller.reassignment.kip_455 import Kip455
from controller.reassignment.wiki import Wiki
from controller.states import ReplicaState
from emulator.protocol.types import TopicPartition
from tests.controller.crashes import KAFKA_42
from tests.controller.lab import EXPIRY_US, Lab, run
from tests.controller.notes import Notes

TP = TopicPartition("orders", 0)
MOVES = [((0, 1, 2), (1, 3, 4)), ((0, 1, 2), (3, 4, 5)), ((0, 1), (3, 1, 0)), ((0, 1, 2), (2, 0))]
POLICIES = {
    "wiki": ControllerPolicies(reassignment=Wiki(), remembers_bumps=True, pinned=6),
    "kafka-6794": ControllerPolicies(reassignment=Kafka6794(), remembers_bumps=True, pinned=6),
    "width-2": ControllerPolicies(reassignment=Kafka6794(width=2), remembers_bumps=True, pinned=6),
    "grow-then-shrink": ControllerPolicies(reassignment=Kafka6794(surplus=literal), remembers_bumps=True, pinned=6),
    "kafka-42": KAFKA_42,
    "kip-455": ControllerPolicies(reassignment=Kip455(), remembers_bumps=True, pinned=6),
}


@pytest.mark.parametrize("move", MOVES, ids=str)
@pytest.mark.parametrize("protocol", POLICIES)
def test_the_memory_is_that_of_a_partition_without_reassignment(
    protocol: str, move: tuple[tuple[int, ...], tuple[int, ...]]
) -> None:
    """Every replica of the target is online, the removed ones are forgotten; a broker that restarts is sent
    LeaderAndIsr."""
    old, new = move

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: old})
        await lab.reassign({TP: new})
        context = lab.active.context
        assert lab.assignment(TP) == context.replicas(TP) == new
        states = {broker: context.replica_state(TP, broker) for broker in range(7)}
        online, absent = ReplicaState.ONLINE, ReplicaState.NON_EXISTENT
        assert states == {broker: online if broker in new else absent for broker in range(7)}
        assert (context.reassignments, context.reassigning) == ({}, {})
        remembered, state = context.leadership_info[TP], lab.state(TP)
        assert (remembered.leader, remembered.leader_epoch) == (state.leader, state.leader_epoch)
        assert set(state.isr) == set(new)
        last = new[-1]
        lab.nodes[last].crash()
        await lab.pass_time(EXPIRY_US)
        notes = Notes(lab)
        lab.restart(last)
        await lab.pass_time(EXPIRY_US)
        assert notes.requests(metadata=False)[last] != []

    # KAFKA-42 lets its leader think that the old list is the assignment: here it takes in whom it is told to alone.
    run(test, brokers=7, policies=POLICIES[protocol], joins=protocol != "kafka-42")
