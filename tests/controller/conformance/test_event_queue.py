"""ControllerEventManagerTest of Kafka 2.4.1: conformance, C15."""

from attrs import define

from controller.controller import Controller
from controller.errors import StateChangeFailed
from emulator.protocol.events import ControllerElected
from emulator.protocol.types import TopicPartition
from tests.controller.lab import Lab, run


@define(eq=False)
class Throwing:
    """An event whose body throws."""

    async def process(self, controller: Controller) -> None:
        raise StateChangeFailed("a body that throws")


def test_C15_event_that_throws() -> None:
    """The loop goes on with the next event and comes to rest; the term goes on. What Kafka does not expect to go wrong
    would end the run instead: it is a bug of this emulator's. There are no rate timers here to be counted."""

    async def test(lab: Lab) -> None:
        for _ in range(3):
            lab.active.queue.put(Throwing())
        await lab.create_topic("orders", {0: (0, 1)})
        assert lab.state(TopicPartition("orders", 0)).leader == 0
        assert len(lab.of(ControllerElected)) == 1
        assert lab.active.is_active
        assert lab.world.foreground == 0

    run(test)
