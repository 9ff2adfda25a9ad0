"""ControllerIntegrationTest of Kafka 2.4.1: conformance C27."""

from controller.policies import ControllerPolicies
from emulator.protocol.controlled_shutdown import ControlledShutdownRequest
from emulator.protocol.errors import Errors
from emulator.protocol.types import TopicPartition
from tests.controller.lab import Lab, run

TP = TopicPartition("orders", 0)


def test_C27_stale_broker_epoch() -> None:
    """Refused, and the broker is not among those that shut down."""

    async def test(lab: Lab) -> None:
        await lab.create_topic("orders", {0: (1, 2)})
        stale = lab.active.context.brokers[1] - 1
        answer = await lab.ask(ControlledShutdownRequest(1, stale))
        await lab.settle()
        assert answer.error is Errors.STALE_BROKER_EPOCH
        assert lab.active.context.shutting_down == {}
        assert lab.state(TP).leader == 1

    run(test, brokers=4, policies=ControllerPolicies(pinned=3), joins=False)
