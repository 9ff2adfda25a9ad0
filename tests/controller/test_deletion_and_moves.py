"""Topics that are moved and deleted at once (kafka-behaviour §4; Kafka 2.3.1 and 2.4.1)."""

import pytest

from controller.policies import ControllerPolicies
from controller.reassignment.kafka_6794 import Kafka6794
from controller.reassignment.protocol import ReassignmentProtocol
from controller.reassignment.wiki import Wiki
from emulator.protocol import znodes
from emulator.protocol.types import TopicPartition
from tests.controller.lab import EXPIRY_US, Lab, run
from tests.controller.notes import Notes

TP, OTHER = TopicPartition("orders", 0), TopicPartition("orders", 1)
PROTOCOLS = pytest.mark.parametrize("protocol", [Wiki(), Kafka6794()], ids=["wiki", "kafka-6794"])
ENTRY = znodes.delete_topic_path("orders")


def heeding(protocol: ReassignmentProtocol) -> ControllerPolicies:
    return ControllerPolicies(reassignment=protocol)


@PROTOCOLS
def test_a_topic_that_is_moved_waits_for_the_moves_end(protocol: ReassignmentProtocol) -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        lab.joins = False
        await lab.reassign({TP: (0, 1, 3)})
        await lab.delete_topic("orders")
        c = lab.active
        assert c.context.deletions.ineligible == {"orders": None}
        assert lab.state(TP).leader == 0
        notes = Notes(lab)
        await lab.write_isr(TP, (0, 1, 2, 3))
        assert lab.is_gone("orders")
        assert lab.data(znodes.REASSIGN_PARTITIONS) is None
        steps = notes.steps()
        last = "wiki.12 after" if protocol.procedure.name == "wiki" else "kafka-6794.13 after hop 2"
        assert steps.index(last) < steps.index("delete.partitions before")

    run(test, brokers=5, policies=heeding(protocol))


def test_a_topic_waits_for_the_last_of_its_moves() -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2), 1: (0, 1, 2)})
        lab.joins = False
        await lab.reassign({TP: (0, 1, 3), OTHER: (0, 1, 3)})
        await lab.delete_topic("orders")
        await lab.write_isr(TP, (0, 1, 2, 3))
        assert lab.active.context.replicas(TP) == (0, 1, 3)
        assert lab.state(OTHER).leader == 0
        await lab.write_isr(OTHER, (0, 1, 2, 3))
        assert lab.is_gone("orders")
        assert lab.data(znodes.REASSIGN_PARTITIONS) is None

    run(test, brokers=5)


def test_as_kafka_has_it_a_moving_topic_is_deleted_at_once() -> None:
    """Kafka 2.3.1 and 2.4.1 mark the topic as waiting before it is queued, which has no effect. The move of a partition
    that no longer exists stays in the znode until the next controller drops it."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        lab.joins = False
        await lab.reassign({TP: (0, 1, 3)})
        await lab.delete_topic("orders")
        assert lab.is_gone("orders")
        assert lab.data(znodes.REASSIGN_PARTITIONS) is not None
        lab.nodes[lab.active.id].crash("process")
        await lab.pass_time(EXPIRY_US)
        assert lab.data(znodes.REASSIGN_PARTITIONS) is None

    run(test, brokers=5, policies=ControllerPolicies(deletion_heeds_moves=False))


@pytest.mark.parametrize("heeds", [True, False])
def test_failover_drops_the_moves_of_a_topic_to_be_deleted(heeds: bool) -> None:
    """failover.F4 marks the topic as waiting for its move, F8 drops the move. Kafka leaves the mark: the deletion
    is stuck until a broker with a replica starts."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        lab.joins = False
        await lab.reassign({TP: (0, 1, 3)})
        lab.at_gate("delete.queue", "before", lambda at: at.process.node.crash("process"))
        await lab.delete_topic("orders")
        await lab.pass_time(EXPIRY_US)
        assert lab.data(znodes.REASSIGN_PARTITIONS) is None
        assert lab.is_gone("orders") == heeds
        if not heeds:
            lab.nodes[3].crash("process")
            await lab.pass_time(EXPIRY_US)
            lab.restart(3)
            await lab.settle()
            assert lab.is_gone("orders")

    run(test, brokers=5, policies=ControllerPolicies(deletion_heeds_moves=heeds, pinned=4))


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

    run(test, brokers=5, policies=heeding(protocol))


def test_no_leader_is_elected_for_a_topic_that_is_being_deleted() -> None:
    """A topic that waits for its move loses its leader meanwhile: no leader is elected, the move does not end, and the
    topic is deleted when the leader is back."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (0, 1, 2)})
        lab.joins = False
        await lab.reassign({TP: (0, 1, 3)})
        await lab.delete_topic("orders")
        epoch = lab.state(TP).leader_epoch
        lab.nodes[0].crash("process")
        await lab.pass_time(EXPIRY_US)
        assert (lab.state(TP).leader, lab.state(TP).leader_epoch) == (0, epoch)
        lab.joins = True
        lab.restart(0)
        await lab.settle()
        assert lab.is_gone("orders")

    run(test, brokers=5, policies=ControllerPolicies(pinned=4))
