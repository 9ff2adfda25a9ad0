"""The event queue: what ends an event, what ends a term, what ends the run."""

from collections.abc import Callable
from typing import ClassVar

import pytest
from attrs import define

from controller.controller import Controller
from controller.errors import ControllerMoved, IllegalState, StateChangeFailed
from controller.events.state import ControllerState
from emulator.kernel import Signal
from emulator.protocol.events import ControllerElected
from emulator.protocol.types import TopicPartition
from emulator.zookeeper import NoNode
from tests.controller.lab import Lab, run


@define(eq=False)
class Failing:
    """An event that fails."""

    state: ClassVar = ControllerState.TOPIC_CHANGE

    make: Callable[[], Exception]

    async def process(self, controller: Controller) -> None:
        raise self.make()


@define(eq=False)
class Noting:
    """An event that takes its time and writes its name down."""

    state: ClassVar = ControllerState.TOPIC_CHANGE

    name: str
    names: list[str]
    go: Signal | None = None

    async def process(self, controller: Controller) -> None:
        if self.go is not None:
            await self.go.wait()
        self.names.append(self.name)


@pytest.mark.parametrize("make", [lambda: StateChangeFailed("x"), lambda: NoNode("/x")])
def test_what_kafka_expects_is_logged_and_the_queue_goes_on(make: Callable[[], Exception]) -> None:
    async def test(lab: Lab) -> None:
        lab.active.queue.put(Failing(make))
        await lab.create_topic("orders", {0: (0, 1)})
        assert lab.state(TopicPartition("orders", 0)).leader == 0
        assert len(lab.of(ControllerElected)) == 1

    run(test)


def test_moved_looks_before_it_resigns() -> None:
    async def test(lab: Lab) -> None:
        lab.active.queue.put(Failing(lambda: ControllerMoved("x")))
        await lab.settle()
        assert lab.active.is_active
        assert lab.active.epoch == 1

    run(test)


def test_an_illegal_state_ends_the_term() -> None:
    async def test(lab: Lab) -> None:
        lab.active.queue.put(Failing(lambda: IllegalState("x")))
        await lab.settle()
        assert lab.active.epoch == 2

    run(test)


@pytest.mark.parametrize("error", [TypeError, AssertionError, KeyError, AttributeError])
def test_a_bug_ends_the_run(error: type[Exception]) -> None:
    async def test(lab: Lab) -> None:
        lab.active.queue.put(Failing(lambda: error("a bug")))
        await lab.settle()

    with pytest.raises(BaseExceptionGroup) as caught:
        run(test)
    assert caught.group_contains(error)


def test_order_and_precedence() -> None:
    """First in, first out; an event that takes precedence follows the one in hand, and the others are gone."""

    async def test(lab: Lab) -> None:
        names: list[str] = []
        go = Signal(lab.world)
        queue = lab.active.queue
        for name in ("a", "b"):
            queue.put(Noting(name, names))
        await lab.settle()
        queue.put(Noting("c", names, go))
        await lab.world.sleep(10)
        queue.put(Noting("d", names))
        queue.preempt(Noting("e", names))
        go.set()
        await lab.settle()
        assert names == ["a", "b", "c", "e"]

    run(test)
