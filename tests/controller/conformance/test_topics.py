"""C17, C19: topics and partitions are made while a broker is down (Kafka 2.3.1: ControllerIntegrationTest)."""

from emulator.protocol import znodes
from emulator.protocol.types import TopicPartition
from tests.controller.lab import EXPIRY_US, Lab, run
from tests.controller.notes import Notes


def without_one(lab: Lab) -> tuple[int, int]:
    """The controller's broker, and another one, which is stopped."""
    controller = lab.active.id
    other = next(b for b in lab.nodes if b != controller)
    lab.nodes[other].crash("process")
    return controller, other


def test_C17_topic_creation_with_offline_replica() -> None:
    async def test(lab: Lab) -> None:
        controller, other = without_one(lab)
        await lab.pass_time(EXPIRY_US)
        await lab.create_topic("orders", {0: (other, controller)})
        state = lab.state(TopicPartition("orders", 0))
        assert (state.leader, state.isr, state.leader_epoch) == (controller, (controller,), 0)

    run(test, brokers=2)


def test_C19_topic_partition_expansion_with_offline_replica() -> None:
    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (lab.active.id,)})
        controller, other = without_one(lab)
        await lab.pass_time(EXPIRY_US)
        notes = Notes(lab)
        expanded = znodes.encode_topic({0: (controller,), 1: (other, controller)})
        await lab.operator.set(znodes.topic_path("orders"), expanded)
        await lab.settle()
        state = lab.state(TopicPartition("orders", 1))
        assert (state.leader, state.isr, state.leader_epoch) == (controller, (controller,), 0)
        assert notes.steps()[0] == "new-partition.1 before"
        assert lab.state(TopicPartition("orders", 0)).leader_epoch == 0

    run(test, brokers=2)
