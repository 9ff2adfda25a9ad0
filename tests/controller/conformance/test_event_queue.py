"""ControllerEventManagerTest of Kafka 2.4.1: conformance C15."""

import pytest

from controller.errors import StateChangeFailed
from controller.events import ControllerState, TopicChange
from emulator.metrics.metric_events import GaugeSet, TimerUpdated
from emulator.protocol.events import ControllerElected
from emulator.protocol.types import TopicPartition
from tests.controller.failing import fail_at_topic_change
from tests.controller.lab import Lab, run


def timed(lab: Lab) -> list[TimerUpdated]:
    """The events of that state which were timed so far."""
    return [event for event in lab.of(TimerUpdated) if event.metric.endswith("name=TopicChangeRateAndTimeMs")]


def test_C15_event_that_throws(monkeypatch: pytest.MonkeyPatch) -> None:
    """The loop goes on with the next event, the rate timer has counted, the state is Idle again; the controller stays
    active. An error that Kafka does not expect would end the run instead: it is a bug of this emulator."""

    async def test(lab: Lab) -> None:
        updates = len(timed(lab))
        fail_at_topic_change(monkeypatch, lambda: StateChangeFailed("an event that throws"), times=3)
        for _ in range(3):
            lab.active.event_manager.put(TopicChange())
        await lab.settle()
        assert len(timed(lab)) == updates + 3
        states = [event.value for event in lab.of(GaugeSet) if event.metric.endswith("name=ControllerState")]
        assert states[-2:] == [ControllerState.TOPIC_CHANGE, ControllerState.IDLE]
        await lab.create_topic("orders", {0: (0, 1)})
        assert lab.state(TopicPartition("orders", 0)).leader == 0
        assert len(lab.of(ControllerElected)) == 1
        assert lab.active.is_active
        assert lab.world.foreground == 0

    run(test)
