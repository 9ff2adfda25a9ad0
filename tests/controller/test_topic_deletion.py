"""Deletions that wait, controllers that are replaced in the middle of one, replica rules without deletion."""

import pytest
from attrs import evolve

from controller.policies import ControllerPolicies
from controller.state_machines.rules import FOUR_STATES, SEVEN_STATES
from controller.states import ReplicaState
from emulator.protocol import znodes
from emulator.protocol.types import TopicPartition
from tests.controller.conformance.test_topic_deletion import states
from tests.controller.lab import EXPIRY_US, Lab, run
from tests.controller.notes import Notes

TP = TopicPartition("orders", 0)
R = ReplicaState


def test_waiting_topics_are_checked_with_the_next_deletion() -> None:
    """All of a topic's replicas are dead: they are ineligible until another topic is deleted, and are then prepared for
    a retry; as in Kafka, every queued topic is checked each time."""

    async def test(lab: Lab) -> None:
        victim = next(b for b in (2, 1) if b != lab.active.id)
        await lab.create_topic("orders", {0: (victim,)})
        await lab.create_topic("other", {0: (0,)})
        lab.nodes[victim].crash("process")
        await lab.pass_time(EXPIRY_US)
        await lab.delete_topic("orders")
        assert states(lab) == [R.DELETION_INELIGIBLE]
        notes = Notes(lab)
        await lab.delete_topic("other")
        assert lab.is_gone("other")
        assert states(lab) == [R.OFFLINE]
        assert "delete.retry after" in notes.steps()
        lab.restart(victim)
        await lab.settle()
        assert lab.is_gone("orders")

    run(test, brokers=4)


@pytest.mark.parametrize("leaderless_go_offline", [True, False])
def test_before_kafka_6650_a_topic_that_never_had_a_leader_cannot_be_deleted(leaderless_go_offline: bool) -> None:
    """Its replica never goes offline, and only an offline replica can be deleted."""

    async def test(lab: Lab) -> None:
        lab.nodes[0].crash()
        await lab.pass_time(EXPIRY_US)
        await lab.create_topic("orders", {0: (0,)})
        await lab.delete_topic("orders")
        lab.restart(0)
        await lab.pass_time(EXPIRY_US)
        assert lab.is_gone("orders") == leaderless_go_offline
        assert states(lab) == ([] if leaderless_go_offline else [R.ONLINE])

    rules = evolve(SEVEN_STATES, leaderless_go_offline=leaderless_go_offline)
    run(test, brokers=4, policies=ControllerPolicies(pinned=3, replicas=rules))


def test_a_deposed_controller_deletes_nothing_of_the_topics_successor() -> None:
    """It is paused just before it deletes the znodes; the next controller deletes them, and the topic is created again:
    when the first resumes, its writes are refused."""

    async def test(lab: Lab) -> None:
        first = lab.active.id
        others = tuple(broker for broker in lab.nodes if broker != first)
        await lab.create_topic("orders", {0: others})
        process = lab.nodes[first].process
        assert process is not None
        lab.at_gate("delete.znodes", "before", lambda _: process.pause())
        await lab.operator.create(znodes.delete_topic_path("orders"))
        await lab.world.sleep(2 * EXPIRY_US)
        assert lab.active.id != first
        assert lab.is_gone("orders")
        await lab.operator.create(znodes.topic_path("orders"), znodes.encode_topic({0: others}))
        await lab.world.sleep(1_000_000)
        process.resume()
        await lab.settle()
        assert lab.assignment(TP) == others
        assert lab.state(TP).leader_epoch == 0
        assert not lab.controllers[first].context.deletions.queued

    run(test, brokers=4)


def test_rules_without_deletion_states_leave_topics_alone() -> None:
    """The controller page, and Kafka before 0.8.1: /admin/delete_topics is not read."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        notes = Notes(lab)
        await lab.delete_topic("orders")
        lab.nodes[lab.active.id].crash("process")
        await lab.pass_time(EXPIRY_US)
        assert lab.data(znodes.delete_topic_path("orders")) is not None
        assert lab.state(TP).leader >= 0
        assert not [step for step in notes.steps() if step.startswith("delete")]

    run(test, policies=ControllerPolicies(replicas=FOUR_STATES))
