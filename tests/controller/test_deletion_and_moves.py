"""Topics that are moved and deleted at once (kafka-behaviour §4; Kafka 2.3.1 and 2.4.1)."""

import pytest

from controller.policies import ControllerPolicies
from controller.reassignment.kafka_6794 import Kafka6794
from controller.reassignment.kip_455 import Kip455
from controller.reassignment.protocol import ReassignmentProtocol
from controller.reassignment.wiki import Wiki
from emulator.protocol import znodes
from emulator.protocol.types import TopicPartition
from tests.controller.lab import EXPIRY_US, Lab, run
from tests.controller.notes import Notes

TP, OTHER = TopicPartition("orders", 0), TopicPartition("orders", 1)
PROTOCOLS = pytest.mark.parametrize("protocol", [Wiki(), Kafka6794()], ids=["wiki", "kafka-6794"])
ENTRY = znodes.delete_topic_path("orders")


@PROTOCOLS
def test_a_moving_topic_is_deleted_at_once(protocol: ReassignmentProtocol) -> None:
    """Kafka 2.3.1 and 2.4.1 mark the topic as waiting before it is queued, which has no effect. The move of a partition
    that no longer exists stays in the znode until the next controller drops it."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        lab.joins = False
        await lab.reassign({TP: (0, 1, 3)})
        await lab.delete_topic("orders")
        assert lab.is_gone("orders")
        assert lab.data(znodes.REASSIGN_PARTITIONS) is not None
        assert list(lab.active.context.reassignments) == [TP]
        lab.nodes[lab.active.id].crash("process")
        await lab.pass_time(EXPIRY_US)
        assert lab.data(znodes.REASSIGN_PARTITIONS) is None

    run(test, brokers=5, policies=ControllerPolicies(reassignment=protocol))


def test_a_move_by_the_api_leaves_no_znode_behind() -> None:
    """Kafka 2.4.1: the moves are in the topic's znode, which goes with the topic."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        lab.joins = False
        await lab.alter({TP: (0, 1, 3)})
        await lab.delete_topic("orders")
        assert lab.is_gone("orders")
        assert lab.data(znodes.REASSIGN_PARTITIONS) is None
        assert (await lab.listed()) == {}

    run(test, brokers=5, policies=ControllerPolicies(reassignment=Kip455()))


def test_a_queued_topic_waits_for_the_first_of_its_moves() -> None:
    """The mark touches queued topics, so it takes effect where the controller reads /admin/delete_topics again: here a
    new controller, which finds the request and both moves (fetchTopicDeletionsInProgress), and drops these at
    failover.F8. Kafka leaves the mark: the deletion is stuck until a broker with a replica starts."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2), 1: (0, 1, 2)})
        lab.joins = False
        await lab.reassign({TP: (0, 1, 3), OTHER: (0, 1, 3)})
        lab.at_gate("delete.queue", "before", lambda at: at.process.node.crash("process"))
        await lab.delete_topic("orders")
        await lab.pass_time(EXPIRY_US)
        assert lab.data(znodes.REASSIGN_PARTITIONS) is None
        assert not lab.is_gone("orders")
        assert lab.active.context.deletions.ineligible == {"orders": None}
        lab.nodes[3].crash("process")
        await lab.pass_time(EXPIRY_US)
        lab.restart(3)
        await lab.settle()
        assert lab.is_gone("orders")

    run(test, brokers=5, policies=ControllerPolicies(pinned=4))


def test_another_topics_deletion_marks_one_that_is_queued() -> None:
    """Topic orders waits for a dead replica; the request for another topic marks it as moving, too."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        await lab.create_topic("other", {0: (0, 1, 2)})
        lab.joins = False
        await lab.reassign({TP: (0, 1, 3)})
        lab.nodes[2].crash("process")
        await lab.pass_time(EXPIRY_US)
        await lab.delete_topic("orders")
        lab.active.context.deletions.ineligible.clear()
        await lab.delete_topic("other")
        assert "orders" in lab.active.context.deletions.ineligible

    run(test, brokers=5, policies=ControllerPolicies(pinned=4))


@PROTOCOLS
def test_a_topic_to_be_deleted_is_not_moved(protocol: ReassignmentProtocol) -> None:
    """The entry in /admin/reassign_partitions is dropped (Kafka's testPartitionReassignmentDuringDeleteTopic)."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        follower = next(b for b in (2, 1) if b != lab.active.id)
        lab.nodes[follower].crash("process")
        await lab.pass_time(EXPIRY_US)
        await lab.delete_topic("orders")
        notes = Notes(lab)
        await lab.reassign({TP: (1, 2, 3)})
        assert lab.data(znodes.REASSIGN_PARTITIONS) is None
        assert lab.assignment(TP) == (0, 1, 2)
        assert lab.active.context.reassignments == {}
        assert not [step for step in notes.steps() if step.startswith(protocol.procedure.name)]
        lab.restart(follower)
        await lab.settle()
        assert lab.is_gone("orders")

    run(test, brokers=5, policies=ControllerPolicies(reassignment=protocol))


def test_no_leader_is_elected_for_a_topic_that_is_being_deleted() -> None:
    """A topic that waits for a dead replica loses its leader meanwhile: no leader is elected, and the topic is deleted
    when both are back."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        lab.nodes[2].crash("process")
        await lab.pass_time(EXPIRY_US)
        await lab.delete_topic("orders")
        epoch = lab.state(TP).leader_epoch
        lab.nodes[0].crash("process")
        await lab.pass_time(EXPIRY_US)
        assert (lab.state(TP).leader, lab.state(TP).leader_epoch) == (-1, epoch)
        lab.restart(0)
        lab.restart(2)
        await lab.settle()
        assert lab.is_gone("orders")

    run(test, brokers=5, policies=ControllerPolicies(pinned=4))
