"""C01 to C05: who is the controller, and whose writes count (Kafka's ControllerIntegrationTest)."""

import pytest

from controller.fencing import Fenced, Fencing, Unfenced
from controller.policies import ControllerPolicies
from emulator.protocol import znodes
from emulator.protocol.events import ControllerResigned
from emulator.protocol.types import TopicPartition
from tests.controller.lab import EXPIRY_US, Lab, run

TP = TopicPartition("orders", 0)
SOON_US = 1_000_000
BOTH = pytest.mark.parametrize("fencing", [Fenced(), Unfenced()], ids=["fenced", "unfenced"])


@BOTH
def test_C01_empty_cluster(fencing: Fencing) -> None:
    async def test(lab: Lab) -> None:
        assert lab.active.id == 0
        assert lab.data(znodes.CONTROLLER_EPOCH) == "1"

    run(test, brokers=1, policies=ControllerPolicies(fencing=fencing))


@BOTH
def test_C03_controller_move_increments_controller_epoch(fencing: Fencing) -> None:
    async def test(lab: Lab) -> None:
        lab.nodes[0].crash()
        lab.restart(0)
        await lab.pass_time(EXPIRY_US)
        assert lab.active.is_active
        assert (lab.active.epoch, lab.data(znodes.CONTROLLER_EPOCH)) == (2, "2")

    run(test, brokers=1, policies=ControllerPolicies(fencing=fencing))


@pytest.mark.parametrize(("fencing", "written"), [(Fenced(), False), (Unfenced(), True)], ids=["fenced", "unfenced"])
def test_C05_controller_move_on_topic_creation(fencing: Fencing, written: bool) -> None:
    """The controller is paused; a topic is created; /controller then names another broker, with the next epoch. The old
    controller processes the topic first: with fencing its write fails and it resigns at once; without, the partition
    gets a leader with the old controller epoch."""

    async def test(lab: Lab) -> None:
        old = lab.active
        old.process.pause()
        await lab.operator.create(znodes.topic_path("orders"), znodes.encode_topic({0: (0,)}))
        await lab.operator.delete(znodes.CONTROLLER)
        await lab.operator.create(znodes.CONTROLLER, znodes.encode_controller(7, 0))
        await lab.operator.set(znodes.CONTROLLER_EPOCH, "2")
        await lab.world.sleep(SOON_US)
        old.process.resume()
        await lab.settle()
        assert not old.is_active
        assert [e.node for e in lab.of(ControllerResigned)] == [0]
        assert (lab.data(znodes.state_path(TP)) is not None) == written
        if written:
            assert lab.state(TP).controller_epoch == 1

    run(test, brokers=1, policies=ControllerPolicies(fencing=fencing))
