"""The event queue, and which errors end an event, a controller's activity, or the run."""

from collections.abc import Callable
from typing import ClassVar

import pytest
from attrs import define

from controller.errors import ControllerMoved, IllegalState, StateChangeFailed
from controller.event_manager import ControllerEventManager
from controller.events import ControllerState, Event, TopicChange
from emulator.kernel import Signal
from emulator.protocol.events import ControllerElected
from emulator.protocol.types import TopicPartition
from emulator.zookeeper import NoNode
from tests.controller.failing import fail_at_topic_change
from tests.controller.lab import Lab, run


@define(eq=False)
class Noting:
    """An event that writes its name down, once ``go`` is set."""

    state: ClassVar = ControllerState.TOPIC_CHANGE

    name: str
    go: Signal | None = None


@pytest.mark.parametrize("make", [lambda: StateChangeFailed("x"), lambda: NoNode("/x")])
def test_what_kafka_expects_is_logged_and_the_queue_goes_on(
    make: Callable[[], Exception], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def test(lab: Lab) -> None:
        fail_at_topic_change(monkeypatch, make)
        lab.active.event_manager.put(TopicChange())
        await lab.create_topic("orders", {0: (0, 1)})
        assert lab.state(TopicPartition("orders", 0)).leader == 0
        assert len(lab.of(ControllerElected)) == 1

    run(test)


def test_moved_looks_before_it_resigns(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(lab: Lab) -> None:
        fail_at_topic_change(monkeypatch, lambda: ControllerMoved("x"))
        lab.active.event_manager.put(TopicChange())
        await lab.settle()
        assert lab.active.is_active
        assert lab.active.epoch == 1

    run(test)


def test_after_an_illegal_state_a_controller_is_elected_again(monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(lab: Lab) -> None:
        fail_at_topic_change(monkeypatch, lambda: IllegalState("x"))
        lab.active.event_manager.put(TopicChange())
        await lab.settle()
        assert lab.active.epoch == 2

    run(test)


@pytest.mark.parametrize("error", [TypeError, AssertionError, KeyError, AttributeError])
def test_a_bug_ends_the_run(error: type[Exception], monkeypatch: pytest.MonkeyPatch) -> None:
    async def test(lab: Lab) -> None:
        fail_at_topic_change(monkeypatch, lambda: error("a bug"))
        lab.active.event_manager.put(TopicChange())
        await lab.settle()

    with pytest.raises(BaseExceptionGroup) as caught:
        run(test)
    assert caught.group_contains(error)


def test_order_and_precedence() -> None:
    """First in, first out; an event that takes precedence is processed after the current one, and the others
    are dropped."""

    async def test(lab: Lab) -> None:
        names: list[str] = []

        async def process(event: Event) -> None:
            assert isinstance(event, Noting)
            if event.go is not None:
                await event.go.wait()
            names.append(event.name)

        go = Signal(lab.world)
        queue = ControllerEventManager(lab.process, process)
        queue.start()
        for name in ("a", "b"):
            queue.put(Noting(name))
        await lab.settle()
        queue.put(Noting("c", go))
        await lab.world.sleep(10)
        queue.put(Noting("d"))
        queue.clear_and_put(Noting("e"))
        go.set()
        await lab.settle()
        assert names == ["a", "b", "c", "e"]

    run(test)
